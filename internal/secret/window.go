package secret

import "strings"

// window is a part of a text where a rule may match.
type window struct{ start, end int }

// How far around a keyword a rule looks: secrets of one line are short but for the last word, which is taken whole;
// keys in PEM go over many lines.
const (
	before    = 128
	after     = 512
	afterLong = 16 << 10
	wordLimit = 64 << 10
)

// windows returns the parts of a text around the rule's keywords, in order and apart from each other.
func windows(lower string, r *rule) []window {
	var out []window
	reach := after
	if r.long {
		reach = afterLong
	}
	next := make([]int, len(r.Keywords)) // where each keyword stands next; len(lower) when nowhere
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

// index returns where a word stands from an offset on: the length of the text if nowhere.
func index(text, word string, from int) int {
	if from >= len(text) {
		return len(text)
	}
	if i := strings.Index(text[from:], word); i >= 0 {
		return from + i
	}
	return len(text)
}

// wordEnd moves an offset to the end of the word that it is in, so that no secret is cut.
func wordEnd(text string, at int) int {
	limit := min(at+wordLimit, len(text))
	if i := strings.IndexAny(text[at:limit], " \t\r\n\"'`"); i >= 0 {
		return min(at+i+1, len(text))
	}
	return limit
}
