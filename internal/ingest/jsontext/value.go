// Package jsontext reads JSON as programs log it, in place: a value ([Parse]), a value on each line ([Objects]), the elements of an array
// ([Elements]) and the members of an object ([Members]), of any length, torn or bad. A [Value] knows where it lies in the file, keeps
// numbers exact and copies nothing until somebody asks for a string. It also has the [Lines] of any text.
package jsontext

import (
	"bytes"
	"fmt"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Value is one JSON value of a document, from Parse, ParseStart, Objects or Elements; the zero Value is "absent". It is valid as
// long as the parsed bytes are unchanged, and one that came with an Object until the next Object.
//
// Reading values allocates nothing, except where a Go string is made: Str, Text and AllStrings copy.
type Value struct {
	doc *document
	at  uint32 // index of its node
}

// SyntaxError says where bytes stop being valid JSON. Reason never quotes them.
type SyntaxError struct {
	Offset int64 // bytes from the start of what was parsed
	Reason string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("offset %d: %s", e.Offset, e.Reason)
}

// Parse checks that b is exactly one JSON value (RFC 8259, at most MaxDepth deep, with at most MaxValues values) and
// returns it. The error is a *SyntaxError. Like encoding/json it accepts invalid UTF-8 in strings and unpaired escaped
// surrogates; Str replaces both with U+FFFD.
func Parse(b []byte) (Value, error) {
	d := newDocument(b)
	if at, reason := d.parse(b); reason != "" {
		return Value{}, &SyntaxError{Offset: int64(at), Reason: reason}
	}
	return Value{doc: d}, nil
}

// ParseStart is Parse for a document that may be truncated: it returns the value as far as b is valid JSON.
// The value is absent if b does not begin with one.
func ParseStart(b []byte) Value {
	v, _ := ParsePrefix(b)
	return v
}

// ParsePrefix is ParseStart with the error of Parse.
func ParsePrefix(b []byte) (Value, error) {
	d := newDocument(b)
	at, reason := d.parse(b)
	if reason == "" {
		return Value{doc: d}, nil
	}
	err := &SyntaxError{Offset: int64(at), Reason: reason}
	if len(d.nodes) == 0 {
		return Value{}, err
	}
	d.closeOpenNodes()
	return Value{doc: d}, err
}

// newDocument returns a document for b alone.
func newDocument(b []byte) *document {
	return &document{singleUse: true, nodes: make([]node, 0, min(4+len(b)/32, 1024))}
}

func (v Value) node() *node { return &v.doc.nodes[v.at] }

// Exists reports whether there is a value; null is one.
func (v Value) Exists() bool { return v.doc != nil }

// Raw returns the bytes of the value in the original, nil if it is absent. They must not be changed.
func (v Value) Raw() []byte {
	if v.doc == nil {
		return nil
	}
	n := v.node()
	return v.doc.bytes[n.start:n.end]
}

// Body returns the bytes of a string between its quotes, as they are written; nil for any other type. They must not be changed. What
// ParseStart has of a string that is cut is no exact part of it.
func (v Value) Body() []byte {
	if !v.IsString() {
		return nil
	}
	return v.doc.body(v.node())
}

// Len returns the length of the value in the original, in bytes; 0 if it is absent.
func (v Value) Len() int {
	if v.doc == nil {
		return 0
	}
	n := v.node()
	return int(n.end - n.start)
}

// IsDataURL reports whether v is a string with a base64 data URL.
func (v Value) IsDataURL() bool {
	raw := v.Raw()
	return bytes.HasPrefix(raw, []byte(`"data:`)) && bytes.Contains(raw[:min(len(raw), 100)], []byte(";base64,"))
}

// IsBase64 reports whether v is a string of 64 bytes or more that looks like base64: a file or a signature and not text. It looks at the first KiB.
func (v Value) IsBase64() bool {
	if !v.IsString() || v.Len() < 64+len(`""`) {
		return false
	}
	body := v.Body()
	for _, c := range body[:min(len(body), 1024)] {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && c-'0' > 9 && c != '+' && c != '/' && c != '=' && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// IsBlank reports whether v is no string, or one of white space only.
func (v Value) IsBlank() bool {
	if !v.IsString() {
		return true
	}
	for _, c := range v.Body() {
		switch {
		case c == ' ':
		case c == '\\' || c >= utf8.RuneSelf: // may be white space, too
			return strings.TrimSpace(v.Str()) == ""
		default:
			return false
		}
	}
	return true
}

// Clone returns a copy of the value with its own bytes.
func (v Value) Clone() Value {
	if v.doc == nil {
		return Value{}
	}
	own, _ := Parse(bytes.Clone(v.Raw()))
	return own
}

// Type returns the type of the value as a byte: '{', '[', '"', '0' for numbers, 't', 'f', 'n' for null, and 0 for an
// absent value.
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

// Fields yields the members of an object in order, with decoded keys, duplicates included; it yields nothing for other types.
func (v Value) Fields() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		if !v.IsObject() {
			return
		}
		d, end := v.doc, v.node().next()
		for i := v.at + 1; i+1 < end; {
			key := i
			i = d.nodes[key+1].next()
			if !yield(d.intern(key), Value{d, key + 1}) {
				return
			}
		}
	}
}

// Items yields the elements of an array in order; it yields nothing for other types.
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

// Numbered yields the elements of an array with their numbers, from 0; it yields nothing for other types.
func (v Value) Numbered() iter.Seq2[int, Value] {
	return func(yield func(int, Value) bool) {
		n := 0
		for item := range v.Items() {
			if !yield(n, item) {
				return
			}
			n++
		}
	}
}

// HasItems reports whether v is an array with elements.
func (v Value) HasItems() bool { return v.IsArray() && v.at+1 < v.node().next() }

// Get follows keys into nested objects. It returns an absent value if a key is absent or a value on the path is no object. Of
// duplicate keys the last one wins, as in most parsers.
func (v Value) Get(path ...string) Value {
	for _, key := range path {
		if !v.IsObject() {
			return Value{}
		}
		d, end, found := v.doc, v.node().next(), Value{}
		for i := v.at + 1; i+1 < end; i = d.nodes[i+1].next() {
			if d.keyIs(i, key) {
				found = Value{d, i + 1}
			}
		}
		v = found
	}
	return v
}

// First returns the first of several members that is present and not null, an absent value if there is none.
func (v Value) First(keys ...string) Value {
	for _, key := range keys {
		if m := v.Get(key); !m.IsNull() {
			return m
		}
	}
	return Value{}
}

// Is reports whether v is the string s, written without escapes. s must not need any.
func (v Value) Is(s string) bool {
	raw := v.Raw()
	return len(raw) == len(s)+2 && raw[0] == '"' && string(raw[1:len(raw)-1]) == s && v.node().nextAndFlags&isEscaped == 0
}

// Str returns the decoded string, "" for any other type. Unpaired surrogates and invalid UTF-8 become U+FFFD.
func (v Value) Str() string {
	if !v.IsString() {
		return ""
	}
	n := v.node()
	if n.nextAndFlags&(isEscaped|isWide) == 0 {
		return string(v.doc.body(n))
	}
	return Build(func(b []byte) []byte { return v.doc.appendString(b, v.at) })
}

// Word is Str for fields with few distinct values, such as types and roles: it interns the strings.
func (v Value) Word() string {
	if !v.IsString() {
		return ""
	}
	return v.doc.intern(v.at)
}

// Inside returns the JSON value in a string, absent if the string is no JSON. It is valid, and takes memory, as long as the string.
func (v Value) Inside() Value {
	if !v.IsString() {
		return Value{}
	}
	outer := v.doc
	if outer.innerUsed == len(outer.inner) {
		outer.inner = append(outer.inner, new(document))
	}
	d := outer.inner[outer.innerUsed]
	outer.innerUsed++
	d.innerBytes = outer.appendString(d.innerBytes[:0], v.at)
	if _, reason := d.parse(d.innerBytes); reason != "" {
		return Value{}
	}
	return Value{doc: d}
}

// Unwrap returns the JSON value in a string, and v itself if that is none: programs write the input of tools either way. See Inside.
func (v Value) Unwrap() Value {
	if inside := v.Inside(); inside.Exists() {
		return inside
	}
	return v
}

// UnwrapContainer is Unwrap for objects and arrays: a number or a word in a string is text. Text that does not begin as
// one takes no memory.
func (v Value) UnwrapContainer() Value {
	body := bytes.TrimLeft(v.Body(), " ")
	if len(body) == 0 || body[0] != '{' && body[0] != '[' && body[0] != '\\' {
		return v
	}
	if inside := v.Inside(); inside.IsObject() || inside.IsArray() {
		return inside
	}
	return v
}

// Time parses a string as timestamp.Parse does.
func (v Value) Time() transcript.Time {
	if !v.IsString() || v.node().nextAndFlags&isEscaped != 0 {
		return timestamp.Parse(v.Str())
	}
	return timestamp.Parse(string(v.doc.body(v.node())))
}

// Text returns Str for a string, "" for null and absent, and the raw JSON for anything else.
func (v Value) Text() string {
	switch v.Type() {
	case '"':
		return v.Str()
	case 0, 'n':
		return ""
	}
	return string(v.Raw())
}

// Bool returns true and false as Yes and No, and anything else as Unstated.
func (v Value) Bool() transcript.Truth {
	switch v.Type() {
	case 't':
		return transcript.Yes
	case 'f':
		return transcript.No
	}
	return transcript.Unstated
}
