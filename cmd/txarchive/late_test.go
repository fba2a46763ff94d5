package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/seedtest"
)

// TestPacksThatComeLate brings packs of another archive of the same source, which tell of a file step by step, into one
// where gc has joined what the file has grown by: they add nothing, and do no harm to gcs that follow.
func TestPacksThatComeLate(t *testing.T) {
	t.Parallel()
	r := seedtest.Rand(t)
	source, one, other := filepath.Join(t.TempDir(), "runs"), filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "other")
	must(t, os.MkdirAll(filepath.Join(source, awfTranscripts), 0o700))
	log, noise := newLeaky(source, 1), newLeaky(source, 2)
	for n := range 10 {
		log.write(t, r, 10)
		call(t, other, "ingest", source)
		if n == 0 || n == 9 {
			call(t, one, "ingest", source)
		}
	}
	for range 8 {
		noise.write(t, r, 10)
		call(t, one, "ingest", source)
	}
	call(t, one, "gc")
	if n := extentsOf(t, one, "runs/"+awfTranscripts+"/"+filepath.Base(log.file)); n != 1 {
		t.Fatalf("gc has left %d extents", n)
	}
	packs, err := filepath.Glob(other + "/packs/*/*/*.gz")
	must(t, err)
	for _, p := range packs {
		b, err := os.ReadFile(p)
		must(t, err)
		written(t, filepath.Join(one, p[strings.LastIndex(p, "/packs/"):]), b)
		call(t, one, "ingest", source)
	}
	for range 2 {
		call(t, one, "gc")
		call(t, one, "verify", "--deep")
	}
	want, err := os.ReadFile(log.file)
	must(t, err)
	if got := restoredTree(t, one)["runs/"+awfTranscripts+"/"+filepath.Base(log.file)]; got != string(want) {
		t.Errorf("restored are %d bytes, want %d", len(got), len(want))
	}
}

// TestJoinBesideEqual: gc joins what a file has grown by, although a file of another machine is as this one began. That is no growth that was
// archived apart: the rows stay.
func TestJoinBesideEqual(t *testing.T) {
	t.Parallel()
	r := seedtest.Rand(t)
	one, other := filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "other")
	source, elsewhere := filepath.Join(t.TempDir(), "runs"), filepath.Join(t.TempDir(), "elsewhere")
	for _, dir := range []string{source, elsewhere} {
		must(t, os.MkdirAll(filepath.Join(dir, awfTranscripts), 0o700))
	}
	log := newLeaky(source, 1)
	for n := range 9 {
		log.write(t, r, 2)
		call(t, one, "ingest", source)
		if n == 0 {
			b, err := os.ReadFile(log.file)
			must(t, err)
			written(t, newLeaky(elsewhere, 1).file, b)
			call(t, other, "ingest", elsewhere)
		}
	}
	packs, err := filepath.Glob(other + "/packs/*/*/*.gz")
	must(t, err)
	for _, p := range packs {
		b, err := os.ReadFile(p)
		must(t, err)
		written(t, filepath.Join(one, p[strings.LastIndex(p, "/packs/"):]), b)
	}
	call(t, one, "ingest", source)
	call(t, one, "gc")
	if n := extentsOf(t, one, "runs/"+awfTranscripts+"/"+filepath.Base(log.file)); n != 1 {
		t.Errorf("gc has left %d extents", n)
	}
	call(t, one, "verify", "--deep")
}
