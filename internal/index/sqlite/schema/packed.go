package schema

import (
	"encoding/binary"
	"fmt"

	"github.com/txarchive/txarchive/internal/index"
)

// errWords is what a walker gives for bytes that no Packer has written.
var errWords = fmt.Errorf("%w: not a block of words", index.ErrDamaged)

// nibble is what half a byte holds: a length that does not go into it goes on as a uvarint.
const nibble = 15

// maxWords is how many bytes the words of a block may take.
const maxWords = 1 << 20

// Packer packs words that ascend into a block: of each, how many bytes it shares with the one before and how many follow, half
// a byte for either, and those bytes. To compress that would save a third more, and take longer to undo than to look through.
type Packer struct {
	packed, last []byte
	size         int
}

// Add takes the next word, which has no line feed.
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

// Size is how many bytes the words take that were added since the last Take, each with a line feed.
func (p *Packer) Size() int { return p.size }

// Take appends the block of these words, and begins the next.
func (p *Packer) Take(to []byte) []byte {
	to = append(binary.AppendUvarint(to, uint64(p.size)), p.packed...)
	p.packed, p.last, p.size = p.packed[:0], p.last[:0], 0
	return to
}

// copyBytes is how many bytes of a word are copied, however short it is: two registers.
const copyBytes = 16

// wordCursor walks the words of a block, in order.
type wordCursor struct {
	packed  []byte // what is left
	size    int    // of the words that are left, each with a line feed
	word    []byte // the present one, with room behind it
	length  int    // of it
	shared  int    // what it has in common with the one before it
	corrupt bool
}

// newWordCursor begins with a block that a Packer has written.
func newWordCursor(block []byte) wordCursor {
	size, n := binary.Uvarint(block)
	if n <= 0 || size > maxWords {
		return wordCursor{corrupt: true}
	}
	return wordCursor{packed: block[n:], size: int(size), word: make([]byte, 256)}
}

// next goes to the next word.
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

// nextEnding goes to the next word that may have an end among its own bytes, which are those that it does not share with the word
// before it, or has at least long bytes: of others hardly more is looked at than how long they are.
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

// nextSlow is next for words of any length, and at the end.
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

// err is what was wrong with the block.
func (w *wordCursor) err() error {
	if w.corrupt {
		return errWords
	}
	return nil
}

// readLength reads what of a length did not go into half a byte.
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

// bytePair is two bytes that follow each other, each eight times. The first one is 0 when there is none.
type bytePair struct{ first, last uint64 }

const (
	eachByte = 0x0101010101010101
	eachHigh = 0x8080808080808080
)

// endOf is the last two bytes of a text.
func endOf(text []byte) bytePair {
	e := bytePair{last: uint64(text[len(text)-1]) * eachByte}
	if len(text) > 1 {
		e.first = uint64(text[len(text)-2]) * eachByte
	}
	return e
}

// mayEndIn says whether the pair may end in the first n bytes of a and b. What stands before the first of them is not known.
func (e bytePair) mayEndIn(a, b uint64, n int) bool {
	x, y := zeros(a^e.last), zeros(b^e.last)
	if e.first != 0 {
		before, above := zeros(a^e.first), zeros(b^e.first)
		x &= before<<8 | 0x80
		y &= above<<8 | before>>56
	}
	return x<<(64-8*min(n, 8))|y<<(128-8*max(n, 8)) != 0
}

// zeros has the high bit of each byte that is zero, and maybe of some above one.
func zeros(x uint64) uint64 { return (x - eachByte) &^ x & eachHigh }
