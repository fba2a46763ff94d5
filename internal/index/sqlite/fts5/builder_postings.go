package fts5

import "encoding/binary"

// doclist returns the doclist of a term in FTS5's format. For each row: the row id (absolute for the first, then deltas),
// the size of the position list times two, and the position list, in which 0x01 and the column number precede the
// positions of a column other than the first. It is valid until the next call.
func (b *Builder) doclist(postings []globalPos) []byte {
	const room = 32 // more than a position, the end of a row and the start of the next one take
	if len(b.doc) < room {
		b.doc = make([]byte, 1<<12)
	}
	doc, n, id, columns := b.doc, uint32(0), int64(0), uint32(b.columns)
	for i := 0; i < len(postings); {
		start := b.startOf(postings[i])
		row := start
		if columns > 1 {
			row /= columns
		}
		size := n + 1 // where the size of the position list goes
		if delta := uint64(b.ids[row] - id); delta < 1<<7 {
			doc[n] = byte(delta)
		} else {
			size = putVarint(doc, n, delta)
		}
		id, n = b.ids[row], size+1
		for {
			if column := start - row*columns; column > 0 {
				doc[n], doc[n+1] = 1, byte(column)
				n += 2
			}
			end := b.starts[start+1]
			for at, last := b.starts[start], globalPos(maxPositions); i < len(postings) && postings[i] < end; i++ {
				p := postings[i]
				if p == last {
					continue // a part of an identifier that occurs twice at the position
				}
				if uint32(len(doc))-n < room {
					doc = append(doc, make([]byte, len(doc))...)
				}
				delta := uint32(p-at) + 2
				at, last = p, p
				if delta >= 1<<14 {
					n = putVarint(doc, n, uint64(delta))
					continue
				}
				// Branch-free: whether it takes one byte or two cannot be predicted, so both are computed.
				one, two := uint16(delta), uint16(delta>>7|0x80|delta&0x7f<<8)
				longer := uint16((1<<7 - 1 - delta) >> 31)
				binary.LittleEndian.PutUint16(doc[n:], one^(one^two)&-longer)
				n += 1 + uint32(longer)
			}
			if columns == 1 || i == len(postings) || postings[i] >= b.starts[(row+1)*columns] {
				break
			}
			start = b.startOf(postings[i])
		}
		n = writeListSize(doc, size, n)
	}
	b.doc = doc
	return doc[:n]
}

// writeListSize writes the size of a position list, for which one byte was reserved, and returns where the list ends.
func writeListSize(doc []byte, size, end uint32) uint32 {
	n := end - size - 1
	if n < 64 {
		doc[size] = byte(2 * n)
		return end
	}
	width := varintLen(uint64(2 * n))
	copy(doc[size+width:], doc[size+1:end])
	putVarint(doc, size, uint64(2*n))
	return end + width - 1
}

// prefetchTerms is how many terms prefetch loads at once, so that their cache misses overlap.
const prefetchTerms = 32

func (b *Builder) prefetch(keys []key) {
	for _, k := range keys {
		if byte(k.prefix) != 0 {
			b.sink += b.text(k)[0]
		}
	}
}
