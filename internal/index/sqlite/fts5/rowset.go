package fts5

import (
	"maps"
	"math/bits"
	"slices"
)

// RowSet is rows, a bit for each: row ids are given one after the other, so many stand near each other. It implements Rows, in
// any order.
type RowSet struct {
	words map[int64]uint64 // of 64 rows each, while some are added
	key   int64            // of the one that the last row is in
	last  uint64           // what is to be added to that

	keys []int64 // rising, when all are in
	sets []uint64
	at   int // of the word that was looked at last
}

func (s *RowSet) add(row int64) {
	if key := row >> 6; key != s.key {
		s.put()
		s.key = key
	}
	s.last |= 1 << (row & 63)
}

// put adds what was added last to its word.
func (s *RowSet) put() {
	if s.last == 0 {
		return
	}
	if s.words == nil {
		s.words = map[int64]uint64{}
	}
	s.words[s.key] |= s.last
	s.last = 0
}

// newest leaves the newest words only, and returns the first row that may be in them.
func (s *RowSet) newest(words int) int64 {
	s.put()
	keys := slices.Sorted(maps.Keys(s.words))
	drop := max(len(keys)-words, 0)
	for _, key := range keys[:drop] {
		delete(s.words, key)
	}
	return keys[drop] << 6
}

// seal says that all rows are in.
func (s *RowSet) seal() *RowSet {
	s.put()
	s.keys = slices.Sorted(maps.Keys(s.words))
	s.sets = make([]uint64, len(s.keys))
	for i, key := range s.keys {
		s.sets[i] = s.words[key]
	}
	s.words = nil
	return s
}

// Words is how many words of 64 rows it takes.
func (s *RowSet) Words() int { return len(s.keys) }

// Down implements Rows.
func (s *RowSet) Down(at int64) (int64, error) {
	key := at >> 6
	for s.at < len(s.keys) && s.at > 0 && s.keys[s.at] > key && s.keys[s.at-1] <= key { // most look at the next
		s.at--
	}
	if s.at >= len(s.keys) || s.keys[s.at] > key || s.at+1 < len(s.keys) && s.keys[s.at+1] <= key {
		n, found := slices.BinarySearch(s.keys, key)
		if !found {
			n--
		}
		if n < 0 {
			return -1, nil
		}
		s.at = n
	}
	set := s.sets[s.at]
	if s.keys[s.at] == key {
		set &= 2<<(at&63) - 1
	}
	if set == 0 {
		if s.at == 0 {
			return -1, nil
		}
		s.at--
		set = s.sets[s.at]
	}
	return s.keys[s.at]<<6 | int64(63-bits.LeadingZeros64(set)), nil
}
