package format

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// MaxDepth is how deep objects and arrays may nest; encoding/json draws the same line.
const MaxDepth = 10000

// MaxValues is how many values and keys one document may hold, so that what is noted of it takes some 100 MB at most.
// Transcripts have one in some thirty bytes.
const MaxValues = 1 << 23

// document is JSON that was gone over once: bytes are checked, and where what stands in them is noted. All reading of
// values goes by the notes; no byte is looked at again but those of strings and numbers that are asked for.
type document struct {
	bytes []byte
	nodes []node
	once  bool // it is not used again for other bytes

	decoded []byte      // strings with escapes, one after the other
	strings []decodedAt // where, rising by their nodes
	nowhere [16]byte    // for what is not kept

	own    []byte      // room for bytes that were decoded: of a document inside of another
	inside []*document // documents in strings of this one
	used   int         // of them
}

// decodedAt says where the string of a node stands in decoded.
type decodedAt struct{ node, start, end uint32 }

// node notes one value, or the key of a member, whose value is the node behind it. What an object or array holds
// follows it, in the order of the bytes.
type node struct {
	start, end uint32 // in bytes, quotes and brackets included
	what       uint32 // the node behind it and all that it holds, and how a string is written
}

// How a string is written. A string without any of these is its own decoded form.
const (
	isKey     = 1 << (31 - iota)
	isEscaped // with backslashes
	isWide    // with bytes beyond ASCII, which may be no UTF-8

	nextBits = 1<<29 - 1
)

// size is the room that a document has, in bytes.
func (d *document) size() int {
	size := 12*(cap(d.nodes)+cap(d.strings)) + cap(d.own) + cap(d.decoded)
	for _, inner := range d.inside {
		size += inner.size()
	}
	return size
}

func (n *node) next() uint32 { return n.what & nextBits }

// parse goes over all of b, which is to be one value. When reason is not "", at is where it went wrong.
func (d *document) parse(b []byte) (at int, reason string) {
	d.bytes, d.nodes, d.used = b, d.nodes[:0], 0
	d.decoded, d.strings = d.decoded[:0], d.strings[:0]
	if uint64(len(b)) > math.MaxUint32 {
		return 0, "too long"
	}
	at, reason = d.value(skipSpace(b, 0), 0)
	if reason != "" {
		return at, reason
	}
	if at = skipSpace(b, at); at < len(b) {
		return at, "bytes after the value"
	}
	return at, ""
}

// cut closes what is open where parse stopped.
func (d *document) cut() {
	for i := range d.nodes {
		if n := &d.nodes[i]; n.end == 0 {
			n.end, n.what = uint32(len(d.bytes)), uint32(len(d.nodes))
		}
	}
}

// note adds a node for what stands at [start, end), 0 for an end that is not known yet.
func (d *document) note(start, end int, how uint32) (at int) {
	at = len(d.nodes)
	d.nodes = append(d.nodes, node{uint32(start), uint32(end), uint32(at+1) | how})
	return at
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// value checks and notes the value at i and gives its end; when reason is not "", end is where it went wrong.
func (d *document) value(i, depth int) (end int, reason string) {
	b := d.bytes
	if i >= len(b) {
		return i, "value is missing"
	}
	switch c := b[i]; {
	case c == '"':
		return d.text(i, 0)
	case c == '{':
		return d.object(i, depth+1)
	case c == '[':
		return d.array(i, depth+1)
	case c == '-' || c-'0' <= 9:
		end, reason = checkNumber(b, i)
	case c == 't':
		end, reason = checkWord(b, i, "true")
	case c == 'f':
		end, reason = checkWord(b, i, "false")
	case c == 'n':
		end, reason = checkWord(b, i, "null")
	default:
		return i, "not the start of a value"
	}
	if reason == "" {
		d.note(i, end, 0)
	}
	return end, reason
}

// open notes the start of an object or array.
func (d *document) open(i, depth int) (at int, reason string) {
	switch {
	case depth > MaxDepth:
		return 0, "nested too deep"
	case len(d.nodes) >= MaxValues:
		return 0, "too many values"
	}
	return d.note(i, 0, 0), ""
}

func (d *document) close(at, end int) (int, string) {
	d.nodes[at].end, d.nodes[at].what = uint32(end), uint32(len(d.nodes))
	return end, ""
}

func (d *document) object(i, depth int) (end int, reason string) {
	at, reason := d.open(i, depth)
	if reason != "" {
		return i, reason
	}
	b := d.bytes
	i = skipSpace(b, i+1)
	if i < len(b) && b[i] == '}' {
		return d.close(at, i+1)
	}
	for {
		if i >= len(b) || b[i] != '"' {
			return i, "key is missing"
		}
		if i, reason = d.text(i, isKey); reason != "" {
			return i, reason
		}
		if i = skipSpace(b, i); i >= len(b) || b[i] != ':' {
			return i, "colon is missing"
		}
		if i, reason = d.value(skipSpace(b, i+1), depth); reason != "" {
			return i, reason
		}
		if i = skipSpace(b, i); i >= len(b) {
			return i, "object is not closed"
		}
		switch b[i] {
		case ',':
			i = skipSpace(b, i+1)
		case '}':
			return d.close(at, i+1)
		default:
			return i, "comma is missing in an object"
		}
		if len(d.nodes) >= MaxValues {
			return i, "too many values"
		}
	}
}

func (d *document) array(i, depth int) (end int, reason string) {
	at, reason := d.open(i, depth)
	if reason != "" {
		return i, reason
	}
	b := d.bytes
	i = skipSpace(b, i+1)
	if i < len(b) && b[i] == ']' {
		return d.close(at, i+1)
	}
	for {
		if i, reason = d.value(i, depth); reason != "" {
			return i, reason
		}
		if i = skipSpace(b, i); i >= len(b) {
			return i, "array is not closed"
		}
		switch b[i] {
		case ',':
			i = skipSpace(b, i+1)
		case ']':
			return d.close(at, i+1)
		default:
			return i, "comma is missing in an array"
		}
		if len(d.nodes) >= MaxValues {
			return i, "too many values"
		}
	}
}

// text checks and notes the string whose opening quote is at i.
func (d *document) text(i int, how uint32) (end int, reason string) {
	b, seen := d.bytes, uint64(0)
	// Eight bytes at a time, up to the first quote, backslash or control byte.
	rest := b[i+1:]
	for len(rest) >= 8 {
		x := binary.LittleEndian.Uint64(rest)
		if stop := stops(x); stop != 0 {
			seen |= x & (stop&-stop - 1)
			rest = rest[bits.TrailingZeros64(stop)>>3:]
			break
		}
		seen |= x
		rest = rest[8:]
	}
	for len(rest) > 0 && rest[0] != '"' && rest[0] != '\\' && rest[0] >= 0x20 {
		seen |= uint64(rest[0])
		rest = rest[1:]
	}
	switch end = len(b) - len(rest); {
	case len(rest) == 0:
		how, reason = how|isEscaped|isWide, "string is not closed"
	case rest[0] == '\\':
		var escaped uint32
		end, escaped, reason = d.decode(i+1, end, seen)
		how |= escaped
	case rest[0] != '"':
		reason = "control byte in a string"
	default:
		if seen&highs != 0 {
			how |= isWide
		}
		end++
	}
	d.note(i, end, how)
	return end, reason
}

// The string scanner looks at eight bytes at once; these are the usual masks.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// stops flags the quotes, backslashes and control bytes among eight bytes, by the highest bit of each. With one bit turned
// over, a quote comes next to the control bytes. The lowest flag is exact: a borrow only ever runs upwards.
func stops(x uint64) uint64 {
	slash := x ^ (ones * '\\')
	return ((((x ^ ones*('"'^0x20)) - ones*0x21) &^ x) | ((slash - ones) &^ slash)) & highs
}

// decode goes on with a string that begins at start, from its first backslash on, and decodes it on the way: who has looked
// for the escapes knows where they are, and texts of several lines, which are most of what is asked for, are full of them.
// What is read once and long documents keep nothing: room for them would have to be made each time.
func (d *document) decode(start, i int, seen uint64) (end int, how uint32, reason string) {
	b, keep, from, out := d.bytes, 0, 0, d.nowhere[:]
	if !d.once && len(b) <= maxScratch {
		d.decoded = slices.Grow(d.decoded, len(b)-start+8) // nothing grows by being decoded; the last bytes are written eight at a time
		keep, from, out = -1, len(d.decoded), d.decoded[:cap(d.decoded)]
	}
	w := from + copy(out[from:], b[start:i])&keep
	for {
		rest := b[i:]
		for len(rest) >= 8 {
			x := binary.LittleEndian.Uint64(rest)
			binary.LittleEndian.PutUint64(out[w:], x)
			if stop := stops(x); stop != 0 {
				seen |= x & (stop&-stop - 1)
				n := bits.TrailingZeros64(stop) >> 3
				rest, w = rest[n:], w+n&keep
				break
			}
			seen |= x
			rest, w = rest[8:], w+8&keep
		}
		if i = len(b) - len(rest); len(rest) == 0 {
			return i, isEscaped | isWide, "string is not closed"
		}
		switch c := rest[0]; {
		case c == '"':
			if how = isEscaped; seen&highs != 0 {
				how |= isWide
			}
			if keep != 0 {
				d.strings = append(d.strings, decodedAt{uint32(len(d.nodes)), uint32(from), uint32(w)})
				d.decoded = out[:w]
			}
			return i + 1, how, ""
		case c == '\\' && len(rest) > 1 && unescaped[rest[1]] != 0:
			out[w] = unescaped[rest[1]]
			i, w = i+2, w+1&keep
		case c == '\\':
			if escapeLen(rest) == 0 {
				return i, isEscaped, "bad escape in a string"
			}
			longer, rest := appendEscape(out[:w], rest)
			i, w = len(b)-len(rest), w+(len(longer)-w)&keep
		case c < 0x20:
			return i, isEscaped, "control byte in a string"
		default:
			seen |= uint64(c)
			out[w] = c
			i, w = i+1, w+1&keep
		}
	}
}

// escapeLen gives the length of the escape by number that b starts with, 0 when it is none.
func escapeLen(b []byte) int {
	if len(b) < 2 || b[1] != 'u' {
		return 0
	}
	if _, ok := hex4(b[2:]); !ok {
		return 0
	}
	return 6
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
