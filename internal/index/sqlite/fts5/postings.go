package fts5

import "math/bits"

// add appends one position to a doclist: row id (first as it is, then the difference), size of the position list
// times two, positions; 0x01 and the column before those of a column that is not the first.
func (t *table) add(e *entry, rowid int64, column uint8, position uint32) {
	room := uint32(16)
	if rowid-e.row >= 1<<28 || (e.n|position) >= 1<<26 {
		room = 32
	}
	if t.blocks.capacity(e.class)-e.n < room && e.n > 0 {
		e.block, e.class = t.blocks.grow(e.block, e.class, e.n)
	}
	b := t.blocks.bytes(e.block, e.class)
	if rowid != e.row {
		if e.row < 0 {
			e.n = putVarint(b, 0, uint64(rowid))
		} else {
			e.close(b)
			e.n = putVarint(b, e.n, uint64(rowid-e.row))
		}
		e.size = e.n
		e.n++
		e.row, e.column, e.position = rowid, 0, 0
	}
	if column != e.column {
		b[e.n] = 1
		b[e.n+1] = column
		e.n += 2
		e.column, e.position = column, 0
	}
	delta := position - e.position + 2
	e.position = position
	if delta < 0x80 {
		b[e.n] = byte(delta)
		e.n++
		return
	}
	e.n = putVarint(b, e.n, uint64(delta))
}

// look reads the ends of the doclists that are about to grow: one after the other without waiting, so that they are near
// by then. Waiting for memory is most of what adding a place costs.
func (t *table) look(terms []uint32) {
	seen := uint32(0)
	for _, n := range terms {
		seen += t.entries[n&^Same].n
	}
	for _, n := range terms {
		e := &t.entries[n&^Same]
		b := t.blocks.bytes(e.block, e.class)
		seen += uint32(b[min(int(e.n), len(b)-1)])
	}
	t.seen = seen
}

// lookAt reads the beginnings of the doclists that are about to be written: see look.
func (t *table) lookAt(some []sortKey) {
	seen := uint32(0)
	for _, k := range some {
		seen += t.entries[k.entry].n + t.names[k.entry].key
	}
	for _, k := range some {
		e := &t.entries[k.entry]
		seen += uint32(t.blocks.bytes(e.block, e.class)[0])
	}
	t.seen = seen
}

// stands reports whether the last position of a doclist is this one.
func (e *entry) stands(rowid int64, column uint8, position uint32) bool {
	return e.row == rowid && e.column == column && e.position == position && e.n > e.size+1
}

// close writes the size of the last position list, for which one byte was left.
func (e *entry) close(b []byte) {
	n := e.n - e.size - 1
	if n < 64 {
		b[e.size] = byte(2 * n)
		return
	}
	width := varintLen(uint64(2 * n))
	copy(b[e.size+width:], b[e.size+1:e.n])
	putVarint(b, e.size, uint64(2*n))
	e.n += width - 1
}

// entry returns a term, with the prefix that marks terms of the main index, and its finished doclist. Both are valid until the
// next call.
func (t *table) entry(k sortKey) (key, doclist []byte) {
	e := &t.entries[k.entry]
	if t.blocks.capacity(e.class)-e.n < 8 {
		e.block, e.class = t.blocks.grow(e.block, e.class, e.n)
	}
	b := t.blocks.bytes(e.block, e.class)
	e.close(b)
	t.blocks.key = t.term(append(t.blocks.key[:0], mainPrefix), &t.names[k.entry])
	return t.blocks.key, b[:e.n]
}

// blocks hands out memory in powers of two. What a doclist has outgrown is used again for others.
type blocks struct {
	chunks [][]byte
	spare  []int // chunks of the usual size that a reset has freed
	next   ref   // in the last chunk of the usual size
	left   int   // blocks of the smallest size in it
	free   [32][]ref
	used   int // bytes
	key    []byte
}

// ref is a block: number of the chunk and offset in it, in units of the smallest block.
type ref uint32

const (
	unitBits  = 5 // the smallest block has 32 bytes
	chunkBits = 20
	refBits   = chunkBits - unitBits
)

func (s *blocks) capacity(class uint8) uint32 { return 1 << (unitBits + class) }

func (s *blocks) bytes(r ref, class uint8) []byte {
	offset := uint32(r&(1<<refBits-1)) << unitBits
	return s.chunks[r>>refBits][offset : offset+s.capacity(class)]
}

func (s *blocks) reset() {
	kept := s.chunks[:0]
	s.spare = s.spare[:0]
	for _, c := range s.chunks {
		if len(c) == 1<<chunkBits { // else it was one doclist's own
			s.spare = append(s.spare, len(kept))
			kept = append(kept, c)
		}
	}
	clear(s.chunks[len(kept):])
	s.chunks = kept
	for i := range s.free {
		s.free[i] = s.free[i][:0]
	}
	s.left, s.used = 0, 0
}

func (s *blocks) get(class uint8) ref {
	if f := s.free[class]; len(f) > 0 {
		s.free[class] = f[:len(f)-1]
		return f[len(f)-1]
	}
	s.used += int(s.capacity(class))
	if unitBits+class > chunkBits {
		s.chunks = append(s.chunks, make([]byte, s.capacity(class)))
		return ref(len(s.chunks)-1) << refBits
	}
	n := 1 << class
	if s.left < n {
		s.chunk()
	}
	r := s.next
	s.next += ref(n)
	s.left -= n
	return r
}

// chunk begins a new chunk; what is left of the old one becomes spare blocks.
func (s *blocks) chunk() {
	for s.left > 0 {
		class := uint8(bits.Len(uint(s.left)) - 1)
		s.free[class] = append(s.free[class], s.next)
		s.next += 1 << class
		s.left -= 1 << class
	}
	i := len(s.chunks)
	if n := len(s.spare); n > 0 {
		i = s.spare[n-1]
		s.spare = s.spare[:n-1]
	} else {
		s.chunks = append(s.chunks, make([]byte, 1<<chunkBits))
	}
	s.next, s.left = ref(i)<<refBits, 1<<refBits
}

// grow moves a doclist of n bytes into a block of twice the size.
func (s *blocks) grow(old ref, class uint8, n uint32) (ref, uint8) {
	r := s.get(class + 1)
	copy(s.bytes(r, class+1), s.bytes(old, class)[:n])
	s.free[class] = append(s.free[class], old)
	return r, class + 1
}
