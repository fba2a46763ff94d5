package blobtest

import (
	"bytes"
	"math/rand/v2"
	"slices"

	"github.com/txarchive/txarchive/internal/blob"
)

// Corruption is one way to damage a pack. It returns the bytes of the file, nil for none.
type Corruption struct {
	Name string
	Do   func(r *rand.Rand, data []byte, m []blob.Member, other []byte) []byte
}

// Corruptions are all ways to damage a pack. Each may modify d; other is another pack.
var Corruptions = []Corruption{
	{"flip a bit", func(r *rand.Rand, d []byte, _ []blob.Member, _ []byte) []byte {
		d[r.IntN(len(d))] ^= 1 << r.IntN(8)
		return d
	}},
	{"zero a range", func(r *rand.Rand, d []byte, _ []blob.Member, _ []byte) []byte {
		from, to := span(r, len(d))
		clear(d[from:to])
		return d
	}},
	{"scramble a range", func(r *rand.Rand, d []byte, _ []blob.Member, _ []byte) []byte {
		from, to := span(r, len(d))
		for i := from; i < to; i++ {
			d[i] = byte(r.Uint32())
		}
		return d
	}},
	{"truncate", func(r *rand.Rand, d []byte, _ []blob.Member, _ []byte) []byte { return d[:r.IntN(len(d))] }},
	{"append", func(r *rand.Rand, d []byte, _ []blob.Member, other []byte) []byte {
		return append(d, other[:1+r.IntN(len(other))]...)
	}},
	{"drop bytes", func(r *rand.Rand, d []byte, _ []blob.Member, _ []byte) []byte {
		from, to := span(r, len(d))
		return slices.Delete(d, from, to)
	}},
	{"double bytes", func(r *rand.Rand, d []byte, _ []blob.Member, _ []byte) []byte {
		from, to := span(r, len(d))
		return slices.Insert(d, from, bytes.Clone(d[from:to])...)
	}},
	{"swap two ranges", func(r *rand.Rand, d []byte, _ []blob.Member, _ []byte) []byte {
		n := 1 + r.IntN(min(300, len(d)/2))
		a, b := r.IntN(len(d)-n), r.IntN(len(d)-n)
		saved := bytes.Clone(d[a : a+n])
		copy(d[a:a+n], d[b:b+n])
		copy(d[b:b+n], saved)
		return d
	}},
	{"drop a member", func(r *rand.Rand, d []byte, m []blob.Member, _ []byte) []byte {
		one := m[r.IntN(len(m))]
		return slices.Delete(d, int(one.Offset), int(one.Offset+one.Size))
	}},
	{"double a member", func(r *rand.Rand, d []byte, m []blob.Member, _ []byte) []byte {
		one := m[r.IntN(len(m))]
		return slices.Insert(d, int(one.Offset), bytes.Clone(d[one.Offset:one.Offset+one.Size])...)
	}},
	{"swap two members", func(r *rand.Rand, d []byte, m []blob.Member, _ []byte) []byte {
		i, j := r.IntN(len(m)), r.IntN(len(m))
		a, b := m[min(i, j)], m[max(i, j)]
		if a == b {
			return d
		}
		end := b.Offset + b.Size
		return slices.Concat(d[:a.Offset], d[b.Offset:end], d[a.Offset+a.Size:b.Offset], d[a.Offset:a.Offset+a.Size], d[end:])
	}},
	{"put a member of another pack in", func(r *rand.Rand, d []byte, m []blob.Member, other []byte) []byte {
		one := m[r.IntN(len(m))]
		return slices.Concat(d[:one.Offset], other[:min(len(other), int(one.Size))], d[one.Offset+one.Size:])
	}},
	{"put another pack there", func(_ *rand.Rand, _ []byte, _ []blob.Member, other []byte) []byte { return other }},
	{"empty", func(*rand.Rand, []byte, []blob.Member, []byte) []byte { return []byte{} }},
	{"remove", func(*rand.Rand, []byte, []blob.Member, []byte) []byte { return nil }},
}

// Damage changes the eight bytes from at on, so that no member inflates to what it held. A single bit may be the distance of a
// match to another place with the same bytes, and then nothing is lost.
func Damage(data []byte, at int) {
	for i := range 8 {
		data[at+i] ^= 0xff
	}
}

// span returns a random range of 1 to 400 bytes.
func span(r *rand.Rand, n int) (from, to int) {
	from = r.IntN(n)
	return from, min(n, from+1+r.IntN(400))
}
