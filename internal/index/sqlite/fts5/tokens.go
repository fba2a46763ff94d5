package fts5

import (
	"math/bits"
	"math/rand/v2"
	"strings"
)

// separators are the ASCII characters that cut tokens: all that are neither letters nor digits nor named in the
// tokenchars option of the table. Every byte above ASCII is part of a token.
const separators = "\"'`"

const maxToken = 32768 // FTS5 cuts longer ones

const (
	inToken = 1
	upper   = 2 // to be folded
)

var classes = func() (c [256]uint8) {
	for i := range c {
		switch {
		case i <= ' ' || i == 0x7f || strings.IndexByte(separators, byte(i)) >= 0:
		case 'A' <= i && i <= 'Z':
			c[i] = inToken | upper
		default:
			c[i] = inToken
		}
	}
	return c
}()

// next returns where the first token of text at or after offset starts and stops, both equal when there is none,
// and whether it must be folded. It cuts as FTS5's ascii tokenizer does.
func next(text string, offset int) (start, stop int, folds bool) {
	for offset < len(text) && classes[text[offset]] == 0 {
		offset++
	}
	start = offset
	seen := uint8(0)
	for offset < len(text) {
		c := classes[text[offset]]
		if c == 0 {
			break
		}
		seen |= c
		offset++
	}
	return start, offset, seen&upper != 0
}

func fold(token string) string {
	b := []byte(token)
	for i, c := range b {
		if classes[c]&upper != 0 {
			b[i] = c | 0x20
		}
	}
	return string(b)
}

// seed keeps texts from being made to collide. It never reaches the index.
var seed = rand.Uint64()

// digest returns the first eight bytes of a token, big-endian so that they sort as the token does, and its hash.
// in is text that begins with the token.
func digest(in, token string) (prefix uint64, hash uint32) {
	n := len(token)
	if len(in) >= 8 {
		prefix = word(in)
		if n < 8 {
			prefix &= ^uint64(0) << (64 - 8*n)
		}
	} else {
		for i := range n {
			prefix |= uint64(token[i]) << (56 - 8*i)
		}
	}
	h := mix(prefix^uint64(n)^seed, 0x9e3779b97f4a7c15)
	for i := 8; i < n; i += 8 {
		h = mix(h^word(token[min(i, n-8):]), 0xd6e8feb86659fd93)
	}
	return prefix, uint32(h >> 32)
}

func word(s string) uint64 {
	_ = s[7]
	return uint64(s[0])<<56 | uint64(s[1])<<48 | uint64(s[2])<<40 | uint64(s[3])<<32 |
		uint64(s[4])<<24 | uint64(s[5])<<16 | uint64(s[6])<<8 | uint64(s[7])
}

func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}
