package term

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// Terms are some terms, as Split writes them, with what looking them up begins with.
type Terms struct {
	Text []byte
	All  []One
}

// One is a term of Terms.
type One struct {
	Prefix uint64 // first eight bytes, the first of them lowest, with zeros behind a shorter term
	Start  uint32 // in Text
	what   uint32 // its length, and sameBit
}

const sameBit = 1 << 31

// Size returns the length of the term in bytes.
func (o *One) Size() int { return int(o.what &^ sameBit) }

// Same returns whether the term stands in the place of the one before it, by the highest bit.
func (o *One) Same() uint32 { return o.what & sameBit }

// Of returns the bytes of one of the terms.
func (t *Terms) Of(o *One) []byte { return t.Text[o.Start:][:o.Size()] }

// one is the term of a length that stands at a place of Text, behind which eight bytes more can be read.
func (t *Terms) one(at, size int, same uint32) One {
	prefix := binary.LittleEndian.Uint64(t.Text[at : at+8 : cap(t.Text)])
	if size < 8 {
		prefix &= 1<<(8*size) - 1
	}
	return One{prefix, uint32(at), uint32(size) | same}
}

// Set makes t the terms of a text as Split writes it.
func (t *Terms) Set(text []byte) {
	t.Text, t.All = append(t.Text[:0], text...), t.All[:0]
	if len(text) > 0 {
		t.take(0)
	}
}

// take notes the terms of Text from start on, where one begins.
func (t *Terms) take(start int) {
	n := len(t.Text)
	t.Text = slices.Grow(t.Text, 8) // so that eight bytes can be read at the end
	text := append(t.Text, "        "...)
	for start < n {
		same := uint32(0)
		if start > 0 && text[start-1] == Same {
			same = sameBit
		}
		prefix := binary.LittleEndian.Uint64(text[start:])
		size := termLen(prefix)
		if size < 8 {
			prefix &= 1<<(8*size) - 1
		} else {
			for more := 8; more == 8; size += more {
				more = termLen(binary.LittleEndian.Uint64(text[start+size:]))
			}
		}
		t.All = append(t.All, One{prefix, uint32(start), uint32(size) | same})
		start += size + 1
	}
}

// termLen returns how many of eight bytes come before the first that separates terms.
func termLen(b uint64) int {
	return bits.TrailingZeros64((b-ones*(' '+1))&^b&high) >> 3
}

// Eight bytes at a time.
const (
	ones = 0x0101010101010101
	high = ones << 7
)
