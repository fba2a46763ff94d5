package schema

import (
	"encoding/binary"
	"errors"
)

// ErrWords is what an Unpacker gives for bytes that no Packer has written.
var ErrWords = errors.New("not a block of words")

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

// Unpacker reads blocks.
type Unpacker struct{ words []byte }

// Unpack returns the words of a block, each with a line feed behind it. They stand until the next block is read.
func (u *Unpacker) Unpack(block []byte) (words []byte, err error) {
	size, n := binary.Uvarint(block)
	if n <= 0 || size > maxWords {
		return nil, ErrWords
	}
	if need := int(size) + copied; cap(u.words) < need {
		u.words = make([]byte, need)
	}
	if !expand(u.words[:int(size)+copied], block[n:]) {
		return nil, ErrWords
	}
	return u.words[:size], nil
}

// copied is how many bytes of a short word are copied, whatever its length: two registers.
const copied = 16

// expand writes words to the beginning of to, which has room for so many bytes more as are copied at once, and says whether
// they fill the rest.
func expand(to, packed []byte) bool {
	end := len(to) - copied
	at, last, length := 0, 0, 0 // the place of the next word; the last one
	for len(packed) > 0 {
		n, m := int(packed[0]>>4), int(packed[0]&nibble)
		packed = packed[1:]
		if n < nibble && m < nibble && len(packed) >= copied && n <= length && at+n+m < end {
			a, b := binary.LittleEndian.Uint64(to[last:]), binary.LittleEndian.Uint64(to[last+8:])
			binary.LittleEndian.PutUint64(to[at:], a)
			binary.LittleEndian.PutUint64(to[at+8:], b)
			a, b = binary.LittleEndian.Uint64(packed), binary.LittleEndian.Uint64(packed[8:])
			binary.LittleEndian.PutUint64(to[at+n:], a)
			binary.LittleEndian.PutUint64(to[at+n+8:], b)
		} else {
			var ok bool
			if n, packed, ok = longer(n, packed); !ok {
				return false
			}
			if m, packed, ok = longer(m, packed); !ok || n > length || m > len(packed) || at+n+m >= end {
				return false
			}
			copy(to[at:], to[last:last+n])
			copy(to[at+n:], packed[:m])
		}
		packed = packed[m:]
		last, length = at, n+m
		at += length
		to[at] = '\n'
		at++
	}
	return at == end
}

// longer reads what of a length did not go into half a byte.
func longer(length int, from []byte) (int, []byte, bool) {
	if length < nibble {
		return length, from, true
	}
	more, n := binary.Uvarint(from)
	if n <= 0 || more > maxWords {
		return 0, nil, false
	}
	return length + int(more), from[n:], true
}
