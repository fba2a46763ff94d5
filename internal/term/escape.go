package term

import (
	"strings"
	"unicode/utf8"
)

// escape begins a terminal control sequence, such as one that sets a color or moves the cursor.
const escape = '\x1b'

// maxSequence bounds the length of a control sequence, and thus how much text one can hide.
const maxSequence = 64

// skipEscape returns the offset after the escape at i. It also skips a whole CSI sequence that ends in a letter (ESC
// [ numbers letter), since that letter would otherwise stick to the word that follows.
func skipEscape(text string, i int) int {
	i++
	if i == len(text) || text[i] != '[' {
		return i
	}
	if j := skipParameters(text, i+1); j < len(text) && kinds[text[j]]&(lower|upper) != 0 {
		return j + 1
	}
	return i
}

// skipParameters returns the end of the parameter bytes (digits and separators) of a control sequence, from i on.
func skipParameters(text string, i int) int {
	for limit := min(len(text), i+maxSequence); i < limit && text[i] >= '0' && text[i] <= '?'; {
		i++
	}
	return i
}

// InsideEscape reports whether a piece of a text may begin inside of a control sequence, and how much of the piece is
// surely outside of one that continues after it. Only a piece that begins with the bracket and a parameter is
// recognised: what follows these looks like any other word.
func InsideEscape(piece string) (begins bool, end int) {
	if strings.HasPrefix(piece, "[") {
		i := skipParameters(piece, 1)
		begins = i > 1 && (i == len(piece) || kinds[piece[i]]&(lower|upper) != 0)
	}
	if end = strings.LastIndexByte(piece, escape); end < 0 || skipEscape(piece, end) > end+1 {
		end = len(piece)
	}
	return begins, end
}

// nextEscape returns the offset of the first escape at or after i, or the length of the text.
func nextEscape(text string, i int) int {
	if n := strings.IndexByte(text[i:], escape); n >= 0 {
		return i + n
	}
	return len(text)
}

// afterBackslash reports whether the byte at i is the letter of \n, \r or \t, which stand for a line end or tab in
// JSON and in string literals of most languages. It may also begin a name (C:\new).
func afterBackslash(text string, i int) bool {
	return i > 0 && text[i-1] == '\\' && (text[i] == 'n' || text[i] == 'r' || text[i] == 't')
}

// escaped reports whether w, which is a single term, may begin only after its first letter, because that is the
// letter of an escape such as \n.
func (w word) escaped(text string) bool {
	if w.single || !afterBackslash(text, w.start) || w.end-w.start < 2 {
		return false
	}
	r, _ := utf8.DecodeRuneInString(text[w.start+1 : w.end])
	return lookup(r).class == inWord
}

// appendUnescaped appends an escaped word without its first letter, and its parts, except terms that dst has already
// at or after from.
func (s *Splitter) appendUnescaped(dst []byte, from int, text string, w word) []byte {
	added := from // terms of dst from here on are not in s.runs yet
	s.eachUnescaped(text, w, func(term []byte, _, _ int, kind Kind) bool {
		at := len(dst) + 1
		if dst = append(dst, Same); kind != Unescaped {
			dst = append(dst, byte(kind))
		}
		dst = append(dst, term...)
		var again bool
		if kind == Unescaped {
			again = contains(dst[from:at-1], dst[at:])
		} else {
			if added == from {
				s.runs.reset()
			}
			added = s.addRuns(dst[:at], added)
			again = s.runs.add(dst, at)
		}
		if again {
			dst = dst[:at-1]
		}
		return true
	})
	return dst
}

// addRuns adds the terms of dst at or after from to s.runs and returns where the next term begins. A separator
// follows the last one, too.
func (s *Splitter) addRuns(dst []byte, from int) int {
	for end := from; end < len(dst); end++ {
		if dst[end] <= ' ' {
			s.runs.add(dst[:end], from)
			from = end + 1
		}
	}
	return from
}

// eachUnescaped yields the terms that appendUnescaped appends; it may repeat terms of the word itself.
func (s *Splitter) eachUnescaped(text string, w word, yield func([]byte, int, int, Kind) bool) bool {
	w.start++
	s.term = appendFold(s.term[:0], text[w.start:w.end])
	return yield(s.term, w.start, w.end, Unescaped) && s.eachPart(text, w, 1, 1, yield)
}
