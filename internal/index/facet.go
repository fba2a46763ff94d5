package index

import (
	"strings"
	"unicode/utf8"
)

// facetSize is the maximal length of a facet in bytes, as for words of the tokeniser.
const facetSize = 64

// Facet returns the term that represents a value of a field in the full-text index: ":tool:bash". It folds case and
// turns every byte that FTS5's tokeniser might split on into "_". Both indexing and queries use it, so values that
// fold to the same facet are equal to both. Facets are stored among the words of a row; no word begins with ":".
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

// SharesFacet reports whether a value is so long that the facet may be that of other values which begin alike.
func SharesFacet(field, value string) bool {
	return len(":"+field+":")+len(strings.ToLower(value)) > facetSize-utf8.UTFMax
}

// IsWord reports whether a term is a word of a text, as opposed to a part of one (which term.Kind precedes) or a facet.
func IsWord(t []byte) bool { return len(t) > 0 && facetByte(t[0]) }

func facetByte(c byte) bool {
	return c >= utf8.RuneSelf || 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '.' || c == '_' || c == '/' || c == '-'
}

// wholeRunes drops a last character that the size limit cut in two.
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
