package format

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"sync/atomic"
	"unicode/utf8"
)

// body returns the bytes between the quotes of a string, undecoded.
func (d *document) body(n *node) []byte {
	return d.bytes[n.start+1 : max(n.end, n.start+2)-1]
}

// appendString appends the decoded string of a node.
func (d *document) appendString(dst []byte, at uint32) []byte {
	n, from := &d.nodes[at], len(dst)
	if n.nextAndFlags&isEscaped != 0 {
		dst = d.appendDecoded(dst, at)
	} else {
		dst = append(dst, d.body(n)...)
	}
	if n.nextAndFlags&isWide != 0 && !utf8.Valid(dst[from:]) {
		dst = appendRepaired(dst[:from], bytes.Clone(dst[from:]))
	}
	return dst
}

// appendDecoded appends a string with escapes. scanEscaped has decoded it already, unless the document does not keep decoded strings.
func (d *document) appendDecoded(dst []byte, at uint32) []byte {
	i, ok := slices.BinarySearchFunc(d.strings, at, func(s decodedAt, at uint32) int { return cmp.Compare(s.node, at) })
	if !ok {
		return appendUnescaped(dst, d.body(&d.nodes[at]))
	}
	return append(dst, d.decoded[d.strings[i].start:d.strings[i].end]...)
}

// appendUnescaped appends a string's body with its escapes decoded. Escapes decode to valid UTF-8, so invalid bytes of the body stay
// recognisable, and the caller can repair them afterwards.
func appendUnescaped(dst, body []byte) []byte {
	dst = slices.Grow(dst, len(body)+8) // decoding never lengthens; 8 more because bytes are written eight at a time
	out, w := dst[len(dst):cap(dst)], 0
	for r := 0; r < len(body); {
		if r+8 <= len(body) {
			x := binary.LittleEndian.Uint64(body[r:])
			binary.LittleEndian.PutUint64(out[w:], x)
			slash := x ^ (ones * '\\')
			stop := ((slash - ones) &^ slash) & highBits
			if stop == 0 {
				r, w = r+8, w+8
				continue
			}
			n := bits.TrailingZeros64(stop) >> 3
			r, w = r+n, w+n
		} else if body[r] != '\\' {
			out[w] = body[r]
			r, w = r+1, w+1
			continue
		}
		if r+1 < len(body) && unescaped[body[r+1]] != 0 {
			out[w] = unescaped[body[r+1]]
			r, w = r+2, w+1
			continue
		}
		longer, rest := appendEscape(out[:w], body[r:])
		r, w = len(body)-len(rest), len(longer)
	}
	return dst[:len(dst)+w]
}

// Unquote decodes a quoted JSON string that is not part of a document. It returns "" for less than two bytes, and does not validate.
func Unquote(quoted string) string {
	if len(quoted) < len(`""`) {
		return ""
	}
	d := document{bytes: []byte(quoted), nodes: []node{{end: uint32(len(quoted)), nextAndFlags: isEscaped | isWide}}}
	return string(d.appendString(nil, 0))
}

// appendRepaired appends run with each byte that is not part of valid UTF-8 replaced by U+FFFD.
func appendRepaired(dst, run []byte) []byte {
	for len(run) > 0 {
		r, n := utf8.DecodeRune(run)
		dst = utf8.AppendRune(dst, r)
		run = run[n:]
	}
	return dst
}

// appendEscape decodes the \u escape, or surrogate pair, that body begins with and returns the rest of body. A backslash that begins no escape (not
// possible in validated bytes) is copied.
func appendEscape(dst, body []byte) ([]byte, []byte) {
	n := escapeLen(body)
	if n == 0 {
		return append(dst, '\\'), body[1:]
	}
	r, _ := hex4(body[2:])
	body = body[n:]
	if r < 0xD800 || r > 0xDFFF {
		return utf8.AppendRune(dst, r), body
	}
	if r < 0xDC00 && len(body) >= 6 && body[0] == '\\' && body[1] == 'u' {
		if low, ok := hex4(body[2:]); ok && low >= 0xDC00 && low <= 0xDFFF {
			return utf8.AppendRune(dst, (r-0xD800)<<10|(low-0xDC00)+0x10000), body[6:]
		}
	}
	return utf8.AppendRune(dst, utf8.RuneError), body
}

// unescaped maps the letter of a short escape to its character, and other bytes to 0.
var unescaped = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// digits parses a number of 1 to 18 digits, which fits an int64. It returns false for anything else.
func digits(b []byte) (n int64, ok bool) {
	for _, c := range b {
		if c -= '0'; c > 9 {
			return 0, false
		}
		n = n*10 + int64(c)
	}
	return n, 0 < len(b) && len(b) <= 18
}

// scaled returns v times ten to the power of scale, rounded half away from zero. exact reports whether nothing was
// rounded, ok whether v is a number and the result fits.
func (v Value) scaled(scale int) (n int64, exact, ok bool) {
	if v.Type() != '0' {
		return 0, false, false
	}
	b := v.Raw()
	negative := b[0] == '-'
	if negative {
		b = b[1:]
	}
	// point is how many digits, not counting the dot, are in the integer part of the result.
	mantissa, point := b, scale
	if e := bytes.IndexAny(b, "eE"); e >= 0 {
		mantissa = b[:e]
		point += exponent(b[e+1:])
	}
	if dot := bytes.IndexByte(mantissa, '.'); dot >= 0 {
		point += dot
	} else {
		point += len(mantissa)
	}
	sum, exact, ok := roundDigits(mantissa, point)
	switch {
	case !ok:
		return 0, false, false
	case negative && sum <= 1<<63:
		return -int64(sum), exact, true
	case !negative && sum <= math.MaxInt64:
		return int64(sum), exact, true
	}
	return 0, false, false
}

// roundDigits returns the first point digits of a mantissa as a number, padded with zeros, and rounded by the next
// digit.
func roundDigits(mantissa []byte, point int) (sum uint64, exact, ok bool) {
	const most = 1 << 63
	exact, ok = true, true
	up, at := false, 0
	push := func(d uint64) {
		if sum > (most-d)/10 {
			ok = false
			return
		}
		sum = sum*10 + d
	}
	for _, c := range mantissa {
		if c == '.' {
			continue
		}
		d := uint64(c - '0')
		switch {
		case at < point:
			push(d)
		default:
			exact = exact && d == 0
			up = up || at == point && d >= 5
		}
		at++
	}
	for ; at < point && sum > 0 && ok; at++ {
		push(0)
	}
	if up {
		sum++
	}
	return sum, exact, ok
}

// exponent parses a signed decimal number. Beyond 1<<20 it ignores further digits.
func exponent(b []byte) int {
	const enough = 1 << 20
	sign, n := 1, 0
	for _, c := range b {
		switch {
		case c == '-':
			sign = -1
		case c != '+' && n < enough:
			n = n*10 + int(c-'0')
		}
	}
	return sign * n
}

// keyIs reports whether the key of a node is name.
func (d *document) keyIs(key uint32, name string) bool {
	n := &d.nodes[key]
	if n.nextAndFlags&(isEscaped|isWide) == 0 {
		return string(d.body(n)) == name
	}
	return d.intern(key) == name
}

// intern returns the decoded string of a node. Transcripts repeat a few keys and words millions of times; a small table of the first ones
// saves the copies.
func (d *document) intern(key uint32) string {
	n := &d.nodes[key]
	if n.nextAndFlags&(isEscaped|isWide) != 0 {
		return string(d.appendString(nil, key))
	}
	body := d.body(n)
	place := internHash(body) % uint64(len(internTable)/2)
	two := internTable[2*place : 2*place+2]
	for i := range two {
		if s := two[i].Load(); s != nil && *s == string(body) {
			return *s
		}
	}
	s := string(body)
	if len(s) <= maxInterned && !two[0].CompareAndSwap(nil, &s) {
		two[1].Store(&s)
	}
	return s
}

// internTable is a cache of two-way buckets. Its content affects no result.
var internTable [2048]atomic.Pointer[string]

// maxInterned is the length of the longest string in internTable, in bytes.
const maxInterned = 32

// internHash hashes the length and the first and last eight bytes of a key.
func internHash(key []byte) uint64 {
	var first, last uint64
	if len(key) >= 8 {
		first, last = binary.LittleEndian.Uint64(key), binary.LittleEndian.Uint64(key[len(key)-8:])
	} else {
		for i, c := range key {
			first |= uint64(c) << (8 * i)
		}
	}
	return ((first^uint64(len(key)))*0x9e3779b97f4a7c15 ^ last) * 0xd6e8feb86659fd93 >> 32
}
