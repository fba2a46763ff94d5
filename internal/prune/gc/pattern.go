package gc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/txarchive/txarchive/internal/blob"
)

// Pattern is what must be forgotten: a text, however JSON has escaped it, or a regular expression.
type Pattern struct {
	text  string
	runes []rune         // of the text; nil if it is not UTF-8, which JSON cannot hold
	at    map[rune][]int // where each of them is in runes
	short [256]bool      // whether a backslash and this byte stand for one of them
	re    *regexp.Regexp
}

const (
	minText    = 4       // minimum length of a text pattern in bytes
	maxText    = 8 << 10 // maximum length: with all its characters escaped twice it is still within maxMatch
	maxEscaped = 3       // how many times over JSON may have escaped a text
	// maxMatch is how long a match of a regular expression may be.
	maxMatch = 64 << 10
	window   = 1 << 20
)

// ErrPattern means that a pattern is not usable.
var ErrPattern = errors.New("bad pattern")

// ParsePattern parses a pattern: /regular expression/ between slashes, otherwise literal text.
func ParsePattern(s string) (*Pattern, error) {
	if len(s) > 2 && s[0] == '/' && s[len(s)-1] == '/' {
		re, err := regexp.Compile(s[1 : len(s)-1])
		if err != nil {
			return nil, fmt.Errorf("%w: the regular expression is invalid", ErrPattern) // its text may be the secret
		}
		if re.MatchString("") {
			return nil, fmt.Errorf("%w: the regular expression matches empty text", ErrPattern)
		}
		return &Pattern{re: re}, nil
	}
	if len(s) < minText {
		return nil, fmt.Errorf("%w: a text of less than %d bytes occurs in too many places", ErrPattern, minText)
	}
	if len(s) > maxText {
		return nil, fmt.Errorf("%w: a text of more than %d bytes; give a part of it", ErrPattern, maxText)
	}
	marked := []byte(s)
	if blob.Mark(marked); string(marked) == s { // quotes and line ends, which are kept, or the mark itself
		return nil, fmt.Errorf("%w: what would replace this text is the same; give more of it", ErrPattern)
	}
	p := &Pattern{text: s, at: map[rune][]int{}}
	if utf8.ValidString(s) {
		p.runes = []rune(s)
	}
	for i, r := range p.runes {
		p.at[r] = append(p.at[r], i)
	}
	for c := range p.short {
		r, ok := shortEscape(rune(c))
		p.short[c] = ok && p.at[r] != nil
	}
	return p, nil
}

// in reports whether a text has a match.
func (p *Pattern) in(s string) bool { return len(p.find([]byte(s))) > 0 }

// masked returns a text with its matches replaced by marks, for display.
func (p *Pattern) masked(s string) string {
	b := []byte(s)
	for _, m := range p.find(b) {
		blob.Mark(b[m[0]:m[1]])
	}
	return string(b)
}

// find returns the ranges of b that match, in order and without overlaps.
func (p *Pattern) find(b []byte) (all [][2]int) {
	if p.re != nil {
		for _, m := range p.re.FindAllIndex(b, -1) {
			if m[1] > m[0] {
				all = append(all, [2]int{m[0], m[1]})
			}
		}
		return all
	}
	for at := 0; ; {
		i := bytes.Index(b[at:], []byte(p.text))
		if i < 0 {
			break
		}
		all = append(all, [2]int{at + i, at + i + len(p.text)})
		at += i + 1
	}
	all = p.findEscaped(b, all)
	slices.SortFunc(all, func(a, b [2]int) int { return a[0] - b[0] })
	merged := all[:0]
	for _, m := range all {
		if n := len(merged); n > 0 && m[0] < merged[n-1][1] {
			merged[n-1][1] = max(merged[n-1][1], m[1])
			continue
		}
		merged = append(merged, m)
	}
	return merged
}

// findEscaped appends the ranges of b that match and have an escape of JSON. Most escapes are passed over after a look at what follows
// their backslashes.
func (p *Pattern) findEscaped(b []byte, all [][2]int) [][2]int {
	backslash := p.short['\\']
	for at := 0; ; {
		i := bytes.IndexByte(b[at:], '\\')
		if i < 0 {
			return all
		}
		at += i
		end := at + 1
		for end < len(b) && b[end] == '\\' {
			end++
		}
		if !backslash {
			at = max(at, end+1-1<<maxEscaped) // one escape has no more backslashes
			if !p.mayBegin(b[end:]) {
				at = end
			}
		}
		for ; at < end; at++ {
			all = p.escapedAt(b, at, all)
		}
	}
}

// mayBegin reports whether what follows a backslash makes it an escape of a character of the pattern, or of one that is part of escapes.
func (p *Pattern) mayBegin(after []byte) bool {
	if len(after) == 0 {
		return false
	}
	if after[0] != 'u' {
		return p.short[after[0]]
	}
	r, n := unescapeHex(after, 1, 1)
	return n == 0 || r == utf8.RuneError || p.at[r] != nil || strings.ContainsRune(`\"/bfnrtu0123456789abcdefABCDEF`, r)
}

// escapedAt appends the ranges that match and whose first escape is at b[at].
func (p *Pattern) escapedAt(b []byte, at int, all [][2]int) [][2]int {
	for depth := 1; depth <= maxEscaped; depth++ {
		r, n := unescape(b[at:], depth)
		if n == 0 {
			continue
		}
		for _, k := range p.at[r] {
			if m, ok := p.around(b, at, k, depth); ok {
				all = append(all, m)
			}
		}
	}
	return all
}

// around returns the range that matches and whose first escape is at b[at] and stands for the character k: what precedes it is written as
// it is.
func (p *Pattern) around(b []byte, at, k, depth int) (m [2]int, ok bool) {
	before := string(p.runes[:k])
	if strings.Contains(before, `\`) || !bytes.HasSuffix(b[:at], []byte(before)) {
		return m, false
	}
	m = [2]int{at - len(before), at}
	for _, want := range p.runes[k:] {
		r, n := unescape(b[m[1]:], depth)
		if n == 0 || r != want {
			return m, false
		}
		m[1] += n
	}
	return m, true
}

// unescape returns the first character of b, inside a string that JSON has escaped depth times over, and the bytes that it takes: 0 if
// there is none. Any character may be escaped: encoders differ in which they do.
func unescape(b []byte, depth int) (r rune, n int) {
	if depth == 0 {
		if r, n = utf8.DecodeRune(b); r == utf8.RuneError && n == 1 {
			r = -1 // not the character that stands for it
		}
		return r, n
	}
	if r, n = unescape(b, depth-1); r != '\\' || n == 0 {
		return r, n
	}
	r, m := unescape(b[n:], depth-1)
	n += m
	if r == 'u' && m > 0 {
		return unescapeHex(b, n, depth)
	}
	if r, ok := shortEscape(r); ok && m > 0 {
		return r, n
	}
	return 0, 0
}

// shortEscape returns the character that a backslash with the character c stands for.
func shortEscape(c rune) (rune, bool) {
	i := strings.IndexRune(`"\/bfnrt`, c)
	if i < 0 {
		return 0, false
	}
	return rune("\"\\/\b\f\n\r\t"[i]), true
}

// unescapeHex returns the character whose four digits begin at b[n], or which two of such escapes stand for.
func unescapeHex(b []byte, n, depth int) (rune, int) {
	var units [2]rune
	for i := range units {
		for range 4 {
			digit, m := unescape(b[n:], depth-1)
			value := strings.IndexRune("0123456789abcdef", digit|0x20)
			if m == 0 || value < 0 || digit < '0' {
				return 0, 0
			}
			units[i], n = units[i]<<4|rune(value), n+m
		}
		if i == 1 || !utf16.IsSurrogate(units[0]) {
			break
		}
		for _, want := range `\u` {
			r, m := unescape(b[n:], depth-1)
			if r != want {
				return 0, 0
			}
			n += m
		}
	}
	if utf16.IsSurrogate(units[0]) {
		units[0] = utf16.DecodeRune(units[0], units[1])
	}
	return units[0], n
}

// windows are the buffers of scans: most streams are far smaller, and there are many.
var windows = sync.Pool{New: func() any { return new([window + 2*maxMatch]byte) }}

// scan returns the ranges of a stream that match, as offset and length. It holds a window of the stream in memory.
func (p *Pattern) scan(r io.Reader) (places [][2]int64, err error) { return p.scanBut(r, nil) }

// scanBut is scan without the matches, with what is around them, that spared reports.
func (p *Pattern) scanBut(r io.Reader, spared func(b []byte, m [2]int) bool) (places [][2]int64, err error) {
	whole := windows.Get().(*[window + 2*maxMatch]byte)
	defer windows.Put(whole)
	buf := whole[:0]
	base, done := int64(0), int64(0) // base is the offset of buf; everything before done was searched
	for eof := false; !eof; {
		n, err := io.ReadFull(r, buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if eof = errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF); err != nil && !eof {
			return nil, err
		}
		limit := len(buf) // a match that begins after it may continue beyond what was read
		if !eof {
			limit -= maxMatch
		}
		for _, m := range p.find(buf) {
			if m[0] >= limit || base+int64(m[0]) < done {
				continue
			}
			from := max(base+int64(blob.WholeEscape(buf, m[0])), done)
			if done = base + int64(m[1]); spared != nil && spared(buf, m) {
				continue
			}
			places = append(places, [2]int64{from, done - from})
		}
		done = max(done, base+int64(limit))
		keep := max(0, limit-16) // context for WholeEscape
		base += int64(keep)
		buf = append(buf[:0], buf[keep:]...)
	}
	return places, nil
}

// redacted is a stream with marks in place of some ranges.
type redacted struct {
	r      io.Reader
	places [][2]int64
	at     int64
	ready  []byte
	held   []byte
}

// Read passes through what is between the ranges. A range is read as a whole, since its mark depends on the content.
func (r *redacted) Read(p []byte) (int, error) {
	for len(r.ready) == 0 {
		if len(r.places) == 0 {
			n, err := r.r.Read(p)
			r.at += int64(n)
			return n, err
		}
		next := r.places[0]
		if gap := next[0] - r.at; gap > 0 {
			n, err := r.r.Read(p[:min(int64(len(p)), gap)])
			r.at += int64(n)
			return n, err
		}
		r.places = r.places[1:]
		r.held = append(r.held[:0], make([]byte, next[1])...)
		if _, err := io.ReadFull(r.r, r.held); err != nil {
			return 0, err
		}
		r.at += next[1]
		blob.Mark(r.held)
		r.ready = r.held
	}
	n := copy(p, r.ready)
	r.ready = r.ready[n:]
	return n, nil
}
