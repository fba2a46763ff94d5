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
	entries []entry
	keys    []byte // of terms that are longer than their prefix
	blocks  blocks
}

// entry is one term with the end of its doclist. It holds no pointers, which spares the garbage collector the table.
type entry struct {
	prefix   uint64 // first eight bytes
	row      int64  // last row id
	key      uint32 // offset in keys
	block    ref
	n        uint32 // bytes of the doclist
	size     uint32 // where the size of the last position list stands
	position uint32 // last one
	length   uint16 // of the term
	column   uint8
	class    uint8 // of the block
}

const minSlots = 1 << 12

func (t *table) reset() {
	if len(t.slots) == 0 {
		t.slots = make([]uint64, minSlots)
	}
	clear(t.slots)
	t.entries, t.keys = t.entries[:0], t.keys[:0]
	t.blocks.reset()
}

func (t *table) size() int {
	return 8*len(t.slots) + 48*len(t.entries) + len(t.keys) + t.blocks.used
}

// find returns the number of the entry of a term and makes it when there is none.
func (t *table) find(prefix uint64, hash uint32, term []byte) uint32 {
	mask := uint32(len(t.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		s := t.slots[i]
		if s == 0 {
			return t.insert(i, prefix, hash, term)
		}
		if uint32(s>>32) != hash {
			continue
		}
		n := uint32(s) - 1
		e := &t.entries[n]
		if e.prefix == prefix && int(e.length) == len(term) && (len(term) <= 8 || string(t.rest(e)) == string(term[8:])) {
			return n
		}
	}
}

// rest returns what a term has beyond its prefix.
func (t *table) rest(e *entry) []byte {
	if e.length <= 8 {
		return nil
	}
	return t.keys[e.key : e.key+uint32(e.length)-8]
}

func (t *table) insert(slot uint32, prefix uint64, hash uint32, term []byte) uint32 {
	e := entry{prefix: prefix, row: -1, key: uint32(len(t.keys)), length: uint16(len(term))}
	if len(term) > 8 {
		t.keys = append(t.keys, term[8:]...)
	}
	e.block = t.blocks.get(0)
	t.entries = append(t.entries, e)
	t.slots[slot] = uint64(hash)<<32 | uint64(len(t.entries))
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
func (t *table) term(b []byte, e *entry) []byte {
	for i := range min(int(e.length), 8) {
		b = append(b, byte(e.prefix>>(56-8*i)))
	}
	return append(b, t.rest(e)...)
}

type sortKey struct {
	prefix uint64
	entry  uint32
}

// sorted returns the entries in the order of their terms.
func (t *table) sorted() []sortKey {
	keys := make([]sortKey, len(t.entries))
	for i := range t.entries {
		keys[i] = sortKey{t.entries[i].prefix, uint32(i)}
	}
	slices.SortFunc(keys, func(a, b sortKey) int {
		if a.prefix != b.prefix {
			return cmp.Compare(a.prefix, b.prefix)
		}
		return t.compareRest(&t.entries[a.entry], &t.entries[b.entry])
	})
	return keys
}

// compareRest compares two terms of equal prefix. Tokens hold no NUL, so one that is shorter than the prefix has no equal.
func (t *table) compareRest(a, b *entry) int {
	return bytes.Compare(t.rest(a), t.rest(b))
}
