package fts5

import "bytes"

// Prefix visits the rows of a segment that have, in their first column, terms that begin with a text: those with from <=
// row < to, once for each such term. Deleted rows are left out. leaf is one that no such term can stand before, as the
// %_idx table tells. FTS5 itself makes one list of all such rows, with their positions, before it gives the first.
func Prefix(source Source, segment Segment, leaf int, text string, from, to int64, visit func(row int64)) error {
	segment.First = max(leaf, segment.First)
	c, err := newCursor(source, segment, 2)
	if err != nil {
		return err
	}
	key := append([]byte{mainPrefix}, text...)
	for ; c.err == nil && len(c.term) > 0; c.advance() {
		if !bytes.HasPrefix(c.term, key) {
			if bytes.Compare(c.term, key) > 0 {
				break
			}
			continue
		}
		row := int64(0)
		for list := c.list; len(list) > 0; {
			p, ok := decodePosting(list)
			if !ok {
				c.fail("posting")
				break
			}
			if row += p.delta; row >= to {
				break
			}
			if row >= from && p.inFirst(list) {
				if _, gone := c.deleted[row]; !gone {
					visit(row)
				}
			}
			list = list[p.end:]
		}
	}
	return c.err
}

// inFirst reports whether a posting has positions in the first column: another would be named before any.
func (p posting) inFirst(list []byte) bool {
	_, n := varint(list[p.start:])
	return p.start+n < p.end && list[p.start+n] != 1
}
