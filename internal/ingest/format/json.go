package format

import (
	"bytes"
	"fmt"
	"iter"
	"strconv"
	"sync"

	"github.com/txarchive/txarchive/internal/transcript"
)

// Value is one JSON value as its original wrote it, without surrounding space; nil is "absent". It is cut from
// a larger buffer and lives as long as that. Values come from ParseJSON and what it returned is valid JSON; the
// methods accept any other bytes as well, without panicking, and then promise nothing about what they give.
//
// The zero allocations that scanning costs end where a Go string is asked for: Str, Text and AllStrings copy.
type Value []byte

// SyntaxError says where bytes stop being JSON. Reason never quotes them.
type SyntaxError struct {
	Offset int64 // bytes from the start of what was parsed
	Reason string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("offset %d: %s", e.Offset, e.Reason)
}

// ParseJSON checks that b is exactly one JSON value (RFC 8259, at most MaxDepth deep) and gives it without the
// space around it. The error is a *SyntaxError. Like encoding/json it accepts bytes in strings that are no
// UTF-8 and escaped surrogates that stand alone; Str turns both into U+FFFD.
func ParseJSON(b []byte) (Value, error) {
	start := skipSpace(b, 0)
	end, reason := checkValue(b, start, 0)
	if reason == "" {
		if rest := skipSpace(b, end); rest < len(b) {
			end, reason = rest, "bytes after the value"
		}
	}
	if reason != "" {
		return nil, &SyntaxError{Offset: int64(end), Reason: reason}
	}
	return Value(b[start:end]), nil
}

// Type gives the kind of value by one letter: '{', '[', '"', '0' for numbers, 't', 'f', 'n' for null, 0 when
// absent.
func (v Value) Type() byte {
	if len(v) == 0 {
		return 0
	}
	switch c := v[0]; c {
	case '{', '[', '"', 't', 'f', 'n':
		return c
	default:
		return '0'
	}
}

// IsObject reports whether v is a JSON object.
func (v Value) IsObject() bool { return v.Type() == '{' }

// IsArray reports whether v is a JSON array.
func (v Value) IsArray() bool { return v.Type() == '[' }

// IsString reports whether v is a JSON string.
func (v Value) IsString() bool { return v.Type() == '"' }

// IsNull reports whether v is JSON null or absent.
func (v Value) IsNull() bool { t := v.Type(); return t == 'n' || t == 0 }

// Fields yields the members of an object in order, keys decoded, duplicates included; nothing for other types.
func (v Value) Fields() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		for m := (member{}); m.next(v); {
			if !yield(m.name(), m.value) {
				return
			}
		}
	}
}

// Items yields the elements of an array in order; nothing for other types.
func (v Value) Items() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		if !v.IsArray() {
			return
		}
		i := skipSpace(v, 1)
		for i < len(v) && v[i] != ']' {
			end := skipValue(v, i)
			if end <= i || !yield(v[i:end]) {
				return
			}
			i = skipSpace(v, end)
			if i < len(v) && v[i] == ',' {
				i = skipSpace(v, i+1)
			}
		}
	}
}

// Get follows keys into objects. It gives nil where a key is absent or something on the way is no object; of
// duplicate keys the last wins, as in most readers.
func (v Value) Get(path ...string) Value {
	for _, key := range path {
		var found Value
		for m := (member{}); m.next(v); {
			if m.is(key) {
				found = m.value
			}
		}
		if found == nil {
			return nil
		}
		v = found
	}
	return v
}

// Str gives the decoded string, "" for any other type. Lone surrogates and invalid UTF-8 become U+FFFD.
func (v Value) Str() string {
	body, plain := stringBody(v)
	if plain {
		return string(body)
	}
	return Build(func(b []byte) []byte { return appendDecoded(b, body) })
}

// Text gives Str for a string, "" for null and absent, and the raw JSON of anything else.
func (v Value) Text() string {
	switch v.Type() {
	case '"':
		return v.Str()
	case 0, 'n':
		return ""
	}
	return string(v)
}

// Int gives an integer, also when written as 12.0 or 1e3; 0 and false for other types, fractions and numbers that
// do not fit.
func (v Value) Int() (int64, bool) {
	if n, exact, ok := v.scaled(0); ok && exact {
		return n, true
	}
	return 0, false
}

// Count is Int as a Count: unknown where Int is false.
func (v Value) Count() transcript.Count {
	if n, ok := v.Int(); ok {
		return transcript.Known(n)
	}
	return transcript.Count{}
}

// Float gives a number as the nearest float64; false for other types and numbers that do not fit.
func (v Value) Float() (float64, bool) {
	if v.Type() != '0' {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(v), 64)
	return f, err == nil
}

// Bool gives true or false as a Truth, anything else as Unstated.
func (v Value) Bool() transcript.Truth {
	switch v.Type() {
	case 't':
		return transcript.Yes
	case 'f':
		return transcript.No
	}
	return transcript.Unstated
}

// NanoUSD gives a dollar amount in nano-USD, from the decimal digits and not through a float; what lies beyond
// nine decimals is rounded half away from zero. Unknown for other types and amounts that do not fit.
func (v Value) NanoUSD() transcript.Count {
	if n, _, ok := v.scaled(9); ok {
		return transcript.Known(n)
	}
	return transcript.Count{}
}

// AppendStrings appends every string value in v at any depth, decoded and in order, to dst. Keys are left out,
// empty strings too; '\n' parts one string from the next and from what dst held before.
func AppendStrings(dst []byte, v Value) []byte {
	for i := 0; ; {
		n := bytes.IndexByte(v[i:], '"')
		if n < 0 {
			return dst
		}
		start := i + n
		end := skipString(v, start)
		// A string before a colon is a key; so one linear search does, at any depth.
		i = skipSpace(v, end)
		if i < len(v) && v[i] == ':' {
			continue
		}
		body, plain := stringBody(v[start:end])
		if len(body) == 0 {
			continue
		}
		if len(dst) > 0 {
			dst = append(dst, '\n')
		}
		if plain {
			dst = append(dst, body...)
		} else {
			dst = appendDecoded(dst, body)
		}
	}
}

// AllStrings is AppendStrings as a string.
func AllStrings(v Value) string { return Build(func(b []byte) []byte { return AppendStrings(b, v) }) }

// Build makes a string of what fill appends to a buffer, which is used again for others.
func Build(fill func([]byte) []byte) string {
	b := scratch.Get().(*[]byte)
	*b = fill((*b)[:0])
	s := string(*b)
	spoil((*b)[:cap(*b)])
	if cap(*b) <= maxScratch {
		scratch.Put(b)
	}
	return s
}

const maxScratch = 1 << 20

var scratch = sync.Pool{New: func() any { return new([]byte) }}

// OffsetIn gives the byte offset of inner in the outer value that it was cut from, -1 when it was not.
func OffsetIn(outer, inner Value) int64 {
	// Values are cut without limiting their capacity, so both end where the buffer ends.
	off := cap(outer) - cap(inner)
	if len(inner) == 0 || off < 0 || off+len(inner) > len(outer) || &outer[off] != &inner[0] {
		return -1
	}
	return int64(off)
}
