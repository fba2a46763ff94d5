package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/blob/pack"
	"github.com/txarchive/txarchive/internal/ingest"
	"github.com/txarchive/txarchive/internal/ingest/source"
)

// TestEqualLargeFiles expects equal files to be stored once, even if none of them is in the index before the
// others are read, and several workers read them at the same time.
func TestEqualLargeFiles(t *testing.T) {
	for _, size := range []int{pack.DefaultMemberSize, 2 << 20} {
		s, w := newTree(t), newWorld(t)
		for _, name := range []string{"first", "second"} {
			text := awfLine(runA, 1, name) + awfLine(runA, 2, strings.Repeat("wicker ", size/7))
			var paths []string
			for _, copied := range []string{"", "-copy", "-again"} {
				paths = append(paths, "storage/transcripts/"+name+copied+".jsonl")
				s.write(paths[len(paths)-1], text)
			}
			r := w.ingest("awf", s.dir, ".")
			if r.New != 1 || r.Copies != 2 || len(r.Problems) > 0 {
				t.Errorf("the %s of %d bytes: %d new and %d copies, want 1 and 2: %v", name, len(text), r.New, r.Copies, r.Problems)
			}
			for _, path := range paths {
				if got := w.versions(path); len(got) != 1 || got[0] != text {
					t.Errorf("%s of %d bytes is stored in %d versions, not as it was written", path, len(text), len(got))
				}
			}
		}
		before := w.dump()
		again := &world{t: t, dir: w.dir}
		again.open("again.db")
		if _, err := again.Reindex(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.compareDumps("reindex", again.dump(), before)
	}
}

// TestInterruptedSource interrupts the first ingest of a source after its first pack: what is stored belongs to a source that is followed.
func TestInterruptedSource(t *testing.T) {
	t.Parallel()
	s, w := newTree(t), newWorld(t)
	words := strings.Repeat("w ", 1<<21)
	for i := range 8 {
		s.write(fmt.Sprintf("storage/transcripts/%d.jsonl", i), awfLine(runA, 1+i, words))
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w.Progress = func(p ingest.Progress) {
		if p.Stage == "commit" {
			cancel()
		}
	}
	r, err := w.Run(ctx, []source.Root{{Source: "s", Dir: s.dir, Below: "."}})
	if !errors.Is(err, context.Canceled) || r.New == 0 || r.New == 8 {
		t.Fatalf("%d of 8 files are stored: %v", r.New, err)
	}
	roots, err := source.Followed(t.Context(), w.index)
	if err != nil || len(roots) != 1 || roots[0].Source != "s" {
		t.Errorf("the sources that are followed are %v, %v", roots, err)
	}
}

// TestDense ingests a document, and a copy of a log, with more rows than a piece may have: they are parsed in chunks from their packs, with the
// same result and the same report.
func TestDense(t *testing.T) {
	t.Parallel()
	const turns, lines = 5, 5
	words := strings.Repeat("w ", 1<<21) // each takes two bytes here and four in its row
	s, w := newTree(t), newWorld(t)
	put := map[string]int{}
	w.Progress = func(p ingest.Progress) {
		if p.Stage == "parse" {
			put[p.Path]++
		}
	}
	thread := make([]string, turns)
	for i := range thread {
		thread[i] = ampTurn(2*i, words)
	}
	log := strings.Repeat("{x\n", 5)
	for i := range lines {
		log += awfLine(runA, 1+i, words)
	}
	s.write(ampFile(ampA), ampThread(ampA, "", thread...))
	s.write(transcriptA, log)
	if r := w.ingest("s", s.dir, "."); r.Events != 2*turns+lines || r.Unreadable != 5 {
		t.Errorf("%d rows and %d lines that cannot be read, want %d and 5: %+v", r.Events, r.Unreadable, 2*turns+lines, r.Problems)
	}
	s.write("copy/"+transcriptA, log)
	if r := w.ingest("s", s.dir, "."); r.Copies != 1 || len(r.Problems) > 0 {
		t.Errorf("the copy: %+v", r)
	}
	if put[ampFile(ampA)] != 1 || put["copy/"+transcriptA] == 0 || put[transcriptA] > 0 {
		t.Errorf("put off were %v, want the document and the copy", put)
	}
	if got := w.totals().Totals.Events; got != 2*turns+lines {
		t.Errorf("%d events, want %d", got, 2*turns+lines)
	}
	w.reindexed("dense")
}
