package jsontext

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
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

// escapeLen returns the length of the \u escape that b begins with, 0 if there is none.
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
