package index

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"
)

// Hash is the 64-bit identity of a sequence of strings: the first bytes of SHA-256 over each with its length,
// so that it is the same on every machine and no two sequences run together.
func Hash(parts ...string) int64 {
	return int64(sum(parts))
}

// EventHash is a hash in three bytes of the native id of an event, never 0: whoever finds two alike compares the ids.
func EventHash(format, id string) int64 {
	if h := Hash("event", format, id) >> 40; h != 0 {
		return h
	}
	return 1
}

const idAlphabet = "0123456789abcdefghjkmnpqrstvwxyz" // Crockford's base 32, without letters that look like digits

// PublicID is a short name made of prefix and twelve letters (60 bits) of the hash of parts.
func PublicID(prefix string, parts ...string) string {
	return WriteID(prefix, IDNumber(parts...))
}

// IDNumber is what the letters of a PublicID stand for: 60 bits, in the order of their texts.
func IDNumber(parts ...string) int64 {
	return int64(sum(parts) >> (64 - idBits))
}

// idBits is what twelve letters hold.
const idBits = 12 * 5

// WriteID is the public id of an IDNumber.
func WriteID(prefix string, n int64) string {
	b := make([]byte, 0, len(prefix)+12)
	b = append(b, prefix...)
	for i := range 12 {
		b = append(b, idAlphabet[n>>(idBits-5-5*i)&31])
	}
	return string(b)
}

// ReadID is the IDNumber of a public id. ok is false for what is none.
func ReadID(prefix, id string) (n int64, ok bool) {
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
