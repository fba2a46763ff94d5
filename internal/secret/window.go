package secret

import (
	"strings"
	"sync"
)

// place is where a keyword is in a text.
type place struct{ start, end int }

// keyword is a keyword of a rule.
type keyword struct {
	text string
	rule *rule
}

// lexicon has the keywords of all rules by their first two bytes.
type lexicon struct {
	number [1 << 16]uint16 // of the list; 0 is the empty one
	lists  [][]keyword
}

// keywords returns the lexicon, which is made once.
var keywords = sync.OnceValue(func() *lexicon {
	l := &lexicon{lists: make([][]keyword, 1)}
	for _, r := range rules() {
		for _, k := range r.Keywords {
			n := &l.number[pair(k[0], k[1])]
			if *n == 0 {
				*n = uint16(len(l.lists))
				l.lists = append(l.lists, nil)
			}
			l.lists[*n] = append(l.lists[*n], keyword{k, r})
		}
	}
	return l
})

func pair(a, b byte) int { return int(a)<<8 | int(b) }

// places returns where the keywords of each rule are in a text, in order.
func places(text string) map[*rule][]place {
	found := map[*rule][]place{}
	words := keywords()
	last := byte(0)
	for i := range len(text) {
		c := lower[text[i]]
		if n := words.number[pair(last, c)]; n > 0 {
			for _, k := range words.lists[n] {
				if hasKeyword(text[i-1:], k.text) {
					found[k.rule] = append(found[k.rule], place{i - 1, i - 1 + len(k.text)})
				}
			}
		}
		last = c
	}
	return found
}

// lower has the lower case of each ASCII letter, and every other byte as it is.
var lower = func() (t [256]byte) {
	for i := range t {
		t[i] = byte(i)
	}
	for c := 'A'; c <= 'Z'; c++ {
		t[c] += 'a' - 'A'
	}
	return t
}()

// hasKeyword reports whether a text begins with a word, which is in lower case.
func hasKeyword(text, word string) bool {
	if len(text) < len(word) {
		return false
	}
	for i := range len(word) {
		if lower[text[i]] != word[i] {
			return false
		}
	}
	return true
}

// window is a part of a text where a rule may match, with the places of keywords in it.
type window struct {
	start, end int
	places     []place
}

// How many bytes around a keyword a rule searches. Secrets of one line are short except for the last word, which is
// included completely; PEM keys span many lines.
const (
	before    = 128
	after     = 512
	afterLong = 16 << 10
	wordLimit = 64 << 10
)

// windows returns the parts of a text around the places of the rule's keywords, in order and without overlaps.
func (r *rule) windows(text string, all []place) (out []window) {
	reach := after
	if r.long {
		reach = afterLong
	}
	words := words{text: text, end: -1}
	first := 0 // place of the last window
	for i, p := range all {
		w := window{start: max(p.start-before, 0), end: words.endOf(min(p.end+reach, len(text)))}
		if n := len(out); n > 0 && w.start <= out[n-1].end {
			w.start, w.end = out[n-1].start, max(out[n-1].end, w.end)
			out = out[:n-1]
		} else {
			first = i
		}
		w.places = all[first : i+1]
		out = append(out, w)
	}
	return out
}

// words finds the ends of the words of a text. It reads a long word once, wherever in it one begins.
type words struct {
	text       string
	start, end int // within one word, which ends at end
}

// endOf returns where the word around an offset ends, so that no secret is cut.
func (w *words) endOf(at int) int {
	if at < w.start || at > w.end {
		w.start, w.end = at, len(w.text)
		if i := strings.IndexAny(w.text[at:], " \t\r\n\"'`"); i >= 0 {
			w.end = at + i
		}
	}
	return min(w.end+1, at+wordLimit, len(w.text))
}
