package format

import (
	"bytes"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/txarchive/txarchive/internal/transcript"
)

// Value is one JSON value of a document, from ParseJSON, ParseStart or Objects; the zero Value is "absent". It lives as long as
// the bytes that were parsed, and one that came with an Object until the next.
//
// The zero allocations that reading costs end where a Go string is asked for: Str, Text and AllStrings copy.
type Value struct {
	doc *document
	at  uint32 // its node
}

// SyntaxError says where bytes stop being JSON. Reason never quotes them.
type SyntaxError struct {
	Offset int64 // bytes from the start of what was parsed
	Reason string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("offset %d: %s", e.Offset, e.Reason)
}

// ParseJSON checks that b is exactly one JSON value (RFC 8259, at most MaxDepth deep, with at most MaxValues values) and
// gives it without the space around it. The error is a *SyntaxError. Like encoding/json it accepts bytes in strings that are no
// UTF-8 and escaped surrogates that stand alone; Str turns both into U+FFFD.
func ParseJSON(b []byte) (Value, error) {
	d := &document{once: true, nodes: make([]node, 0, min(4+len(b)/32, 1024))}
	if at, reason := d.parse(b); reason != "" {
		return Value{}, &SyntaxError{Offset: int64(at), Reason: reason}
	}
	return Value{doc: d}, nil
}

// ParseStart gives what ParseJSON would as far as b is JSON: of a document that is cut off, what stands before the cut.
// It is absent when b does not begin with a value.
func ParseStart(b []byte) Value {
	d := &document{once: true}
	if d.parse(b); len(d.nodes) == 0 {
		return Value{}
	}
	d.cut()
	return Value{doc: d}
}

func (v Value) node() *node { return &v.doc.nodes[v.at] }

// Exists reports whether there is a value, be it null.
func (v Value) Exists() bool { return v.doc != nil }

// Raw gives the value as its original wrote it, without surrounding space; nil when absent. It must not be changed.
func (v Value) Raw() []byte {
	if v.doc == nil {
		return nil
	}
	n := v.node()
	return v.doc.bytes[n.start:n.end]
}

// Len gives the bytes that the value takes in its original, 0 when absent.
func (v Value) Len() int {
	if v.doc == nil {
		return 0
	}
	n := v.node()
	return int(n.end - n.start)
}

// Offset gives where the value begins in what was parsed, in bytes. An absent value must not be asked.
func (v Value) Offset() int64 { return int64(v.node().start) }

// OffsetIn gives where the value begins in a file that ends with what was parsed, in bytes.
func (v Value) OffsetIn(file []byte) int64 {
	if v.doc == nil {
		return 0
	}
	return int64(len(file)-len(v.doc.bytes)) + v.Offset()
}

// IsDataURL reports whether v is a string with a file in it.
func (v Value) IsDataURL() bool {
	raw := v.Raw()
	return bytes.HasPrefix(raw, []byte(`"data:`)) && bytes.Contains(raw[:min(len(raw), 100)], []byte(";base64,"))
}

// IsBase64 reports whether v is a string of 64 bytes or more that looks like base64: a file, a signature, nothing that was said.
func (v Value) IsBase64() bool {
	if !v.IsString() || v.Len() < 64+len(`""`) {
		return false
	}
	body := v.Raw()[1 : v.Len()-1]
	for _, c := range body[:min(len(body), 1024)] {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && c-'0' > 9 && c != '+' && c != '/' && c != '=' && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// IsBlank reports whether v is no string, or one of nothing but space.
func (v Value) IsBlank() bool {
	if !v.IsString() {
		return true
	}
	for _, c := range v.Raw()[1 : v.Len()-1] {
		switch {
		case c == ' ':
		case c == '\\' || c >= utf8.RuneSelf: // may be space as well
			return strings.TrimSpace(v.Str()) == ""
		default:
			return false
		}
	}
	return true
}

// Clone gives a value that lives by itself.
func (v Value) Clone() Value {
	if v.doc == nil {
		return Value{}
	}
	own, _ := ParseJSON(bytes.Clone(v.Raw()))
	return own
}

// Type gives the kind of value by one letter: '{', '[', '"', '0' for numbers, 't', 'f', 'n' for null, 0 when
// absent.
func (v Value) Type() byte {
	if v.doc == nil {
		return 0
	}
	switch c := v.doc.bytes[v.node().start]; c {
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
		if !v.IsObject() {
			return
		}
		d, end := v.doc, v.node().next()
		for i := v.at + 1; i+1 < end; {
			key := i
			i = d.nodes[key+1].next()
			if !yield(d.name(key), Value{d, key + 1}) {
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
		d, end := v.doc, v.node().next()
		for i := v.at + 1; i < end; {
			item := i
			i = d.nodes[item].next()
			if !yield(Value{d, item}) {
				return
			}
		}
	}
}

// Get follows keys into objects. It gives an absent value where a key is absent or something on the way is no object; of
// duplicate keys the last wins, as in most readers.
func (v Value) Get(path ...string) Value {
	for _, key := range path {
		if !v.IsObject() {
			return Value{}
		}
		d, end, found := v.doc, v.node().next(), Value{}
		for i := v.at + 1; i+1 < end; i = d.nodes[i+1].next() {
			if d.isNamed(i, key) {
				found = Value{d, i + 1}
			}
		}
		v = found
	}
	return v
}

// Is reports whether v is this string, which has nothing to escape, and is written without escapes.
func (v Value) Is(s string) bool {
	raw := v.Raw()
	return len(raw) == len(s)+2 && raw[0] == '"' && string(raw[1:len(raw)-1]) == s && v.node().what&isEscaped == 0
}

// Str gives the decoded string, "" for any other type. Lone surrogates and invalid UTF-8 become U+FFFD.
func (v Value) Str() string {
	if !v.IsString() {
		return ""
	}
	n := v.node()
	if n.what&(isEscaped|isWide) == 0 {
		return string(v.doc.body(n))
	}
	return Build(func(b []byte) []byte { return v.doc.appendString(b, v.at) })
}

// Word is Str for what a few values are written with again and again, as types and roles are: their strings are made once.
func (v Value) Word() string {
	if !v.IsString() {
		return ""
	}
	return v.doc.name(v.at)
}

// Inside gives the JSON that a string holds; absent for what is none. It lives, and takes room, as long as the string.
func (v Value) Inside() Value {
	if !v.IsString() {
		return Value{}
	}
	outer := v.doc
	if outer.used == len(outer.inside) {
		outer.inside = append(outer.inside, new(document))
	}
	d := outer.inside[outer.used]
	outer.used++
	d.own = outer.appendString(d.own[:0], v.at)
	if _, reason := d.parse(d.own); reason != "" {
		return Value{}
	}
	return Value{doc: d}
}

// Time reads a string as Time does.
func (v Value) Time() transcript.Time {
	if !v.IsString() || v.node().what&isEscaped != 0 {
		return Time(v.Str())
	}
	return Time(string(v.doc.body(v.node())))
}

// UnixTime reads a number of seconds since 1970, with or without decimals, as UnixSeconds does.
func (v Value) UnixTime() transcript.Time {
	n, _, _ := v.scaled(9)
	return UnixNano(n)
}

// Text gives Str for a string, "" for null and absent, and the raw JSON of anything else.
func (v Value) Text() string {
	switch v.Type() {
	case '"':
		return v.Str()
	case 0, 'n':
		return ""
	}
	return string(v.Raw())
}

// Int gives an integer, also when written as 12.0 or 1e3; 0 and false for other types, fractions and numbers that
// do not fit.
func (v Value) Int() (int64, bool) {
	if n, ok := digits(v.Raw()); ok {
		return n, true
	}
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
	f, err := strconv.ParseFloat(string(v.Raw()), 64)
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
	if !v.Exists() {
		return dst
	}
	d := v.doc
	nodes := d.nodes[v.at:v.node().next()]
	for i := range nodes {
		n := &nodes[i]
		if n.what&isKey != 0 || n.end-n.start <= 2 || d.bytes[n.start] != '"' {
			continue
		}
		if len(dst) > 0 {
			dst = append(dst, '\n')
		}
		dst = d.appendString(dst, v.at+uint32(i))
	}
	return dst
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

// OffsetIn gives the byte offset of inner in the outer value that it is a part of, -1 when it is not.
func OffsetIn(outer, inner Value) int64 {
	if outer.doc == nil || outer.doc != inner.doc || inner.at < outer.at || inner.at >= outer.node().next() {
		return -1
	}
	return inner.Offset() - outer.Offset()
}
