package format

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"sync/atomic"
	"unicode/utf8"
)

// MaxDepth is how deep objects and arrays may nest; encoding/json draws the same line.
const MaxDepth = 10000

// The string scanner looks at eight bytes at once; these are the usual masks.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// checkValue validates the value at i and gives its end; when reason is not "", end is where it went wrong.
func checkValue(b []byte, i, depth int) (end int, reason string) {
	if i >= len(b) {
		return i, "value is missing"
	}
	switch c := b[i]; {
	case c == '"':
		return checkString(b, i)
	case c == '{':
		return checkObject(b, i, depth+1)
	case c == '[':
		return checkArray(b, i, depth+1)
	case c == '-' || c-'0' <= 9:
		return checkNumber(b, i)
	case c == 't':
		return checkWord(b, i, "true")
	case c == 'f':
		return checkWord(b, i, "false")
	case c == 'n':
		return checkWord(b, i, "null")
	}
	return i, "not the start of a value"
}

func checkObject(b []byte, i, depth int) (end int, reason string) {
	if depth > MaxDepth {
		return i, "nested too deep"
	}
	i = skipSpace(b, i+1)
	if i < len(b) && b[i] == '}' {
		return i + 1, ""
	}
	for {
		if i >= len(b) || b[i] != '"' {
			return i, "key is missing"
		}
		if i, reason = checkString(b, i); reason != "" {
			return i, reason
		}
		if i = skipSpace(b, i); i >= len(b) || b[i] != ':' {
			return i, "colon is missing"
		}
		if i, reason = checkValue(b, skipSpace(b, i+1), depth); reason != "" {
			return i, reason
		}
		if i = skipSpace(b, i); i >= len(b) {
			return i, "object is not closed"
		}
		switch b[i] {
		case ',':
			i = skipSpace(b, i+1)
		case '}':
			return i + 1, ""
		default:
			return i, "comma is missing in an object"
		}
	}
}

func checkArray(b []byte, i, depth int) (end int, reason string) {
	if depth > MaxDepth {
		return i, "nested too deep"
	}
	i = skipSpace(b, i+1)
	if i < len(b) && b[i] == ']' {
		return i + 1, ""
	}
	for {
		if i, reason = checkValue(b, i, depth); reason != "" {
			return i, reason
		}
		if i = skipSpace(b, i); i >= len(b) {
			return i, "array is not closed"
		}
		switch b[i] {
		case ',':
			i = skipSpace(b, i+1)
		case ']':
			return i + 1, ""
		default:
			return i, "comma is missing in an array"
		}
	}
}

// checkString validates the string whose opening quote is at i.
func checkString(b []byte, i int) (end int, reason string) {
	i++
	for {
		// Eight bytes at a time, up to the first quote, backslash or control byte. The lowest flagged byte
		// is exact: a borrow only ever runs upwards.
		for i+8 <= len(b) {
			x := binary.LittleEndian.Uint64(b[i:])
			quote, slash := x^(ones*'"'), x^(ones*'\\')
			stop := ((quote - ones) &^ quote) | ((slash - ones) &^ slash) | ((x - ones*0x20) &^ x)
			if stop &= highs; stop != 0 {
				i += bits.TrailingZeros64(stop) >> 3
				break
			}
			i += 8
		}
		if i >= len(b) {
			return len(b), "string is not closed"
		}
		switch c := b[i]; {
		case c == '"':
			return i + 1, ""
		case c == '\\':
			n := escapeLen(b[i:])
			if n == 0 {
				return i, "bad escape in a string"
			}
			i += n
		case c < 0x20:
			return i, "control byte in a string"
		default:
			i++
		}
	}
}

// escapeLen gives the length of the escape that b starts with, 0 when it is none.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := hex4(b[2:]); ok {
			return 6
		}
	}
	return 0
}

func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range b[:4] {
		switch {
		case c-'0' <= 9:
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

func checkNumber(b []byte, i int) (end int, reason string) {
	if b[i] == '-' {
		i++
	}
	digits := func(from int) int {
		for i = from; i < len(b) && b[i]-'0' <= 9; i++ {
		}
		return i - from
	}
	switch {
	case i < len(b) && b[i] == '0':
		i++
	case digits(i) == 0:
		return i, "digits are missing"
	}
	if i < len(b) && b[i] == '.' && digits(i+1) == 0 {
		return i, "digits are missing"
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		if digits(i) == 0 {
			return i, "digits are missing"
		}
	}
	return i, ""
}

func checkWord(b []byte, i int, word string) (end int, reason string) {
	if len(b)-i < len(word) || string(b[i:i+len(word)]) != word {
		return i, "not the start of a value"
	}
	return i + len(word), ""
}

// skipValue gives the end of the value at i in bytes that were validated. On others it still ends, and never
// before i.
func skipValue(b []byte, i int) int {
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		return skipNested(b, i)
	}
	for i < len(b) {
		switch b[i] {
		case ',', '}', ']', ' ', '\n', '\t', '\r', ':':
			return i
		}
		i++
	}
	return i
}

// skipString gives the end of the string whose opening quote is at i: the next quote that an even number of
// backslashes precedes.
func skipString(b []byte, i int) int {
	for from := i + 1; ; {
		n := bytes.IndexByte(b[from:], '"')
		if n < 0 {
			return len(b)
		}
		end := from + n
		slashes := 0
		for end-1-slashes > i && b[end-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return end + 1
		}
		from = end + 1
	}
}

func skipNested(b []byte, i int) int {
	for depth := 0; i < len(b); {
		switch b[i] {
		case '"':
			i = skipString(b, i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return i
}

// member walks the members of an object.
type member struct {
	key   Value // with its quotes
	value Value
	at    int // where the next member is looked for; 0 before the first
}

func (m *member) next(v Value) bool {
	if m.at == 0 {
		if !v.IsObject() {
			return false
		}
		m.at = 1
	}
	i := skipSpace(v, m.at)
	if i < len(v) && v[i] == ',' {
		i = skipSpace(v, i+1)
	}
	if i >= len(v) || v[i] != '"' {
		return false
	}
	end := skipString(v, i)
	if end < i+2 {
		return false
	}
	m.key = v[i:end]
	i = skipSpace(v, end)
	if i >= len(v) || v[i] != ':' {
		return false
	}
	if i = skipSpace(v, i+1); i >= len(v) {
		return false
	}
	m.at = skipValue(v, i)
	m.value = v[i:m.at]
	return m.at > i
}

func (m *member) is(key string) bool {
	body := m.key[1 : len(m.key)-1]
	for _, c := range body {
		if c == '\\' || c >= utf8.RuneSelf {
			return m.name() == key
		}
	}
	return string(body) == key
}

// name gives the decoded key. Transcripts repeat a few keys millions of times; a small table of those seen
// last spares the copies.
func (m *member) name() string {
	body := m.key[1 : len(m.key)-1]
	if len(body) == 0 || len(body) > 32 {
		return m.key.Str()
	}
	hash := uint32(len(body))
	for _, c := range body {
		if c == '\\' || c >= utf8.RuneSelf {
			return m.key.Str()
		}
		hash = (hash ^ uint32(c)) * 16777619
	}
	slot := &names[hash%uint32(len(names))]
	if s := slot.Load(); s != nil && *s == string(body) {
		return *s
	}
	s := string(body)
	slot.Store(&s)
	return s
}

// names is a cache and nothing else: what it holds changes no result.
var names [1024]atomic.Pointer[string]
