package fts5

import (
	"bytes"
	"fmt"
	"math"
)

// Merge writes one segment with the rows of several, without deleted ones, and returns its number of leaves. The inputs
// must be consecutive segments of a Structure, oldest first. A row id may be in several of them if it was deleted in all
// but one. Merge keeps some leaves of each input and one doclist in memory at a time.
func Merge(inputs []Segment, source Source, sink Sink) (int, error) {
	m := merger{w: newWriter(sink)}
	for _, in := range inputs {
		c, err := newCursor(source, in)
		if err != nil {
			return 0, err
		}
		m.cursors = append(m.cursors, c)
	}
	for m.w.err == nil && m.selectLeast() {
		if err := m.term(); err != nil {
			return 0, err
		}
		for _, c := range m.least {
			if c.advance(); c.err != nil {
				return 0, c.err
			}
		}
	}
	return m.w.finish()
}

// Merged describes the segment that Merge wrote.
func Merged(inputs []Segment, id, leaves int) Segment {
	g := Segment{ID: id, First: 1, Last: leaves, Origin1: inputs[0].Origin1, Origin2: inputs[len(inputs)-1].Origin2}
	for _, in := range inputs {
		g.TotalRow += in.TotalRow - min(in.TotalRow, in.TombstoneRows)
	}
	return g
}

type merger struct {
	w        *writer
	cursors  []*cursor
	least    []*cursor // those at the least term
	postings []postingIterator
	list     []byte
}

// selectLeast finds the cursors at the least term and reports whether there are any.
func (m *merger) selectLeast() bool {
	m.least = m.least[:0]
	for _, c := range m.cursors {
		if len(c.term) == 0 {
			continue
		}
		order := -1
		if len(m.least) > 0 {
			order = bytes.Compare(c.term, m.least[0].term)
		}
		if order < 0 {
			m.least = m.least[:0]
		}
		if order <= 0 {
			m.least = append(m.least, c)
		}
	}
	return len(m.least) > 0
}

// term writes the least term.
func (m *merger) term() error {
	c := m.least[0]
	list := c.list
	if len(m.least) > 1 || len(c.deleted) > 0 {
		if err := m.mergeDoclists(); err != nil {
			return err
		}
		list = m.list
	}
	if len(list) > 0 {
		m.w.term(c.term)
		m.w.doclist(list)
	}
	return nil
}

// mergeDoclists merges the doclists of the least term by row id, without deleted rows.
func (m *merger) mergeDoclists() error {
	m.list, m.postings = m.list[:0], m.postings[:0]
	for _, c := range m.least {
		m.postings = append(m.postings, postingIterator{rest: c.list, deleted: c.deleted})
	}
	for i := range m.postings {
		m.postings[i].next()
	}
	previous := int64(0)
	for {
		least, next := &m.postings[0], int64(math.MaxInt64)
		for i := range m.postings[1:] {
			switch w := &m.postings[1+i]; {
			case w.row < least.row:
				least, next = w, least.row
			case w.row < next:
				next = w.row
			}
		}
		if least.row == math.MaxInt64 {
			break
		}
		m.list = appendVarint(m.list, uint64(least.row-previous))
		m.list = append(m.list, least.positions...)
		m.list = append(m.list, least.takeUntil(next)...)
		previous = least.lastRow
		least.next()
	}
	for i := range m.postings {
		if m.postings[i].malformed {
			return fmt.Errorf("%w: doclist of segment %d", ErrMalformed, m.least[i].segment.ID)
		}
	}
	return nil
}

// takeUntil consumes the rows after the current one that are less than row, and returns them as encoded in the doclist. It
// copies long stretches at once, for segments mostly follow each other in time. With deleted rows it consumes none.
func (w *postingIterator) takeUntil(row int64) []byte {
	if len(w.deleted) > 0 {
		return nil
	}
	n := 0
	for n < len(w.rest) {
		p, ok := decodePosting(w.rest[n:])
		if !ok || w.lastRow+p.delta >= row {
			break
		}
		n, w.lastRow = n+p.end, w.lastRow+p.delta
	}
	rows := w.rest[:n]
	w.rest = w.rest[n:]
	return rows
}

// postingIterator iterates over a doclist.
type postingIterator struct {
	rest      []byte
	deleted   map[int64]struct{}
	lastRow   int64  // last row id read
	row       int64  // current row, MaxInt64 at the end
	positions []byte // its position list, including the size
	malformed bool
}

func (w *postingIterator) next() {
	for len(w.rest) > 0 {
		p, ok := decodePosting(w.rest)
		if !ok {
			w.malformed = true
			break
		}
		w.lastRow += p.delta
		w.row, w.positions = w.lastRow, w.rest[p.start:p.end]
		w.rest = w.rest[p.end:]
		if len(w.deleted) == 0 {
			return
		}
		if _, ok := w.deleted[w.row]; !ok {
			return
		}
	}
	w.row, w.rest = math.MaxInt64, nil
}
