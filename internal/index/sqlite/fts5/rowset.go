package fts5

import (
	"maps"
	"math"
	"math/bits"
	"slices"
)

// RowSet is a bitmap of rows. Row ids are assigned densely, so many rows share a word.
type RowSet struct {
	keys []int64  // ascending: row>>6 of each word
	sets []uint64 // the words
}

// rowSetBuilder builds a RowSet. Rows may be added in any order.
type rowSetBuilder struct {
	words map[int64]uint64
	key   int64  // of the word of the last rows
	last  uint64 // bits to be added to that word
}

func (s *rowSetBuilder) add(row int64) {
	if key := row >> 6; key != s.key {
		s.flush()
		s.key = key
	}
	s.last |= 1 << (row & 63)
}

// flush adds the pending bits to their word.
func (s *rowSetBuilder) flush() {
	if s.last == 0 {
		return
	}
	if s.words == nil {
		s.words = map[int64]uint64{}
	}
	s.words[s.key] |= s.last
	s.last = 0
}

// keepNewest drops all but the newest words and returns the first row that those may have.
func (s *rowSetBuilder) keepNewest(words int) int64 {
	s.flush()
	keys := slices.Sorted(maps.Keys(s.words))
	drop := max(len(keys)-words, 0)
	for _, key := range keys[:drop] {
		delete(s.words, key)
	}
	return keys[drop] << 6
}

// build returns the set.
func (s *rowSetBuilder) build() *RowSet {
	s.flush()
	set := &RowSet{keys: slices.Sorted(maps.Keys(s.words))}
	set.sets = make([]uint64, len(set.keys))
	for i, key := range set.keys {
		set.sets[i] = s.words[key]
	}
	return set
}

// Words returns the number of words of 64 rows.
func (s *RowSet) Words() int { return len(s.keys) }

// Rows returns an iterator over the set.
func (s *RowSet) Rows() Rows {
	return &rowSetIterator{RowSet: s, at: math.MaxInt64, word: len(s.keys) - 1}
}

type rowSetIterator struct {
	*RowSet
	at   int64 // rows above were passed
	word int   // index of the current word, -1 at the end
}

// Advance implements Rows.
func (w *rowSetIterator) Advance(at int64) (int64, error) {
	w.at = min(w.at, at)
	key := w.at >> 6
	if w.word > 0 && w.keys[w.word] > key {
		if w.word--; w.keys[w.word] > key { // most go on to the next word
			n, found := slices.BinarySearch(w.keys[:w.word], key)
			if w.word = n; !found {
				w.word--
			}
		}
	}
	if w.word < 0 || w.keys[w.word] > key {
		w.word = -1
		return -1, nil
	}
	set := w.sets[w.word]
	if w.keys[w.word] == key {
		if set &= 2<<(w.at&63) - 1; set == 0 {
			if w.word--; w.word < 0 {
				return -1, nil
			}
			set = w.sets[w.word]
		}
	}
	return w.keys[w.word]<<6 | int64(63-bits.LeadingZeros64(set)), nil
}
