package schema

import (
	"encoding/binary"
	"errors"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// ErrWords is what an Unpacker gives for bytes that no Packer has written.
var ErrWords = errors.New("not a block of words")

// nibble is what half a byte holds: a length that does not go into it goes on as a uvarint.
const nibble = 15

// maxWords is how many bytes the words of a block may take.
const maxWords = 1 << 20

// What compresses keeps tables and no state, so one serves all.
var (
	compressor = sync.OnceValues(func() (*zstd.Encoder, error) {
		return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false),
			zstd.WithWindowSize(128<<10), zstd.WithLowerEncoderMem(true))
	})
	decompressor = sync.OnceValues(func() (*zstd.Decoder, error) {
		return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(2*maxWords))
	})
)

// Packer packs words that ascend into a block: of each, how many bytes it shares with the one before and how many follow, half
// a byte for either, and apart from that those bytes, all of it compressed.
type Packer struct {
	lengths, fresh, last, plain []byte
	size                        int
}

// Add takes the next word, which has no line feed.
func (p *Packer) Add(word []byte) {
	n := 0
	for n < len(word) && n < len(p.last) && word[n] == p.last[n] {
		n++
	}
	p.lengths = append(p.lengths, byte(min(n, nibble)<<4|min(len(word)-n, nibble)))
	for _, length := range [...]int{n, len(word) - n} {
		if length >= nibble {
			p.lengths = binary.AppendUvarint(p.lengths, uint64(length-nibble))
		}
	}
	p.fresh = append(p.fresh, word[n:]...)
	p.last = append(p.last[:0], word...)
	p.size += len(word) + 1
}

// Size is how many bytes the words take that were added since the last Take, each with a line feed.
func (p *Packer) Size() int { return p.size }

// Take appends the block of these words, and begins the next.
func (p *Packer) Take(to []byte) ([]byte, error) {
	c, err := compressor()
	if err != nil {
		return to, err
	}
	p.plain = binary.AppendUvarint(p.plain[:0], uint64(p.size))
	p.plain = binary.AppendUvarint(p.plain, uint64(len(p.lengths)))
	p.plain = append(append(p.plain, p.lengths...), p.fresh...)
	p.lengths, p.fresh, p.last, p.size = p.lengths[:0], p.fresh[:0], p.last[:0], 0
	return c.EncodeAll(p.plain, to), nil
}

// Unpacker reads blocks.
type Unpacker struct{ plain, words []byte }

// Unpack returns the words of a block, each with a line feed behind it. They stand until the next block is read.
func (u *Unpacker) Unpack(block []byte) (words []byte, err error) {
	d, err := decompressor()
	if err != nil {
		return nil, err
	}
	if u.plain, err = d.DecodeAll(block, u.plain[:0]); err != nil {
		return nil, errors.Join(ErrWords, err)
	}
	size, n := binary.Uvarint(u.plain)
	if n <= 0 || size > maxWords {
		return nil, ErrWords
	}
	rest := u.plain[n:]
	lengths, n := binary.Uvarint(rest)
	if n <= 0 || lengths > uint64(len(rest)-n) {
		return nil, ErrWords
	}
	rest = rest[n:]
	if need := int(size) + copied; cap(u.words) < need {
		u.words = make([]byte, need)
	}
	if !expand(u.words[:int(size)+copied], rest[:lengths], rest[lengths:]) {
		return nil, ErrWords
	}
	return u.words[:size], nil
}

// copied is how many bytes of a short word are copied, whatever its length: two registers.
const copied = 16

// expand writes words to the beginning of to, which has room for so many bytes more, and says whether they fill the rest.
func expand(to, lengths, fresh []byte) bool {
	end := len(to) - copied
	at, last, length := 0, 0, 0 // the place of the next word; the last one
	for len(lengths) > 0 {
		n, m := int(lengths[0]>>4), int(lengths[0]&nibble)
		lengths = lengths[1:]
		if n < nibble && m < nibble && len(fresh) >= copied && n <= length && at+n+m < end {
			a, b := binary.LittleEndian.Uint64(to[last:]), binary.LittleEndian.Uint64(to[last+8:])
			binary.LittleEndian.PutUint64(to[at:], a)
			binary.LittleEndian.PutUint64(to[at+8:], b)
			a, b = binary.LittleEndian.Uint64(fresh), binary.LittleEndian.Uint64(fresh[8:])
			binary.LittleEndian.PutUint64(to[at+n:], a)
			binary.LittleEndian.PutUint64(to[at+n+8:], b)
		} else {
			var ok bool
			if n, lengths, ok = longer(n, lengths); !ok {
				return false
			}
			if m, lengths, ok = longer(m, lengths); !ok || n > length || m > len(fresh) || at+n+m >= end {
				return false
			}
			copy(to[at:], to[last:last+n])
			copy(to[at+n:], fresh[:m])
		}
		fresh = fresh[m:]
		last, length = at, n+m
		at += length
		to[at] = '\n'
		at++
	}
	return at == end && len(fresh) == 0
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
