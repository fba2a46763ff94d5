package gc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/txarchive/txarchive/internal/blob"
)

// Pattern is what must be forgotten: a text, in every form in which it may be encoded in JSON, or a regular
// expression.
type Pattern struct {
	forms []([]byte)
	re    *regexp.Regexp
}

const (
	minText = 4 // minimum length of a text pattern in bytes
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
	p := &Pattern{}
	for _, form := range forms(s, 2) {
		if !slices.ContainsFunc(p.forms, func(have []byte) bool { return string(have) == form }) {
			p.forms = append(p.forms, []byte(form))
		}
	}
	return p, nil
}

// forms returns the ways in which a text may be written: as it is, and escaped as JSON by several encoders, up to
// depth times over.
func forms(s string, depth int) []string {
	all := []string{s}
	if depth == 0 || !utf8.ValidString(s) {
		return all
	}
	var html, plain strings.Builder
	for _, to := range []*strings.Builder{&html, &plain} {
		enc := json.NewEncoder(to)
		enc.SetEscapeHTML(to == &html)
		_ = enc.Encode(s) // a string into memory
	}
	all = append(all, forms(ascii(dotNet.Replace(inQuotes(plain.String())), "%04X"), depth-1)...)
	for _, written := range []string{inQuotes(plain.String()), inQuotes(html.String()), powerShell.Replace(inQuotes(html.String()))} {
		for _, form := range []string{written, strings.ReplaceAll(written, "/", `\/`), ascii(written, "%04x"), ascii(written, "%04X")} {
			all = append(all, forms(form, depth-1)...)
		}
	}
	return all
}

// dotNet and powerShell complete JSON to what System.Text.Json and Windows PowerShell write. Keys in base64 have such characters.
var (
	dotNet     = strings.NewReplacer(`\"`, `\u0022`, "&", `\u0026`, "'", `\u0027`, "+", `\u002B`, "<", `\u003C`, ">", `\u003E`, "`", `\u0060`)
	powerShell = strings.NewReplacer("'", `\u0027`)
)

func inQuotes(line string) string {
	line = strings.TrimSuffix(line, "\n")
	return line[1 : len(line)-1]
}

// ascii replaces non-ASCII characters with \u escapes.
func ascii(s, digits string) string {
	var out strings.Builder
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			out.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&out, `\u`+digits+`\u`+digits, 0xd800+(r>>10), 0xdc00+(r&0x3ff))
		default:
			fmt.Fprintf(&out, `\u`+digits, r)
		}
	}
	return out.String()
}

// In reports whether a text has a match.
func (p *Pattern) In(s string) bool { return len(p.find([]byte(s))) > 0 }

// Masked returns a text with its matches replaced by marks, for display.
func (p *Pattern) Masked(s string) string {
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
	for _, form := range p.forms {
		for at := 0; ; {
			i := bytes.Index(b[at:], form)
			if i < 0 {
				break
			}
			all = append(all, [2]int{at + i, at + i + len(form)})
			at += i + 1
		}
	}
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

// windows are the buffers of scans: most streams are far smaller, and there are many.
var windows = sync.Pool{New: func() any { return new([window + 2*maxMatch]byte) }}

// scan returns the ranges of a stream that match, as offset and length. It holds a window of the stream in memory.
func (p *Pattern) scan(r io.Reader) (places [][2]int64, err error) {
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
			done = base + int64(m[1])
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
