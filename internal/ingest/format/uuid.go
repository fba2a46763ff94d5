package format

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// IsUUID reports whether s is a UUID: 32 hexadecimal digits of either case, with dashes.
func IsUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i, c := range []byte(s) {
		switch {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return false
			}
		case c-'0' > 9 && (c|0x20 < 'a' || c|0x20 > 'f'):
			return false
		}
	}
	return true
}

// TimeOfUUID returns when a UUID of version 7 was made: it begins with the milliseconds since 1970 (RFC 9562). Of any other text it is invalid.
func TimeOfUUID(id string) transcript.Time {
	if !IsUUID(id) || id[14] != '7' {
		return transcript.Time{}
	}
	ms, err := strconv.ParseInt(id[:8]+id[9:13], 16, 64)
	if err != nil {
		return transcript.Time{}
	}
	return timestamp.UnixMilli(ms)
}

// HashUUID returns an id for what is made of these texts. It has the form of a UUID, which the index stores compactly.
func HashUUID(texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	h := hex.EncodeToString(sum[:16])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// longestID is the length of the longest id that is taken as it is, in bytes.
const longestID = 256

// ShortID returns an id, or a hash of one that is longer than any program writes. What is in a message is named after it, and of a megabyte there
// would be as many copies.
func ShortID(id string) string {
	if len(id) <= longestID {
		return id
	}
	return HashUUID(id)
}
