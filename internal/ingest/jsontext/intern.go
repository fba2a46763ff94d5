package jsontext

import (
	"encoding/binary"
	"sync/atomic"
)

// keyIs reports whether the key of a node is name.
func (d *document) keyIs(key uint32, name string) bool {
	n := &d.nodes[key]
	if n.nextAndFlags&(isEscaped|isWide) == 0 {
		return string(d.body(n)) == name
	}
	return d.intern(key) == name
}

// intern returns the decoded string of a node. Transcripts repeat a few keys and words millions of times; a small table of the first ones
// saves the copies.
func (d *document) intern(key uint32) string {
	n := &d.nodes[key]
	if n.nextAndFlags&(isEscaped|isWide) != 0 {
		return string(d.appendString(nil, key))
	}
	body := d.body(n)
	place := internHash(body) % uint64(len(internTable)/2)
	two := internTable[2*place : 2*place+2]
	for i := range two {
		if s := two[i].Load(); s != nil && *s == string(body) {
			return *s
		}
	}
	s := string(body)
	if len(s) <= maxInterned && !two[0].CompareAndSwap(nil, &s) {
		two[1].Store(&s)
	}
	return s
}

// internTable is a cache of two-way buckets. Its content affects no result.
var internTable [2048]atomic.Pointer[string]

// maxInterned is the length of the longest string in internTable, in bytes.
const maxInterned = 32

// internHash hashes the length and the first and last eight bytes of a key.
func internHash(key []byte) uint64 {
	var first, last uint64
	if len(key) >= 8 {
		first, last = binary.LittleEndian.Uint64(key), binary.LittleEndian.Uint64(key[len(key)-8:])
	} else {
		for i, c := range key {
			first |= uint64(c) << (8 * i)
		}
	}
	return ((first^uint64(len(key)))*0x9e3779b97f4a7c15 ^ last) * 0xd6e8feb86659fd93 >> 32
}
