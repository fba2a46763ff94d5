package secret

import "strings"

// window is a part of a text where a rule may match.
type window struct{ start, end int }

// How many bytes around a keyword a rule searches. Secrets of one line are short except for the last word, which is
// included completely; PEM keys span many lines.
const (
	before    = 128
	after     = 512
	afterLong = 16 << 10
	wordLimit = 64 << 10
)

// windows returns the parts of a text around the rule's keywords, in order and without overlaps.
func windows(lower string, r *rule) []window {
	var out []window
	reach := after
	if r.long {
		reach = afterLong
	}
	next := make([]int, len(r.Keywords)) // offset of the next occurrence of each keyword; len(lower) if there is none
	for i, k := range r.Keywords {
		next[i] = index(lower, k, 0)
	}
	for {
		first := -1
		for i, at := range next {
			if at < len(lower) && (first < 0 || at < next[first]) {
				first = i
			}
		}
		if first < 0 {
			return out
		}
		at := next[first]
		next[first] = index(lower, r.Keywords[first], at+1)
		w := window{max(at-before, 0), wordEnd(lower, min(at+len(r.Keywords[first])+reach, len(lower)))}
		if n := len(out); n > 0 && w.start <= out[n-1].end {
			out[n-1].end = max(out[n-1].end, w.end)
			continue
		}
		out = append(out, w)
	}
}

// index returns the offset of the first occurrence of word at or after from, or the length of the text.
func index(text, word string, from int) int {
	if from >= len(text) {
		return len(text)
	}
	if i := strings.Index(text[from:], word); i >= 0 {
		return from + i
	}
	return len(text)
}

// wordEnd moves an offset to the end of the word around it, so that no secret is cut.
func wordEnd(text string, at int) int {
	limit := min(at+wordLimit, len(text))
	if i := strings.IndexAny(text[at:limit], " \t\r\n\"'`"); i >= 0 {
		return min(at+i+1, len(text))
	}
	return limit
}
