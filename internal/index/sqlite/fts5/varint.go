package fts5

import (
	"errors"
	"math/bits"
)

var errVarint = errors.New("fts5: varint is cut off")

// appendVarint appends a varint in SQLite's format: big-endian, eight bits in the ninth byte.
func appendVarint(b []byte, v uint64) []byte {
	var buf [9]byte
	return append(b, buf[:putVarint(buf[:], 0, v)]...)
}

// putVarint writes v at b[at:] and returns where it ends.
func putVarint(b []byte, at uint32, v uint64) uint32 {
	switch {
	case v < 1<<7:
		b[at] = byte(v)
		return at + 1
	case v < 1<<14:
		b[at], b[at+1] = byte(v>>7)|0x80, byte(v)&0x7f
		return at + 2
	}
	n := varintLen(v)
	if n == 9 {
		b[at+8] = byte(v)
		v >>= 8
		for i := int(at) + 7; i >= int(at); i-- {
			b[i] = byte(v) | 0x80
			v >>= 7
		}
		return at + 9
	}
	last := at + n - 1
	b[last] = byte(v) & 0x7f
	for i := int(last) - 1; i >= int(at); i-- {
		v >>= 7
		b[i] = byte(v) | 0x80
	}
	return at + n
}

// varintLen returns how many bytes the varint of v takes.
func varintLen(v uint64) uint32 {
	return min(uint32(bits.Len64(v|1)+6)/7, 9)
}

// varint decodes the varint at the start of b and returns its length, 0 when it is truncated.
func varint(b []byte) (uint64, int) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), 1
	}
	v := uint64(0)
	for i, c := range b[:min(len(b), 9)] {
		if i == 8 {
			return v<<8 | uint64(c), 9
		}
		v = v<<7 | uint64(c&0x7f)
		if c < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}
