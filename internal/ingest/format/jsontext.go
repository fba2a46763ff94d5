package format

import (
	"bytes"
	"math"
	"slices"
	"unicode/utf8"
)

// stringBody gives what stands between the quotes of a string, nothing for other values. plain says that it
// is its own decoded form: no escapes, valid UTF-8.
func stringBody(v Value) (body []byte, plain bool) {
	if len(v) < 2 || v[0] != '"' {
		return nil, true
	}
	body = v[1 : len(v)-1]
	return body, bytes.IndexByte(body, '\\') < 0 && utf8.Valid(body)
}

// appendDecoded appends the decoded form of a string's body.
func appendDecoded(dst, body []byte) []byte {
	dst = slices.Grow(dst, len(body))
	for len(body) > 0 {
		n := bytes.IndexByte(body, '\\')
		if n < 0 {
			n = len(body)
		}
		if run := body[:n]; utf8.Valid(run) {
			dst = append(dst, run...)
		} else {
			dst = appendRepaired(dst, run)
		}
		if body = body[n:]; len(body) > 0 {
			dst, body = appendEscape(dst, body)
		}
	}
	return dst
}

// appendRepaired replaces each byte that belongs to no valid UTF-8 sequence by U+FFFD.
func appendRepaired(dst, run []byte) []byte {
	for len(run) > 0 {
		r, n := utf8.DecodeRune(run)
		dst = utf8.AppendRune(dst, r)
		run = run[n:]
	}
	return dst
}

// appendEscape decodes the escape that body starts with and gives the rest. A backslash that starts none (not
// possible in validated bytes) stands for itself.
func appendEscape(dst, body []byte) ([]byte, []byte) {
	n := escapeLen(body)
	switch n {
	case 0:
		return append(dst, '\\'), body[1:]
	case 2:
		return append(dst, unescaped[body[1]]), body[2:]
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

var unescaped = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// scaled gives v times ten to the power of scale, rounded half away from zero. exact says that nothing was
// rounded, ok that v is a number and fits.
func (v Value) scaled(scale int) (n int64, exact, ok bool) {
	if v.Type() != '0' {
		return 0, false, false
	}
	if end, reason := checkNumber(v, 0); reason != "" || end != len(v) {
		return 0, false, false
	}
	b, negative := v, v[0] == '-'
	if negative {
		b = b[1:]
	}
	// point is how many of the digits, counted without the dot, belong to the result's integer part.
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
	sum, exact, ok := gather(mantissa, point)
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

// gather reads the first point digits of a mantissa as a number, with zeros where digits are missing, and
// rounds by the next one.
func gather(mantissa []byte, point int) (sum uint64, exact, ok bool) {
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

// exponent reads a signed decimal number, cut off where it is beyond any use.
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
