package term

import (
	"strings"
	"unicode/utf8"
)

// escape begins a sequence by which a program tells a terminal to change color or to move.
const escape = '\x1b'

// maxSequence bounds what a sequence may swallow.
const maxSequence = 64

// past returns the offset behind the escape at i, and behind its sequence if it is one of those that would else stick to the
// word that follows: ESC, [, numbers, a letter.
func past(text string, i int) int {
	i++
	if i == len(text) || text[i] != '[' {
		return i
	}
	if j := numbers(text, i+1); j < len(text) && kinds[text[j]]&(lower|upper) != 0 {
		return j + 1
	}
	return i
}

// numbers returns the end of the numbers of a sequence, and what stands between them, from i on.
func numbers(text string, i int) int {
	for limit := min(len(text), i+maxSequence); i < limit && text[i] >= '0' && text[i] <= '?'; {
		i++
	}
	return i
}

// Inside tells of a piece of a text whether it may begin inside of such a sequence (with the bracket and a number: what begins
// behind these looks like any word), and up to where none that goes on behind the piece may have begun in it.
func Inside(piece string) (begins bool, end int) {
	if strings.HasPrefix(piece, "[") {
		i := numbers(piece, 1)
		begins = i > 1 && (i == len(piece) || kinds[piece[i]]&(lower|upper) != 0)
	}
	if end = strings.LastIndexByte(piece, escape); end < 0 || past(piece, end) > end+1 {
		end = len(piece)
	}
	return begins, end
}

// nextEscape returns the offset of the first escape from i on, else the length of the text.
func nextEscape(text string, i int) int {
	if n := strings.IndexByte(text[i:], escape); n >= 0 {
		return i + n
	}
	return len(text)
}

// unescapes reports whether the byte at i of text is the letter of an escape by which a line ends, or a tab stands, in JSON and in
// the quotes of most languages. It may be the first of a name as well (C:\new).
func unescapes(text string, i int) bool {
	return i > 0 && text[i-1] == '\\' && (text[i] == 'n' || text[i] == 'r' || text[i] == 't')
}

// escaped reports whether a word, of which Next makes one term, may begin behind its first letter.
func (w word) escaped(text string) bool {
	if w.single || !unescapes(text, w.start) || w.end-w.start < 2 {
		return false
	}
	r, _ := utf8.DecodeRuneInString(text[w.start+1 : w.end])
	return lookup(r).class == inWord
}

// appendUnescaped appends an escaped word without its first letter, and its parts, but what stands in dst from from on.
func (s *Splitter) appendUnescaped(dst []byte, from int, text string, w word) []byte {
	told := from // where the terms begin that runs were not told of
	s.eachUnescaped(text, w, func(term []byte, _, _ int, kind Kind) bool {
		at := len(dst) + 1
		if dst = append(dst, Same); kind != Unescaped {
			dst = append(dst, byte(kind))
		}
		dst = append(dst, term...)
		var again bool
		if kind == Unescaped {
			again = among(dst[from:at-1], dst[at:])
		} else {
			if told == from {
				s.runs.reset()
			}
			told = s.tell(dst[:at], told)
			again = s.runs.has(dst, at)
		}
		if again {
			dst = dst[:at-1]
		}
		return true
	})
	return dst
}

// tell tells runs of the terms of dst from an offset on. What separates them is behind the last one, too.
func (s *Splitter) tell(dst []byte, from int) int {
	for end := from; end < len(dst); end++ {
		if dst[end] <= ' ' {
			s.runs.has(dst[:end], from)
			from = end + 1
		}
	}
	return from
}

// eachUnescaped yields the terms that appendUnescaped appends, and perhaps others that the word has itself.
func (s *Splitter) eachUnescaped(text string, w word, yield func([]byte, int, int, Kind) bool) bool {
	w.start++
	s.term = appendFold(s.term[:0], text[w.start:w.end])
	return yield(s.term, w.start, w.end, Unescaped) && s.eachPart(text, w, 1, 1, yield)
}
