package fts5

import (
	"bytes"
	"cmp"
	"slices"
)

// table maps terms to their doclists. Slots hold the hash and the number of the entry; entries lie in the order in
// which their terms were first met, so that the frequent ones are close together.
type table struct {
	slots   []uint64 // hash, number of the entry plus one
	names   []name
	entries []entry
	keys    []byte // of terms that are longer than their prefix
	blocks  blocks
	seen    uint32 // nothing: see look
}

// name is what a term is called, and all that looking for it takes. Neither it nor an entry holds pointers, which spares the
// garbage collector the table.
type name struct {
	prefix uint64 // first eight bytes
	key    uint32 // offset in keys
	length uint16
}

// entry is the end of a term's doclist. Two of them fill a line of the processor's cache.
type entry struct {
	row      int64 // last row id
	block    ref
	n        uint32 // bytes of the doclist
	size     uint32 // where the size of the last position list stands
	position uint32 // last one
	column   uint8
	class    uint8 // of the block
}

const minSlots = 1 << 12

func (t *table) reset() {
	if len(t.slots) == 0 {
		t.slots = make([]uint64, minSlots)
	}
	clear(t.slots)
	t.names, t.entries, t.keys = t.names[:0], t.entries[:0], t.keys[:0]
	t.blocks.reset()
}

func (t *table) size() int {
	return 8*len(t.slots) + 48*len(t.entries) + len(t.keys) + t.blocks.used
}

// find returns the number of the entry of a term and makes it when there is none.
func (t *table) find(d termDigest, term []byte) uint32 {
	mask := uint32(len(t.slots) - 1)
	for i := d.hash & mask; ; i = (i + 1) & mask {
		s := t.slots[i]
		if s == 0 {
			return t.insert(i, d, term)
		}
		if uint32(s>>32) != d.hash {
			continue
		}
		n := uint32(s) - 1
		e := &t.names[n]
		if e.prefix == d.prefix && int(e.length) == len(term) && (len(term) <= 8 || string(t.rest(e)) == string(term[8:])) {
			return n
		}
	}
}

// lookFor reads the slots that find will begin at: see look.
func (t *table) lookFor(some []termDigest) {
	mask := uint32(len(t.slots) - 1)
	seen := uint32(0)
	for i := range some {
		seen += uint32(t.slots[some[i].hash&mask])
	}
	t.seen = seen
}

// rest returns what a term has beyond its prefix.
func (t *table) rest(e *name) []byte {
	if e.length <= 8 {
		return nil
	}
	return t.keys[e.key : e.key+uint32(e.length)-8]
}

func (t *table) insert(slot uint32, d termDigest, term []byte) uint32 {
	t.names = append(t.names, name{prefix: d.prefix, key: uint32(len(t.keys)), length: uint16(len(term))})
	if len(term) > 8 {
		t.keys = append(t.keys, term[8:]...)
	}
	t.entries = append(t.entries, entry{row: -1, block: t.blocks.get(0)})
	t.slots[slot] = uint64(d.hash)<<32 | uint64(len(t.entries))
	if 2*len(t.entries) > len(t.slots) {
		t.grow()
	}
	return uint32(len(t.entries) - 1)
}

func (t *table) grow() {
	old := t.slots
	t.slots = make([]uint64, 2*len(old))
	mask := uint32(len(t.slots) - 1)
	for _, s := range old {
		if s == 0 {
			continue
		}
		i := uint32(s>>32) & mask
		for t.slots[i] != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = s
	}
}

// term appends the bytes of a term to b.
func (t *table) term(b []byte, e *name) []byte {
	for i := range min(int(e.length), 8) {
		b = append(b, byte(e.prefix>>(56-8*i)))
	}
	return append(b, t.rest(e)...)
}

type sortKey struct {
	prefix uint64
	entry  uint32
}

// sorted returns the entries in the order of their terms: first by two bytes, of which there are not many, then each of those
// groups by the rest.
func (t *table) sorted() []sortKey {
	keys := make([]sortKey, len(t.names))
	starts := make([]int32, 1<<16+1)
	for i := range t.names {
		starts[t.names[i].prefix>>48+1]++
	}
	for i := range 1 << 16 {
		starts[i+1] += starts[i]
	}
	ends := starts[:1<<16] // grow from the start of each group to its end
	for i := range t.names {
		at := &ends[t.names[i].prefix>>48]
		keys[*at] = sortKey{t.names[i].prefix, uint32(i)}
		*at++
	}
	start := int32(0)
	for _, end := range ends {
		if end-start > 1 {
			slices.SortFunc(keys[start:end], t.compare)
		}
		start = end
	}
	return keys
}

func (t *table) compare(a, b sortKey) int {
	if a.prefix != b.prefix {
		return cmp.Compare(a.prefix, b.prefix)
	}
	return t.compareRest(&t.names[a.entry], &t.names[b.entry])
}

// compareRest compares two terms of equal prefix. Tokens hold no NUL, so one that is shorter than the prefix has no equal.
func (t *table) compareRest(a, b *name) int {
	return bytes.Compare(t.rest(a), t.rest(b))
}
