package fts5

import (
	"encoding/binary"
	"fmt"
)

// Source reads the pages of segments.
type Source interface {
	// Leaves returns leaves first to last.
	Leaves(segment, first, last int) ([][]byte, error)
	// Tombstones returns that many tombstone pages.
	Tombstones(segment, pages int) ([][]byte, error)
}

// maxLeaves bounds how many leaves a cursor holds.
const maxLeaves = 64

// cursor iterates over the terms of one segment with their doclists.
type cursor struct {
	source  Source
	segment Segment
	leaves  [][]byte // read ahead
	next    int      // number of the first leaf that was not read
	leaf    []byte   // without its footer
	footer  []byte   // offsets of the terms that follow
	at      int      // where the next term begins, len(leaf) if there is none
	first   bool     // the next term is the first on the leaf

	term    []byte // current term, empty at the end
	list    []byte // its doclist, joined if it spans leaves
	spanned []byte // buffer for a doclist that spans leaves
	row     int64  // last row id of spanned[:parsed]
	parsed  int
	deleted map[int64]struct{}
	err     error
}

// newCursor returns a cursor at the first term of a segment.
func newCursor(source Source, segment Segment) (*cursor, error) {
	c := &cursor{source: source, segment: segment, next: segment.First, deleted: map[int64]struct{}{}}
	if segment.TombstonePages > 0 {
		pages, err := source.Tombstones(segment.ID, segment.TombstonePages)
		if err != nil {
			return nil, err
		}
		for _, p := range pages {
			ids, err := tombstones(p)
			if err != nil {
				return nil, err
			}
			for _, id := range ids {
				c.deleted[id] = struct{}{}
			}
		}
	}
	c.load()
	c.advance()
	return c, c.err
}

func (c *cursor) fail(what string) {
	if c.err == nil {
		c.err = fmt.Errorf("%w: segment %d near leaf %d: %s", ErrMalformed, c.segment.ID, c.next-1-len(c.leaves), what)
	}
	c.term, c.leaf, c.footer, c.at = nil, nil, nil, 0
}

// load advances to the next leaf and reports whether there is one.
func (c *cursor) load() bool {
	if len(c.leaves) == 0 {
		if c.next > c.segment.Last || c.err != nil {
			c.leaf, c.footer, c.at = nil, nil, 0
			return false
		}
		last := min(c.next+maxLeaves-1, c.segment.Last)
		if c.leaves, c.err = c.source.Leaves(c.segment.ID, c.next, last); c.err != nil {
			c.term = nil
			return false
		}
		if len(c.leaves) != last-c.next+1 {
			c.fail("leaves are missing")
			return false
		}
		c.next = last + 1
	}
	b := c.leaves[0]
	c.leaves = c.leaves[1:]
	if len(b) < 4 {
		c.fail("short leaf")
		return false
	}
	size := int(binary.BigEndian.Uint16(b[2:]))
	if size < 4 || size > len(b) {
		c.fail("size of leaf")
		return false
	}
	c.leaf, c.footer, c.at, c.first = b[:size], b[size:], 0, true
	c.nextTerm()
	return c.err == nil
}

// nextTerm finds where the next term on the leaf begins.
func (c *cursor) nextTerm() {
	if len(c.footer) == 0 {
		c.at = len(c.leaf)
		return
	}
	v, n := varint(c.footer)
	c.footer = c.footer[n:]
	if n == 0 || v == 0 || v > uint64(len(c.leaf)-c.at) {
		c.fail("footer")
		return
	}
	c.at += int(v)
}

// advance moves to the next term.
func (c *cursor) advance() {
	for c.err == nil && c.at == len(c.leaf) {
		if !c.load() {
			c.term = nil
			return
		}
	}
	if c.err != nil {
		return
	}
	b := c.leaf[c.at:]
	shared := uint64(0)
	if !c.first {
		v, n := varint(b)
		shared, b = v, b[n:]
	}
	length, n := varint(b)
	b = b[n:]
	if n == 0 || shared > uint64(len(c.term)) || length > uint64(len(b)) || shared+length == 0 {
		c.fail("term")
		return
	}
	c.term = append(c.term[:shared], b[:length]...)
	start := len(c.leaf) - len(b) + int(length)
	c.first = false
	c.nextTerm()
	c.doclist(start)
}

// doclist reads the doclist that begins at start on the current leaf, including its continuation on later leaves.
func (c *cursor) doclist(start int) {
	if c.err != nil || start > c.at {
		c.fail("doclist")
		return
	}
	c.list = c.leaf[start:c.at]
	whole := true
	for c.at == len(c.leaf) && c.load() && c.at > 4 {
		if whole {
			c.spanned = append(c.spanned[:0], c.list...)
			c.row, c.parsed, whole = 0, 0, false
		}
		c.appendLeaf()
	}
	if !whole {
		c.list = c.spanned
	}
}

// appendLeaf appends the part of a doclist on the current leaf. The first row id on a leaf is absolute; it is turned into a
// delta.
func (c *cursor) appendLeaf() {
	row := int(binary.BigEndian.Uint16(c.leaf))
	if row == 0 {
		c.spanned = append(c.spanned, c.leaf[4:c.at]...)
		return
	}
	if row < 4 || row >= c.at {
		c.fail("place of the first row")
		return
	}
	c.spanned = append(c.spanned, c.leaf[4:row]...)
	for c.parsed < len(c.spanned) {
		e, ok := decodePosting(c.spanned[c.parsed:])
		if !ok {
			c.fail("posting")
			return
		}
		c.row += e.delta
		c.parsed += e.end
	}
	id, n := varint(c.leaf[row:])
	if int64(id) <= c.row {
		c.fail("row ids do not ascend")
		return
	}
	c.spanned = appendVarint(c.spanned, id-uint64(c.row))
	c.spanned = append(c.spanned, c.leaf[row+n:c.at]...)
}

// posting is one row of a doclist: its delta, and where its position list, including the size, starts and ends.
type posting struct {
	delta      int64
	start, end int
}

func decodePosting(list []byte) (posting, bool) {
	delta, n := varint(list)
	size, m := varint(list[n:])
	if n == 0 || m == 0 || size&1 != 0 || size/2 > uint64(len(list)-n-m) {
		return posting{}, false
	}
	return posting{int64(delta), n, n + m + int(size/2)}, true
}
