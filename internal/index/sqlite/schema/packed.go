package schema

import (
	"encoding/binary"
	"fmt"

	"github.com/txarchive/txarchive/internal/index"
)

// errWords is the error for bytes that no Packer wrote.
var errWords = fmt.Errorf("%w: not a block of words", index.ErrDamaged)

// nibble is the greatest value of half a byte. A greater or equal length continues as a uvarint.
const nibble = 15

// maxWords bounds the unpacked size of a block in bytes.
const maxWords = 1 << 20

// Packer packs ascending words into a block with front coding: for each word the length of the prefix it shares with the
// word before and the length of the rest, half a byte each, and the rest. Compressing blocks would save a third more, but
// decompression would take longer than searching does.
type Packer struct {
	packed, last []byte
	size         int
}

// Add adds the next word, which must not contain a line feed.
func (p *Packer) Add(word []byte) {
	n := 0
	for n < len(word) && n < len(p.last) && word[n] == p.last[n] {
		n++
	}
	p.packed = append(p.packed, byte(min(n, nibble)<<4|min(len(word)-n, nibble)))
	for _, length := range [...]int{n, len(word) - n} {
		if length >= nibble {
			p.packed = binary.AppendUvarint(p.packed, uint64(length-nibble))
		}
	}
	p.packed = append(p.packed, word[n:]...)
	p.last = append(p.last[:0], word...)
	p.size += len(word) + 1
}

// Size returns the unpacked size of the words added since the last Take, each with a line feed.
func (p *Packer) Size() int { return p.size }

// Take appends the block of these words to to, and begins the next block.
func (p *Packer) Take(to []byte) []byte {
	to = append(binary.AppendUvarint(to, uint64(p.size)), p.packed...)
	p.packed, p.last, p.size = p.packed[:0], p.last[:0], 0
	return to
}

// copyBytes is how many bytes of a word are copied unconditionally: two registers.
const copyBytes = 16

// wordCursor iterates over the words of a block, in order.
type wordCursor struct {
	packed  []byte // not read yet
	size    int    // unpacked size of the words not read yet, each with a line feed
	word    []byte // buffer with the current word at its start
	length  int    // of the current word
	shared  int    // length of the prefix shared with the word before
	corrupt bool
}

// newWordCursor returns a cursor before the first word of a block.
func newWordCursor(block []byte) wordCursor {
	size, n := binary.Uvarint(block)
	if n <= 0 || size > maxWords {
		return wordCursor{corrupt: true}
	}
	return wordCursor{packed: block[n:], size: int(size), word: make([]byte, 256)}
}

// next advances to the next word.
func (w *wordCursor) next() bool {
	p := w.packed
	if len(p) <= copyBytes || len(w.word) < 2*nibble+copyBytes {
		return w.nextSlow()
	}
	n, m := int(p[0]>>4), int(p[0]&nibble)
	if n == nibble || m == nibble || n > w.length || n+m >= w.size {
		return w.nextSlow()
	}
	a, b := binary.LittleEndian.Uint64(p[1:]), binary.LittleEndian.Uint64(p[9:])
	binary.LittleEndian.PutUint64(w.word[n:], a)
	binary.LittleEndian.PutUint64(w.word[n+8:], b)
	w.packed, w.shared, w.length = p[1+m:], n, n+m
	w.size -= n + m + 1
	return true
}

// nextEnding advances to the next word that may have e among its own bytes, which are those not shared with the word
// before it, or that has at least long bytes. It skips other words after little more than reading their lengths.
func (w *wordCursor) nextEnding(e bytePair, long int) bool {
	p, word, length, size := w.packed, w.word, w.length, w.size
	for len(p) > copyBytes && len(word) >= 2*nibble+copyBytes {
		n, m := int(p[0]>>4), int(p[0]&nibble)
		if n == nibble || m == nibble || n > length || n+m >= size {
			break
		}
		a, b := binary.LittleEndian.Uint64(p[1:]), binary.LittleEndian.Uint64(p[9:])
		binary.LittleEndian.PutUint64(word[n:], a)
		binary.LittleEndian.PutUint64(word[n+8:], b)
		p, length = p[1+m:], n+m
		size -= length + 1
		if e.mayEndIn(a, b, m) || length >= long {
			w.packed, w.length, w.size, w.shared = p, length, size, n
			return true
		}
	}
	w.packed, w.length, w.size = p, length, size
	return w.nextSlow()
}

// nextSlow is next for words of any length and at the end of the block.
func (w *wordCursor) nextSlow() bool {
	if len(w.packed) == 0 {
		w.corrupt = w.corrupt || w.size != 0
		return false
	}
	n, m := int(w.packed[0]>>4), int(w.packed[0]&nibble)
	n, rest, ok := readLength(n, w.packed[1:])
	if ok {
		m, rest, ok = readLength(m, rest)
	}
	if !ok || n > w.length || m > len(rest) || n+m >= w.size {
		w.packed, w.corrupt = nil, true
		return false
	}
	if need := n + m + copyBytes; need > len(w.word) {
		w.word = append(make([]byte, 0, 2*need), w.word[:n]...)
		w.word = w.word[:cap(w.word)]
	}
	copy(w.word[n:], rest[:m])
	w.packed, w.shared, w.length = rest[m:], n, n+m
	w.size -= n + m + 1
	return true
}

// err returns the error of a corrupt block.
func (w *wordCursor) err() error {
	if w.corrupt {
		return errWords
	}
	return nil
}

// readLength returns a length whose first half-byte was read, and the bytes after it.
func readLength(length int, from []byte) (int, []byte, bool) {
	if length < nibble {
		return length, from, true
	}
	more, n := binary.Uvarint(from)
	if n <= 0 || more > maxWords {
		return 0, nil, false
	}
	return length + int(more), from[n:], true
}

// bytePair is two consecutive bytes, each repeated eight times for comparison in a register. first is 0 when there is
// only one byte.
type bytePair struct{ first, last uint64 }

const (
	eachByte = 0x0101010101010101
	eachHigh = 0x8080808080808080
)

// endOf returns the last two bytes of a text.
func endOf(text []byte) bytePair {
	e := bytePair{last: uint64(text[len(text)-1]) * eachByte}
	if len(text) > 1 {
		e.first = uint64(text[len(text)-2]) * eachByte
	}
	return e
}

// mayEndIn reports whether the pair may end within the first n bytes of a and b. The byte before the first of them is
// unknown and matches.
func (e bytePair) mayEndIn(a, b uint64, n int) bool {
	x, y := zeros(a^e.last), zeros(b^e.last)
	if e.first != 0 {
		before, above := zeros(a^e.first), zeros(b^e.first)
		x &= before<<8 | 0x80
		y &= above<<8 | before>>56
	}
	return x<<(64-8*min(n, 8))|y<<(128-8*max(n, 8)) != 0
}

// zeros sets the high bit of each byte of x that is zero, and possibly of some bytes above such a byte.
func zeros(x uint64) uint64 { return (x - eachByte) &^ x & eachHigh }
