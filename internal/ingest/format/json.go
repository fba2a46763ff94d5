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

// Value is one JSON value of a document, from ParseJSON, ParseStart, Objects or Elements; the zero Value is "absent". It is valid as
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

// ParseJSON checks that b is exactly one JSON value (RFC 8259, at most MaxDepth deep, with at most MaxValues values) and
// returns it. The error is a *SyntaxError. Like encoding/json it accepts invalid UTF-8 in strings and unpaired escaped
// surrogates; Str replaces both with U+FFFD.
func ParseJSON(b []byte) (Value, error) {
	d := &document{singleUse: true, nodes: make([]node, 0, min(4+len(b)/32, 1024))}
	if at, reason := d.parse(b); reason != "" {
		return Value{}, &SyntaxError{Offset: int64(at), Reason: reason}
	}
	return Value{doc: d}, nil
}

// ParseStart is ParseJSON for a truncated document: it returns the value as far as b is valid JSON.
// The value is absent if b does not begin with one.
func ParseStart(b []byte) Value {
	d := &document{singleUse: true}
	if d.parse(b); len(d.nodes) == 0 {
		return Value{}
	}
	d.closeOpenNodes()
	return Value{doc: d}
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

// Offset returns the byte offset of the value in what was parsed. It panics for an absent value.
func (v Value) Offset() int64 { return int64(v.node().start) }

// OffsetIn returns the byte offset of the value in a file whose end was parsed: the whole file, or the part after its byte order mark.
func (v Value) OffsetIn(file []byte) int64 {
	if v.doc == nil {
		return 0
	}
	return int64(len(file)-len(v.doc.bytes)) + v.Offset()
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
	own, _ := ParseJSON(bytes.Clone(v.Raw()))
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

// Time parses a string with the function Time.
func (v Value) Time() transcript.Time {
	if !v.IsString() || v.node().nextAndFlags&isEscaped != 0 {
		return Time(v.Str())
	}
	return Time(string(v.doc.body(v.node())))
}

// UnixTime returns a number of seconds since 1970, with or without decimals, as a time; see UnixSeconds.
func (v Value) UnixTime() transcript.Time {
	n, _, _ := v.scaled(9)
	return UnixNano(n)
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

// Int returns an integer, which may be written as 12.0 or 1e3. It returns false for other types, fractions and numbers that
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

// Count is Int as a Count, unknown if Int returns false.
func (v Value) Count() transcript.Count {
	if n, ok := v.Int(); ok {
		return transcript.Known(n)
	}
	return transcript.Count{}
}

// MaxTokens is an upper bound for numbers of tokens, more than any request has: no sum of them overflows.
const MaxTokens = 1 << 40

// Tokens is Count for a number of tokens: negative ones are 0, and larger ones than MaxTokens are cut to it.
func (v Value) Tokens() transcript.Count {
	n := v.Count()
	n.N = min(max(n.N, 0), MaxTokens)
	return n
}

// Float returns a number as the nearest float64, and false for other types and numbers that do not fit.
func (v Value) Float() (float64, bool) {
	if v.Type() != '0' {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(v.Raw()), 64)
	return f, err == nil
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

// NanoUSD returns a dollar amount in nano-USD. It converts the decimal digits and uses no float; more than
// nine decimals are rounded half away from zero. It is unknown for other types and amounts that do not fit.
func (v Value) NanoUSD() transcript.Count {
	if n, _, ok := v.scaled(9); ok {
		return transcript.Known(n)
	}
	return transcript.Count{}
}

// AppendStrings appends every string value in v at any depth, decoded and in order, to dst. It skips keys and
// empty strings; '\n' separates the strings from each other and from what dst has already.
func AppendStrings(dst []byte, v Value) []byte { return appendLeaves(dst, v, false) }

// AppendScalars is AppendStrings with the numbers, as they are written: for what goes into tools, and for what comes out of them as JSON. A
// list of more than maxNumbers numbers is data, such as an image or an embedding, and left out.
func AppendScalars(dst []byte, v Value) []byte { return appendLeaves(dst, v, true) }

// maxNumbers is how many numbers in a row are text: numbers with no string and no name between them, so those of a list, or of a list of
// lists. Numbers as names do not count as names, since JavaScript writes typed arrays as objects: {"0":137,"1":80}.
const maxNumbers = 256

func appendLeaves(dst []byte, v Value, numbers bool) []byte {
	if !v.Exists() {
		return dst
	}
	d := v.doc
	nodes := d.nodes[v.at:v.node().next()]
	var row numberRow
	for i := range nodes {
		n := &nodes[i]
		switch c := d.bytes[n.start]; {
		case n.nextAndFlags&isKey != 0:
			if numbers && !isIndex(d.body(n)) {
				row.n = 0
			}
		case c == '"':
			row.n = 0
			if n.end-n.start > 2 {
				dst = d.appendString(onNewLine(dst), v.at+uint32(i))
			}
		case numbers && (c == '-' || c-'0' <= 9):
			dst = row.append(dst, d.bytes[n.start:n.end])
		}
	}
	return dst
}

// numberRow counts numbers in a row.
type numberRow struct{ n, start int } // start: where they begin in dst

// append appends a number to dst, or takes those before it out again if they are too many.
func (r *numberRow) append(dst, number []byte) []byte {
	if r.n++; r.n == 1 {
		r.start = len(dst)
	}
	if r.n > maxNumbers {
		return dst[:r.start]
	}
	return append(onNewLine(dst), number...)
}

// isIndex reports whether a name is that of an element in a typed array.
func isIndex[T string | []byte](name T) bool { return len(name) > 0 && name[0]-'0' <= 9 }

func onNewLine(dst []byte) []byte {
	if len(dst) > 0 {
		dst = append(dst, '\n')
	}
	return dst
}

// AllStrings returns what AppendStrings appends, as a string.
func AllStrings(v Value) string { return Build(func(b []byte) []byte { return AppendStrings(b, v) }) }

// AllScalars returns what AppendScalars appends, as a string.
func AllScalars(v Value) string { return Build(func(b []byte) []byte { return AppendScalars(b, v) }) }

// Build returns what fill appends to a pooled buffer, as a string.
func Build(fill func([]byte) []byte) string {
	b := scratchPool.Get().(*[]byte)
	*b = fill((*b)[:0])
	s := string(*b)
	poisonBytes((*b)[:cap(*b)])
	if cap(*b) <= maxPooled {
		scratchPool.Put(b)
	}
	return s
}

// maxPooled is the largest buffer, in bytes, that goes back to a pool.
const maxPooled = 1 << 20

var scratchPool = sync.Pool{New: func() any { return new([]byte) }}

// OffsetIn returns the byte offset of inner in the outer value that contains it, -1 if outer does not.
func OffsetIn(outer, inner Value) int64 {
	if outer.doc == nil || outer.doc != inner.doc || inner.at < outer.at || inner.at >= outer.node().next() {
		return -1
	}
	return inner.Offset() - outer.Offset()
}

// OriginIn returns the place of inner in a file that has outer, which contains it, at the given place.
func OriginIn(at transcript.Origin, outer, inner Value) transcript.Origin {
	at.Offset += OffsetIn(outer, inner)
	at.Length = int64(inner.Len())
	return at
}

// PartIn returns a part with a text, whose range is that of inner in the value of the event.
func PartIn(event, inner Value, text string) transcript.Part {
	return transcript.Part{Text: text, Offset: OffsetIn(event, inner), Length: int64(inner.Len())}
}
