package term

import "strings"

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
