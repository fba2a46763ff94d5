package terminal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean makes untrusted text harmless to a terminal. It removes whole escape sequences, all other control characters
// except line feeds and tabs, bidirectional formatting characters, and invisible characters. Invalid UTF-8 becomes
// U+FFFD; a carriage return, vertical tab, form feed, or Unicode line or paragraph separator becomes a line feed.
// Everything shown to people goes through Clean or OneLine.
func Clean(s string) string {
	if harmless(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\x1b' || r == 0x9b || r == 0x9d || r == 0x90 || r == 0x98 || r == 0x9e || r == 0x9f:
			n = sequenceLen(s[i:], r, n)
		case r == '\r' && strings.HasPrefix(s[i:], "\r\n"):
		case IsHidden(r):
			if r == '\u2028' || r == '\u2029' || r == '\r' || r == '\v' || r == '\f' {
				b.WriteByte('\n')
			}
		default:
			b.WriteRune(r) // U+FFFD for a byte that is no UTF-8
		}
		i += n
	}
	return b.String()
}

// harmless reports whether Clean has nothing to do. It is false for any U+FFFD, which may stand for invalid UTF-8.
func harmless(s string) bool {
	for _, r := range s {
		if ascii := r >= ' ' && r <= '~'; !ascii && (IsHidden(r) || r == utf8.RuneError) {
			return false
		}
	}
	return true
}

// printable reports whether s is all printable ASCII. Most table cells are, and take the fast path.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// invisible lists characters that have no glyph of their own: bidirectional controls, fillers, tags, variation selectors. Text written
// in them is invisible to people and still read by a model.
var invisible = []*unicode.RangeTable{unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Zl, unicode.Zp}

// IsHidden reports whether a terminal would act on r, or a person could not see it. The joiners of Persian and of emoji (ZWNJ, ZWJ) and
// the text and emoji variation selectors are not hidden, nor are the Arabic number signs (prepended concatenation marks).
func IsHidden(r rune) bool {
	switch r {
	case '\n', '\t', '\u200c', '\u200d', '\ufe0e', '\ufe0f':
		return false
	}
	return unicode.IsControl(r) || unicode.In(r, invisible...) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// maxSequence is the longest string sequence, in bytes, that is removed: one that never ends must not hide the rest of a text.
const maxSequence = 4096

// sequenceLen returns the length in bytes of the escape sequence at the start of s. r is its first character, n bytes long.
func sequenceLen(s string, r rune, n int) int {
	kind, i := r, n
	if r == '\x1b' {
		if i >= len(s) {
			return i
		}
		switch kind = rune(s[i]); kind {
		case '[', ']', 'P', 'X', '^', '_':
			i++
		default: // ESC, intermediate bytes, one final byte
			for i < len(s) && s[i] >= 0x20 && s[i] <= 0x2f {
				i++
			}
			if i < len(s) && s[i] >= 0x30 && s[i] <= 0x7e {
				i++
			}
			return i
		}
	}
	if kind == '[' || kind == 0x9b { // parameters, one final byte
		for i < len(s) && s[i] >= 0x20 && s[i] <= 0x3f {
			i++
		}
		if i < len(s) && s[i] >= 0x40 && s[i] <= 0x7e {
			i++
		}
		return i
	}
	return stringSequenceLen(s, i, n)
}

// stringSequenceLen returns the length of a sequence that carries a string, such as those that set a title or a link: up to BEL or ST.
// If neither follows on the same line, only the introducer counts.
func stringSequenceLen(s string, i, n int) int {
	for j := i; j < min(len(s), maxSequence); j++ {
		switch {
		case s[j] == '\a':
			return j + 1
		case s[j] == '\x1b' && j+1 < len(s) && s[j+1] == '\\':
			return j + 2
		case s[j] == 0xc2 && j+1 < len(s) && s[j+1] == 0x9c:
			return j + 2
		case s[j] == '\n':
			return max(i, n)
		}
	}
	return max(i, n)
}

// OneLine is Clean for text that must stay on one line: each run of white space becomes one space.
func OneLine(s string) string {
	if printable(s) && !strings.Contains(s, "  ") && strings.Trim(s, " ") == s {
		return s
	}
	return strings.Join(strings.Fields(Clean(s)), " ")
}

// EncodeJSON returns v as JSON on one line, without a line feed. Characters that a terminal would act on are written as \u escapes,
// which every JSON parser undoes. HTML characters are not escaped.
func EncodeJSON(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "", err
	}
	s := strings.TrimSuffix(b.String(), "\n")
	if harmless(s) {
		return s, nil
	}
	var out strings.Builder
	for _, r := range s {
		switch {
		case r > 0xffff && IsHidden(r):
			r -= 0x10000
			fmt.Fprintf(&out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		case IsHidden(r):
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			out.WriteRune(r)
		}
	}
	return out.String(), nil
}

// CleanWriter is a writer that passes text on through Clean, line by line. Lines over 1 MiB are passed on in parts. It must be closed.
type CleanWriter struct {
	W    io.Writer
	rest []byte // of the last line
}

// maxLine bounds how much of a line without an end is held back, in bytes.
const maxLine = 1 << 20

// Write implements io.Writer.
func (c *CleanWriter) Write(p []byte) (int, error) {
	c.rest = append(c.rest, p...)
	n := len(c.rest)
	for n > 0 && c.rest[n-1] != '\n' {
		n--
	}
	if n == 0 && len(c.rest) < maxLine {
		return len(p), nil
	}
	if n == 0 {
		n = len(c.rest)
	}
	_, err := io.WriteString(c.W, Clean(string(c.rest[:n])))
	c.rest = c.rest[:copy(c.rest, c.rest[n:])]
	return len(p), err
}

// Close writes the rest of a last line that has no line feed.
func (c *CleanWriter) Close() error {
	_, err := io.WriteString(c.W, Clean(string(c.rest)))
	c.rest = nil
	return err
}
