package fts5

import (
	"bytes"
	"fmt"
	"math"
)

// Merge writes one segment that holds the rows of several, without those that were deleted, and returns its number
// of leaves. The inputs must be a run of a Structure's segments, oldest first. A row id may stand in several of them
// if it was deleted in all but one. It holds some leaves of each input and one doclist at a time.
func Merge(inputs []Segment, source Source, sink Sink) (int, error) {
	m := merger{w: newWriter(sink)}
	for _, in := range inputs {
		c, err := newCursor(source, in, leavesAtOnce)
		if err != nil {
			return 0, err
		}
		m.cursors = append(m.cursors, c)
	}
	for m.w.err == nil && m.pick() {
		if err := m.term(); err != nil {
			return 0, err
		}
		for _, c := range m.same {
			if c.advance(); c.err != nil {
				return 0, c.err
			}
		}
	}
	return m.w.finish()
}

// Merged describes the segment that Merge made.
func Merged(inputs []Segment, id, leaves int) Segment {
	g := Segment{ID: id, First: 1, Last: leaves, Origin1: inputs[0].Origin1, Origin2: inputs[len(inputs)-1].Origin2}
	for _, in := range inputs {
		g.TotalRow += in.TotalRow - min(in.TotalRow, in.TombstoneRows)
	}
	return g
}

type merger struct {
	w       *writer
	cursors []*cursor
	same    []*cursor // those that stand at the least term
	walks   []walk
	list    []byte
}

// pick finds the cursors at the least term, and says whether there are any.
func (m *merger) pick() bool {
	m.same = m.same[:0]
	for _, c := range m.cursors {
		if len(c.term) == 0 {
			continue
		}
		order := -1
		if len(m.same) > 0 {
			order = bytes.Compare(c.term, m.same[0].term)
		}
		if order < 0 {
			m.same = m.same[:0]
		}
		if order <= 0 {
			m.same = append(m.same, c)
		}
	}
	return len(m.same) > 0
}

// term writes the least term.
func (m *merger) term() error {
	c := m.same[0]
	list := c.list
	if len(m.same) > 1 || len(c.deleted) > 0 {
		if err := m.join(); err != nil {
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

// join merges the doclists of the least term by row id.
func (m *merger) join() error {
	m.list, m.walks = m.list[:0], m.walks[:0]
	for _, c := range m.same {
		m.walks = append(m.walks, walk{rest: c.list, deleted: c.deleted})
	}
	for i := range m.walks {
		m.walks[i].step()
	}
	previous := int64(0)
	for {
		least, next := &m.walks[0], int64(math.MaxInt64)
		for i := range m.walks[1:] {
			switch w := &m.walks[1+i]; {
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
		m.list = append(m.list, least.before(next)...)
		previous = least.at
		least.step()
	}
	for i := range m.walks {
		if m.walks[i].bad {
			return fmt.Errorf("%w: doclist of segment %d", ErrMalformed, m.same[i].segment.ID)
		}
	}
	return nil
}

// before takes the rows that follow the present one and come before another, as they stand in the list: segments mostly follow each
// other in time.
func (w *walk) before(row int64) []byte {
	if len(w.deleted) > 0 {
		return nil
	}
	n := 0
	for n < len(w.rest) {
		p, ok := decodePosting(w.rest[n:])
		if !ok || w.at+p.delta >= row {
			break
		}
		n, w.at = n+p.end, w.at+p.delta
	}
	rows := w.rest[:n]
	w.rest = w.rest[n:]
	return rows
}

// walk steps through a doclist.
type walk struct {
	rest      []byte
	deleted   map[int64]struct{}
	at        int64  // last row id read
	row       int64  // present row, MaxInt64 at the end
	positions []byte // its position list with its size
	bad       bool
}

func (w *walk) step() {
	for len(w.rest) > 0 {
		p, ok := decodePosting(w.rest)
		if !ok {
			w.bad = true
			break
		}
		w.at += p.delta
		w.row, w.positions = w.at, w.rest[p.start:p.end]
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
