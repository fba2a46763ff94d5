package fts5

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"strings"
)

// separators are the ASCII characters that cut tokens: all that are neither letters nor digits nor named in the
// tokenchars option of the table. Every byte above ASCII is part of a token.
const separators = "\"'`"

const maxToken = 32768 // FTS5 cuts longer ones

// kept marks the bytes that are part of a token and stay as they are.
var kept = func() (k [256]bool) {
	for i := range k {
		k[i] = i > ' ' && i != 0x7f && (i < 'A' || i > 'Z') && strings.IndexByte(separators, byte(i)) < 0
	}
	return k
}()

func isToken(term []byte) bool {
	for _, c := range term {
		if !kept[c] {
			return false
		}
	}
	return len(term) > 0 && len(term) <= maxToken
}

// seed keeps texts from being made to collide. It never reaches the index.
var seed = rand.Uint64()

// termDigest is what a term is looked for by.
type termDigest struct {
	prefix uint64 // first eight bytes, big-endian so that they sort as the term does
	hash   uint32
}

func digest(term []byte) (d termDigest) {
	n := len(term)
	if n >= 8 {
		d.prefix = binary.BigEndian.Uint64(term)
	} else {
		for i, c := range term {
			d.prefix |= uint64(c) << (56 - 8*i)
		}
	}
	h := mix(d.prefix^uint64(n)^seed, 0x9e3779b97f4a7c15)
	for i := 8; i < n; i += 8 {
		h = mix(h^binary.BigEndian.Uint64(term[min(i, n-8):]), 0xd6e8feb86659fd93)
	}
	d.hash = uint32(h >> 32)
	return d
}

func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}
