package fts5

// doclist returns what FTS5 keeps of the rows of a term: row id (first as it is, then the difference), size of the
// position list times two, positions; 0x01 and the column before those of a column that is not the first. It is valid until
// the next call.
func (b *Builder) doclist(postings []placement) []byte {
	doc, n := b.doc, uint32(0)
	var size uint32 // where the size of the last position list stands
	var id int64
	last, column, position := placement(0), placement(0), placement(0)
	for i, p := range postings {
		if uint32(len(doc))-n < 32 {
			doc = append(doc, make([]byte, len(doc)+64)...)
		}
		switch {
		case i == 0 || p>>rowShift != last>>rowShift:
			if i > 0 {
				n = closeList(doc, size, n)
			}
			row := b.ids[p>>rowShift]
			size = putVarint(doc, n, uint64(row-id))
			id, n, column, position = row, size+1, 0, 0
		case p == last:
			continue // a part that is the same in two ways
		}
		last = p
		if c := p >> columnShift & (maxColumns - 1); c != column {
			doc[n], doc[n+1] = 1, byte(c)
			column, position = c, 0
			n += 2
		}
		delta := p&maxPlaces - position + 2
		position = p & maxPlaces
		if delta < 0x80 {
			doc[n] = byte(delta)
			n++
			continue
		}
		n = putVarint(doc, n, uint64(delta))
	}
	if uint32(len(doc))-n < 8 {
		doc = append(doc, make([]byte, 8)...)
	}
	b.doc = doc
	return doc[:closeList(doc, size, n)]
}

// closeList writes the size of a position list, for which one byte was left, and returns where the list ends.
func closeList(doc []byte, size, end uint32) uint32 {
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

// termsAhead is how many terms are read at once: one after the other without waiting, so that they are near when they
// are written.
const termsAhead = 32

func (b *Builder) look(keys []key) {
	for _, k := range keys {
		if byte(k.prefix) != 0 {
			b.seen += b.at(k)[0]
		}
	}
}
