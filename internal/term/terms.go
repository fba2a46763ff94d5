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
	Prefix     uint64 // first eight bytes, the first of them lowest, with zeros behind a shorter term
	Start, End int    // in Text
	Same       bool   // it stands in the place of the one before it
}

// Of returns the bytes of one of the terms.
func (t *Terms) Of(o *One) []byte { return t.Text[o.Start:o.End] }

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
	for same := start > 0 && text[start-1] == Same; start < n; {
		prefix := binary.LittleEndian.Uint64(text[start:])
		size := termLen(prefix)
		if size < 8 {
			prefix &= 1<<(8*size) - 1
		} else {
			for more := 8; more == 8; size += more {
				more = termLen(binary.LittleEndian.Uint64(text[start+size:]))
			}
		}
		end := start + size
		t.All = append(t.All, One{prefix, start, end, same})
		start, same = end+1, text[end] == Same
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
