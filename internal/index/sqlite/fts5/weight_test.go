package fts5

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestWeight builds a segment with and one without some rows, and compares the difference with the estimate.
func TestWeight(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	removed := func(row int64) bool { return row/16%3 == 0 } // sixteen rows are a run
	all, left, words := NewBuilder(2), NewBuilder(2), newLexicon()
	for id := range int64(4000) {
		row := texts(r, int(id))
		row[0] += fmt.Sprintf(" id-%d of-%d", id, id/16)
		for _, b := range []*Builder{all, left} {
			if b == left && removed(id) {
				continue
			}
			if err := add(b, words, id, row...); err != nil {
				t.Fatal(err)
			}
		}
	}
	s, rest := &store{pages: map[int64][]byte{}, segment: 1}, &store{pages: map[int64][]byte{}, segment: 1}
	last, err := all.Write(s)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := left.Write(rest); err != nil {
		t.Fatal(err)
	}
	var w Weight
	for leaf := 1; leaf <= last; leaf++ {
		if err := w.Add(s.pages[PageID(1, int64(leaf))], removed); err != nil {
			t.Fatal(err)
		}
	}
	bytes := func(s *store) (n int64) {
		for _, p := range s.pages {
			n += int64(len(p))
		}
		return n
	}
	fell, said := bytes(s)-bytes(rest), w.Freed*bytes(s)/w.Bytes
	t.Logf("%d leaves: %d of %d bytes went, foretold were %d; words %d of %d", last, fell, bytes(s), said, w.WordsFreed, w.Words)
	if off := max(fell-said, said-fell); off > fell/20 || w.WordsFreed < w.Words/5 {
		t.Errorf("%d bytes went, foretold were %d", fell, said)
	}
}
