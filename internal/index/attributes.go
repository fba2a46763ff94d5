package index

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/txarchive/txarchive/internal/transcript"
)

// NativeID is the producer's id of an event. Most are UUIDs, which are stored as 16 bytes instead of text.
type NativeID struct {
	UUID   [16]byte // or the hash of an id that is too long
	IsUUID bool
	Text   string // "" for a UUID, and where there is no id
}

// uuidPlaces are the ranges of a UUID's digits in its text.
var uuidPlaces = [...]struct{ from, to int }{{0, 8}, {9, 13}, {14, 18}, {19, 23}, {24, 36}}

// maxNativeID is longer, in bytes, than the ids that programs write.
const maxNativeID = 512

// ParseNativeID recognises UUIDs in their canonical lower-case form. Everything else is text, unless it is too long: each row of an event
// has its id, so a file with a large one would have an index of many times its size.
func ParseNativeID(s string) (id NativeID) {
	if len(s) > maxNativeID {
		sum := sha256.Sum256([]byte(s))
		return NativeID{UUID: [16]byte(sum[:]), IsUUID: true}
	}
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return NativeID{Text: s}
	}
	var digits [32]byte
	at := digits[:0]
	for _, p := range uuidPlaces {
		at = append(at, s[p.from:p.to]...)
	}
	for _, c := range digits {
		if 'A' <= c && c <= 'F' {
			return NativeID{Text: s}
		}
	}
	if _, err := hex.Decode(id.UUID[:], digits[:]); err != nil {
		return NativeID{Text: s}
	}
	id.IsUUID = true
	return id
}

// Scene is the context that an event states; "" where it states none. Many events have equal ones.
type Scene struct{ Agent, Model, Flow, Step string }

// AppendAttributes appends attributes as JSON, byte for byte as encoding/json writes them.
func AppendAttributes(b []byte, a transcript.Attributes) ([]byte, error) {
	if len(a) == 0 {
		return append(b, "{}"...), nil
	}
	var stack [16]string
	keys := stack[:0]
	for key := range a {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	begin := len(b)
	for _, key := range keys {
		var err error
		b = append(AppendString(append(b, ','), key), ':')
		if b, err = appendValue(b, a[key]); err != nil {
			return nil, err
		}
	}
	b[begin] = '{'
	return append(b, '}'), nil
}

// AppendString appends s as a JSON string. Most are short and need no escapes.
func AppendString(b []byte, s string) []byte {
	if isPlain(s) {
		return append(append(append(b, '"'), s...), '"')
	}
	j, _ := json.Marshal(s) // never fails for a string
	return append(b, j...)
}

func appendValue(b []byte, value any) ([]byte, error) {
	switch v := value.(type) {
	case int64:
		return strconv.AppendInt(b, v, 10), nil
	case bool:
		return strconv.AppendBool(b, v), nil
	case string:
		return AppendString(b, v), nil
	}
	j, err := json.Marshal(value)
	return append(b, j...), err
}

// AppendJSON appends a value as JSON, null for what JSON cannot represent.
func AppendJSON(b []byte, value any) []byte {
	if out, err := appendValue(b, value); err == nil {
		return out
	}
	return append(b, "null"...)
}

// isPlain reports whether encoding/json writes s without escapes.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			return false
		}
	}
	return true
}
