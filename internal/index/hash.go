package index

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"
)

// Hash returns a 64-bit hash of a sequence of strings: the first bytes of the SHA-256 of the strings, each prefixed by
// its length, so that it is the same on every machine and depends on where one string ends and the next begins.
func Hash(parts ...string) int64 {
	return int64(sum(parts))
}

// EventHash returns a 24-bit hash of the native id of an event, never 0. Collisions are expected: the caller must
// compare the ids of events with equal hashes.
func EventHash(format, id string) int64 {
	if h := Hash("event", format, id) >> 40; h != 0 {
		return h
	}
	return 1
}

const idAlphabet = "0123456789abcdefghjkmnpqrstvwxyz" // Crockford's base 32, without letters that look like digits

// PublicID returns an id made of prefix and twelve letters (60 bits) of the hash of parts.
func PublicID(prefix string, parts ...string) string {
	return FormatID(prefix, IDNumber(parts...))
}

// IDNumber returns the 60-bit number that the letters of a PublicID encode. Numbers order as the ids do.
func IDNumber(parts ...string) int64 {
	return int64(sum(parts) >> (64 - idBits))
}

// idBits is how many bits twelve letters encode.
const idBits = 12 * 5

// FormatID returns the public id of an IDNumber.
func FormatID(prefix string, n int64) string {
	b := make([]byte, 0, len(prefix)+12)
	b = append(b, prefix...)
	for i := range 12 {
		b = append(b, idAlphabet[n>>(idBits-5-5*i)&31])
	}
	return string(b)
}

// ParseID returns the IDNumber of a public id. ok is false when id is not one.
func ParseID(prefix, id string) (n int64, ok bool) {
	letters, ok := strings.CutPrefix(id, prefix)
	if !ok || len(letters) != idBits/5 {
		return 0, false
	}
	for i := range len(letters) {
		v := strings.IndexByte(idAlphabet, letters[i])
		if v < 0 {
			return 0, false
		}
		n = n<<5 | int64(v)
	}
	return n, true
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
