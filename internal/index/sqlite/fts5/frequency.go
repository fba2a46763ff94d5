package fts5

import "bytes"

// Frequencies visits the rows of a segment that have a term, in rising order, with how often it stands in their first
// column: those from a row id on. It returns how many rows have it in all. leaf is one that the term cannot stand before,
// as the %_idx table tells. Deleted rows are visited, too.
func Frequencies(source Source, segment Segment, leaf int, term string, from int64, visit func(row int64, n int)) (rows int, err error) {
	segment.First = max(leaf, segment.First)
	c := &cursor{source: source, segment: segment, next: segment.First, ahead: 1}
	key := append([]byte{mainPrefix}, term...)
	c.load()
	for c.advance(); c.err == nil && len(c.term) > 0 && bytes.Compare(c.term, key) < 0; {
		c.advance()
	}
	if c.err != nil || !bytes.Equal(c.term, key) {
		return 0, c.err
	}
	row := int64(0)
	for list := c.list; len(list) > 0; rows++ {
		p, ok := decodePosting(list)
		if !ok {
			c.fail("posting")
			return rows, c.err
		}
		if row += p.delta; row >= from {
			_, size := varint(list[p.start:])
			visit(row, positions(list[p.start+size:p.end]))
		}
		list = list[p.end:]
	}
	return rows, nil
}

// positions counts those of the first column in a position list.
func positions(list []byte) (n int) {
	begins := true
	for _, b := range list {
		if begins && b == 1 {
			return n
		}
		if begins = b < 0x80; begins {
			n++
		}
	}
	return n
}
