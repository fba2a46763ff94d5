package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/seedtest"
)

// TestReadersAcrossGC reads everything, over and over and with what it had open before, while packs are rewritten,
// merged and redacted under it.
func TestReadersAcrossGC(t *testing.T) {
	r := seedtest.Rand(t)
	source, dir := filepath.Join(t.TempDir(), "runs"), filepath.Join(t.TempDir(), "archive")
	must(t, os.CopyFS(filepath.Join(source, "awf"), os.DirFS(filepath.Join(runs, "awf"))))
	kept, dead := newLeaky(source, 1), newLeaky(source, 2)
	for range 10 {
		kept.write(t, r, 40)
		dead.write(t, r, 40)
		call(t, dir, "ingest", source)
	}
	old, err := archive.Open(t.Context(), dir, archive.Read, newApp().options())
	must(t, err)
	defer old.Close()
	before := versionsOf(t, old)
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				a, err := archive.Open(t.Context(), dir, archive.Read, newApp().options())
				if err != nil {
					t.Error(err)
					return
				}
				readAll(t, a, versionsOf(t, a), filepath.Base(dead.file))
				if err := a.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	call(t, dir, "prune", "--run", runNamed(t, dir, dead.id), "--yes")
	call(t, dir, "gc")
	id := runNamed(t, dir, kept.id)
	for n := range 8 {
		call(t, dir, "tag", "add", id, fmt.Sprint("tag", n))
	}
	call(t, dir, "gc")
	call(t, dir, "gc")
	close(stop)
	readers.Wait()
	readAll(t, old, before, filepath.Base(dead.file))
	readAll(t, old, versionsOf(t, old), "")
}

func versionsOf(t *testing.T, a *archive.Archive) (all []index.FileVersion) {
	for v, err := range a.Index().Versions(t.Context(), index.VersionFilter{}) {
		if err != nil {
			t.Error(err)
			return nil
		}
		all = append(all, v)
	}
	return all
}

// readAll reads versions. Those that were pruned since they were listed may be gone.
func readAll(t *testing.T, a *archive.Archive, all []index.FileVersion, dead string) {
	for _, v := range all {
		_, err := io.Copy(io.Discard, a.Content(t.Context(), v))
		if err != nil && filepath.Base(v.Path) != dead {
			t.Errorf("%s/%s: %v", v.Source, v.Path, err)
		}
	}
}

// TestRestoreBesideGC prunes a run, and has gc take its bytes and rewrite the packs, after a restore has listed them, in the index or in the
// packs: that is no failure.
func TestRestoreBesideGC(t *testing.T) {
	for name, at := range map[string]time.Time{"index": {}, "packs": time.Now().Add(time.Hour)} {
		t.Run(name, func(t *testing.T) { restoreBesideGC(t, at) })
	}
}

func restoreBesideGC(t *testing.T, at time.Time) {
	r := seedtest.Rand(t)
	source, dir := filepath.Join(t.TempDir(), "runs"), filepath.Join(t.TempDir(), "archive")
	must(t, os.MkdirAll(filepath.Join(source, awfTranscripts), 0o700))
	for n := range 20 { // more than are in the hands of workers
		kept := newLeaky(source, n+1)
		kept.write(t, r, 3)
	}
	call(t, dir, "ingest", source)
	dead := newLeaky(source, 99)
	dead.write(t, r, 3)
	call(t, dir, "ingest", source)
	run := runNamed(t, dir, dead.id)
	a, err := archive.Open(t.Context(), dir, archive.Read, newApp().options())
	must(t, err)
	defer a.Close()
	results := map[string]int{}
	must(t, a.Restore(t.Context(), archive.RestoreOptions{All: true, At: at, To: t.TempDir()}, func(d archive.Restored) {
		if len(results) == 0 {
			call(t, dir, "prune", "--run", run, "--yes")
			call(t, dir, "gc", "--grace", "0s")
		}
		results[d.Action]++
		if d.Action == archive.ActionRemoved && d.Path != awfTranscripts+"/"+filepath.Base(dead.file) {
			t.Errorf("%s is gone", d.Path)
		}
	}))
	if results[archive.ActionRestored] != 20 || results[archive.ActionRemoved] != 1 || len(results) != 2 {
		t.Errorf("%v", results)
	}
}
