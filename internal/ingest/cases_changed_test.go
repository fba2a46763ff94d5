package ingest_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

// TestCasesChanged changes values in the files of some cases, and ingests some of them before the others; it expects the result of a single ingest.
// Then it changes some again and again, and expects the result of a reindex.
func TestCasesChanged(t *testing.T) {
	t.Parallel()
	r, content := drawCases(t)
	names := slices.Sorted(maps.Keys(content))
	s, w := newTree(t), newWorld(t)
	write := func(name string) {
		b := []byte(content[name])
		for range r.IntN(4) {
			b = formattest.Change(r, b)
		}
		s.write(name, string(b))
	}
	for _, name := range names {
		write(name)
	}
	r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for _, name := range names[:len(names)/20] {
		w.ingest("home", s.dir, name)
	}
	w.ingest("home", s.dir, ".")
	once := newWorld(t)
	once.ingest("home", s.dir, ".")
	w.compareDumps("in pieces", w.dump(), once.dump())
	for range 3 {
		for range len(names) / 5 {
			write(names[r.IntN(len(names))])
		}
		w.ingest("home", s.dir, ".")
	}
	w.reindexed("changed")
}
