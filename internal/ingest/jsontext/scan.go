package jsontext

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// MaxDepth is how deep objects and arrays may nest; encoding/json has the same limit.
const MaxDepth = 10000

// MaxValues is how many values and keys one document may have, so that its nodes take some 100 MB at most.
// Transcripts have one in some thirty bytes.
const MaxValues = 1 << 23

// document is JSON that was parsed in one pass, which validates the bytes and records the position of each value and key as a
// node. Values are read through the nodes; the bytes are read again only for strings and numbers that are requested.
type document struct {
	bytes     []byte
	nodes     []node
	singleUse bool // it is not used again for other bytes

	decoded []byte      // decoded strings that have escapes, one after the other
	strings []decodedAt // their positions, in the order of nodes
	discard [16]byte    // written to where decoded strings are not kept

	innerBytes []byte      // decoded bytes of this document, if it is one in a string of another document
	inner      []*document // documents in strings of this one
	innerUsed  int         // how many of inner are in use
}

// decodedAt is the position of a node's string in document.decoded.
type decodedAt struct{ node, start, end uint32 }

// node is one value, or the key of a member, whose value is the next node. The members or elements of an object or array
// follow its node, in the order of the bytes.
type node struct {
	start, end   uint32 // offsets in the bytes, including quotes and brackets
	nextAndFlags uint32 // index of the node after this one and everything in it, and the flags below
}

// Flags of a node: isKey, and how a string is written. The body of a string with neither isEscaped nor isWide is its decoded form.
const (
	isKey     = 1 << (31 - iota)
	isEscaped // it has backslashes
	isWide    // it has bytes beyond ASCII, which may be invalid UTF-8

	nextBits = 1<<29 - 1
)

func (n *node) next() uint32 { return n.nextAndFlags & nextBits }

// parse parses b as one value. If reason is not "", b is invalid at the offset at.
func (d *document) parse(b []byte) (at int, reason string) {
	d.bytes, d.nodes, d.innerUsed = b, d.nodes[:0], 0
	d.decoded, d.strings = d.decoded[:0], d.strings[:0]
	if uint64(len(b)) > math.MaxUint32 {
		return 0, "too long"
	}
	at, reason = d.scanValue(skipSpace(b, 0), 0)
	if reason != "" {
		return at, reason
	}
	if at = skipSpace(b, at); at < len(b) {
		return at, "bytes after the value"
	}
	return at, ""
}

// closeOpenNodes closes the objects and arrays that are open where parse stopped.
func (d *document) closeOpenNodes() {
	for i := range d.nodes {
		if n := &d.nodes[i]; n.end == 0 {
			n.end, n.nextAndFlags = uint32(len(d.bytes)), uint32(len(d.nodes))
		}
	}
}

// addNode appends a node for the bytes [start, end), with flags, and returns its index. An end that is not known yet is 0.
func (d *document) addNode(start, end int, flags uint32) (at int) {
	at = len(d.nodes)
	d.nodes = append(d.nodes, node{uint32(start), uint32(end), uint32(at+1) | flags})
	return at
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// scanValue validates the value at i, adds its nodes and returns its end. If reason is not "", the bytes are invalid at end.
func (d *document) scanValue(i, depth int) (end int, reason string) {
	b := d.bytes
	if i >= len(b) {
		return i, "value is missing"
	}
	switch c := b[i]; {
	case c == '"':
		return d.scanString(i, 0)
	case c == '{':
		return d.scanObject(i, depth+1)
	case c == '[':
		return d.scanArray(i, depth+1)
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
		d.addNode(i, end, 0)
	}
	return end, reason
}

// openNode adds a node for the object or array that begins at i.
func (d *document) openNode(i, depth int) (at int, reason string) {
	switch {
	case depth > MaxDepth:
		return 0, "nested too deep"
	case len(d.nodes) >= MaxValues:
		return 0, "too many values"
	}
	return d.addNode(i, 0, 0), ""
}

// closeNode sets the end of the object or array of node at.
func (d *document) closeNode(at, end int) (int, string) {
	d.nodes[at].end, d.nodes[at].nextAndFlags = uint32(end), uint32(len(d.nodes))
	return end, ""
}

func (d *document) scanObject(i, depth int) (end int, reason string) {
	at, reason := d.openNode(i, depth)
	if reason != "" {
		return i, reason
	}
	b := d.bytes
	i = skipSpace(b, i+1)
	if i < len(b) && b[i] == '}' {
		return d.closeNode(at, i+1)
	}
	for {
		if i >= len(b) || b[i] != '"' {
			return i, "key is missing"
		}
		if i, reason = d.scanString(i, isKey); reason != "" {
			return i, reason
		}
		if i = skipSpace(b, i); i >= len(b) || b[i] != ':' {
			return i, "colon is missing"
		}
		if i, reason = d.scanValue(skipSpace(b, i+1), depth); reason != "" {
			return i, reason
		}
		if i = skipSpace(b, i); i >= len(b) {
			return i, "object is not closed"
		}
		switch b[i] {
		case ',':
			i = skipSpace(b, i+1)
		case '}':
			return d.closeNode(at, i+1)
		default:
			return i, "comma is missing in an object"
		}
		if len(d.nodes) >= MaxValues {
			return i, "too many values"
		}
	}
}

func (d *document) scanArray(i, depth int) (end int, reason string) {
	at, reason := d.openNode(i, depth)
	if reason != "" {
		return i, reason
	}
	b := d.bytes
	i = skipSpace(b, i+1)
	if i < len(b) && b[i] == ']' {
		return d.closeNode(at, i+1)
	}
	for {
		if i, reason = d.scanValue(i, depth); reason != "" {
			return i, reason
		}
		if i = skipSpace(b, i); i >= len(b) {
			return i, "array is not closed"
		}
		switch b[i] {
		case ',':
			i = skipSpace(b, i+1)
		case ']':
			return d.closeNode(at, i+1)
		default:
			return i, "comma is missing in an array"
		}
		if len(d.nodes) >= MaxValues {
			return i, "too many values"
		}
	}
}

// scanString validates the string whose opening quote is at i, and adds its node with flags.
func (d *document) scanString(i int, flags uint32) (end int, reason string) {
	b, seen := d.bytes, uint64(0)
	// Scan eight bytes at a time, up to the first quote, backslash or control byte.
	rest := b[i+1:]
	for len(rest) >= 8 {
		x := binary.LittleEndian.Uint64(rest)
		if stop := stopBits(x); stop != 0 {
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
		flags, reason = flags|isEscaped|isWide, "string is not closed"
	case rest[0] == '\\':
		var escaped uint32
		end, escaped, reason = d.scanEscaped(i+1, end, seen)
		flags |= escaped
	case rest[0] != '"':
		reason = "control byte in a string"
	default:
		if seen&highBits != 0 {
			flags |= isWide
		}
		end++
	}
	d.addNode(i, end, flags)
	return end, reason
}

// Masks for scanning eight bytes in a word (SWAR).
const (
	ones     = 0x0101010101010101
	highBits = 0x8080808080808080
)

// stopBits sets the highest bit of each byte that is a quote, a backslash or a control byte. Flipping one bit maps the quote to
// 0x20, next to the control bytes, so that one comparison finds both. The lowest bit set is exact: a borrow only carries upwards.
func stopBits(x uint64) uint64 {
	slash := x ^ (ones * '\\')
	return ((((x ^ ones*('"'^0x20)) - ones*0x21) &^ x) | ((slash - ones) &^ slash)) & highBits
}

// scanEscaped continues the scan of a string, whose body begins at start, at its first backslash, and decodes the string on the way: the scan
// has found the escapes already, and texts of several lines, which are most of what is requested, are full of them.
// Single-use and long documents do not keep the decoded string, since its buffer would have to be allocated each time.
func (d *document) scanEscaped(start, i int, seen uint64) (end int, flags uint32, reason string) {
	// keep masks the increments of w: -1 advances it, 0 writes every byte to the start of discard.
	b, keep, from, out := d.bytes, 0, 0, d.discard[:]
	if !d.singleUse && len(b) <= maxPooled {
		d.decoded = slices.Grow(d.decoded, len(b)-start+8) // decoding never lengthens; 8 more because bytes are written eight at a time
		keep, from, out = -1, len(d.decoded), d.decoded[:cap(d.decoded)]
	}
	w := from + copy(out[from:], b[start:i])&keep
	for {
		rest := b[i:]
		for len(rest) >= 8 {
			x := binary.LittleEndian.Uint64(rest)
			binary.LittleEndian.PutUint64(out[w:], x)
			if stop := stopBits(x); stop != 0 {
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
			if flags = isEscaped; seen&highBits != 0 {
				flags |= isWide
			}
			if keep != 0 {
				d.strings = append(d.strings, decodedAt{uint32(len(d.nodes)), uint32(from), uint32(w)})
				d.decoded = out[:w]
			}
			return i + 1, flags, ""
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
