package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/text"
)

// clean makes text from a transcript harmless to a terminal: escape sequences go as a whole, and so do all other
// control characters but line feeds and tabs, characters that turn the direction of text around, and those that
// nobody sees. What is not UTF-8 becomes U+FFFD. Everything that people see went through it, or through line.
func clean(s string) string {
	if harmless(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\x1b' || r == 0x9b || r == 0x9d || r == 0x90 || r == 0x98 || r == 0x9e || r == 0x9f:
			n = sequence(s[i:], r, n)
		case r == '\r' && strings.HasPrefix(s[i:], "\r\n"):
		case hidden(r):
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

func harmless(s string) bool {
	for _, r := range s {
		if ascii := r >= ' ' && r <= '~'; !ascii && (hidden(r) || r == utf8.RuneError) {
			return false
		}
	}
	return true
}

// printable says whether a text is printable ASCII: most that stands in tables is, and needs no closer look.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// widthOf is how many columns of a terminal a text takes. Escape sequences in it take none.
func widthOf(s string) int {
	if printable(s) {
		return len(s)
	}
	return text.StringWidthWithoutEscSequences(s)
}

// unseen are characters without a shape of their own: those that turn the direction of text around, fillers, tags, selectors of variants.
// A text can be written in them that a person does not see and a model reads.
var unseen = []*unicode.RangeTable{unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Zl, unicode.Zp}

// hidden says whether a terminal would act on a character, or a person not see it. What joins letters of Persian and parts of an emoji
// stays, and what makes a sign one; signs of Arabic that stand before a number are seen.
func hidden(r rune) bool {
	switch r {
	case '\n', '\t', '\u200c', '\u200d', '\ufe0e', '\ufe0f':
		return false
	}
	return unicode.IsControl(r) || unicode.In(r, unseen...) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// maxSequence bounds what an escape sequence may swallow: one that never ends must not hide the rest of a text.
const maxSequence = 4096

// sequence is the length of the escape sequence that s begins with; r is its first character of n bytes.
func sequence(s string, r rune, n int) int {
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
	return stringSequence(s, i, n)
}

// stringSequence is the length of a sequence with a text in it, as those that set a title or a link have: up to BEL
// or ST. Without an end only its introducer goes.
func stringSequence(s string, i, n int) int {
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

// line is clean for what must stay on one line.
func line(s string) string {
	if printable(s) && !strings.Contains(s, "  ") && strings.Trim(s, " ") == s {
		return s
	}
	return strings.Join(strings.Fields(clean(s)), " ")
}

// encode is JSON on one line. What a terminal would act on is escaped, which any reader of JSON undoes.
func encode(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Sprintf(`{"error":{"code":%d,"message":"encode JSON","hint":null}}`, exitUnexpected)
	}
	s := strings.TrimSuffix(b.String(), "\n")
	if harmless(s) {
		return s
	}
	var out strings.Builder
	for _, r := range s {
		switch {
		case r > 0xffff && hidden(r):
			r -= 0x10000
			fmt.Fprintf(&out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		case hidden(r):
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// printJSON writes one object on one line.
func (a *app) printJSON(v any) error {
	_, err := fmt.Fprintln(a.out, encode(v))
	return err
}
