package index

import (
	"crypto/sha256"
	"encoding/binary"
)

// Hash is the 64-bit identity of a sequence of strings: the first bytes of SHA-256 over each with its length,
// so that it is the same on every machine and no two sequences run together.
func Hash(parts ...string) int64 {
	return int64(sum(parts))
}

const idAlphabet = "0123456789abcdefghjkmnpqrstvwxyz" // Crockford's base 32, without letters that look like digits

// PublicID is a short name made of prefix and twelve letters (60 bits) of the hash of parts.
func PublicID(prefix string, parts ...string) string {
	n := sum(parts)
	b := make([]byte, 0, len(prefix)+12)
	b = append(b, prefix...)
	for i := range 12 {
		b = append(b, idAlphabet[n>>(59-5*i)&31])
	}
	return string(b)
}

func sum(parts []string) uint64 {
	var stack [256]byte
	b := stack[:0]
	for _, p := range parts {
		b = binary.AppendUvarint(b, uint64(len(p)))
		b = append(b, p...)
	}
	s := sha256.Sum256(b)
	return binary.BigEndian.Uint64(s[:])
}
