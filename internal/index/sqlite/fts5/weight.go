package fts5

import "encoding/binary"

// Weight has the size of some leaves, and how many of their bytes are freed when certain rows are removed.
type Weight struct {
	Bytes, Freed      int64 // terms and doclists
	Words, WordsFreed int64 // the terms themselves, without prefix compression

	term, kept []byte // the terms before the next on the leaf: of all terms, and of those that are kept
}

// Add adds a leaf. removed says which rows are removed. A doclist that spans leaves is weighed leaf by leaf.
func (w *Weight) Add(leaf []byte, removed func(row int64) bool) error {
	c := &cursor{leaves: [][]byte{leaf}, next: 1}
	c.load()
	if c.err != nil {
		return c.err
	}
	if row := int(binary.BigEndian.Uint16(c.leaf)); row >= 4 && row < c.at {
		all, kept := doclistSize(c.leaf[row:c.at], removed)
		w.Bytes, w.Freed = w.Bytes+all, w.Freed+all-kept
	}
	w.term, w.kept = w.term[:0], w.kept[:0]
	for c.advance(); c.err == nil && len(c.term) > 0; c.advance() {
		w.addTerm(c.term, c.list, removed)
	}
	return c.err
}

// addTerm adds a term, which is stored as its length, the length shared with the term before it, its other bytes, and an
// entry in the footer.
func (w *Weight) addTerm(term, list []byte, removed func(row int64) bool) {
	const lengths = 3
	all, kept := doclistSize(list, removed)
	word := int64(len(term))
	all += lengths + word - int64(common(w.term, term))
	w.Words += word
	if kept == 0 {
		w.WordsFreed += word
	} else {
		kept += lengths + word - int64(common(w.kept, term))
		w.kept = append(w.kept[:0], term...)
	}
	w.Bytes, w.Freed = w.Bytes+all, w.Freed+all-kept
	w.term = append(w.term[:0], term...)
}

// doclistSize returns the size of a doclist with and without the removed rows. Its last row may be truncated.
func doclistSize(list []byte, removed func(row int64) bool) (all, kept int64) {
	row, last := int64(0), int64(0) // last: last row that is kept
	all = int64(len(list))
	for len(list) > 0 {
		delta, n := varint(list)
		size, m := varint(list[n:])
		if n == 0 || m == 0 {
			return all, kept
		}
		row += int64(delta)
		end := n + m + int(min(size/2, uint64(len(list)-n-m)))
		if !removed(row) {
			kept += int64(varintLen(uint64(row-last))) + int64(end-n)
			last = row
		}
		list = list[end:]
	}
	return all, kept
}
