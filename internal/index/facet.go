package index

import (
	"strings"
	"unicode/utf8"
)

// facetSize is the longest facet in bytes, as the tokeniser cuts words.
const facetSize = 64

// Facet is the term by which search knows a value of a field: ":tool:bash". It folds case, and turns every
// byte that the full-text engine might split on into "_". Index and query use it alike, so two values that
// fold to one are one to both. Facets stand among the words of a row, and no word begins as they do.
func Facet(field, value string) string {
	b := make([]byte, 0, facetSize)
	b = append(b, ':')
	b = append(b, field...)
	b = append(b, ':')
	for _, c := range []byte(strings.ToLower(value)) {
		if len(b) == facetSize {
			break
		}
		if !facetByte(c) {
			c = '_'
		}
		b = append(b, c)
	}
	return string(wholeRunes(b))
}

// IsWord says whether a term is a word of a text, and not a part of one (term.Kind stands before those) or a facet.
func IsWord(t []byte) bool { return len(t) > 0 && facetByte(t[0]) }

func facetByte(c byte) bool {
	return c >= utf8.RuneSelf || 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '.' || c == '_' || c == '/' || c == '-'
}

// wholeRunes drops a character that was cut in two.
func wholeRunes(b []byte) []byte {
	if len(b) < facetSize {
		return b
	}
	for n := 1; n < utf8.UTFMax; n++ {
		if i := len(b) - n; utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				return b[:i]
			}
			break
		}
	}
	return b
}
