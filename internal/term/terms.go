package term

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// Terms is a batch of terms as Split writes them, with the first eight bytes of each for fast lookup.
type Terms struct {
	Text []byte
	All  []One
}

// One is a term of Terms.
type One struct {
	Prefix        uint64 // the first eight bytes, little-endian, zero-padded
	Start         uint32 // offset in Text
	lengthAndSame uint32 // length, and sameBit
}

const sameBit = 1 << 31

// Size returns the length of the term in bytes.
func (o *One) Size() int { return int(o.lengthAndSame &^ sameBit) }

// Same returns a nonzero value, the highest bit, if the term has the position of the one before it.
func (o *One) Same() uint32 { return o.lengthAndSame & sameBit }

// Of returns the bytes of one of the terms.
func (t *Terms) Of(o *One) []byte { return t.Text[o.Start:][:o.Size()] }

// termAt returns the term Text[at:at+size]. Eight more bytes of capacity must follow it.
func (t *Terms) termAt(at, size int) One {
	prefix := binary.LittleEndian.Uint64(t.Text[at : at+8 : cap(t.Text)])
	if size < 8 {
		prefix &= 1<<(8*size) - 1
	}
	return One{prefix, uint32(at), uint32(size)}
}

// Set sets t to the terms of a text as Split writes it.
func (t *Terms) Set(text []byte) {
	t.Text, t.All = append(t.Text[:0], text...), t.All[:0]
	if len(text) > 0 {
		t.addFrom(0)
	}
}

// addFrom adds the terms of Text from start on, where one begins, to All.
func (t *Terms) addFrom(start int) {
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

// termLen returns how many of eight bytes precede the first separator.
func termLen(b uint64) int {
	return bits.TrailingZeros64((b-ones*(' '+1))&^b&high) >> 3
}

// Constants for operating on eight bytes at a time (SWAR).
const (
	ones = 0x0101010101010101
	high = ones << 7
)
