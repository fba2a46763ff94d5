package term

import (
	"bytes"
	"slices"
	"strings"
)

// Span is a range of bytes in a text.
type Span struct{ Start, End int }

// Highlight returns where the phrases stand in text, as ranges that rise and do not overlap. A phrase is the
// terms of Words: several must be consecutive words; a single one may also be a part of an identifier. A term
// that ends in '*' stands for every term that begins so.
func Highlight(text string, phrases [][]string) []Span {
	m := newMatcher(phrases)
	if len(m.exact)+len(m.prefix) == 0 {
		return nil
	}
	var s Splitter
	s.Each(text, func(term []byte, start, end int, part bool) bool {
		m.term(term, Span{start, end}, part)
		return true
	})
	return merge(m.found)
}

// place is a term of a phrase.
type place struct {
	phrase *progress
	at     int
}

// progress is how far a phrase has been seen: for every count of terms, where the latest match of so many
// began and which term of the text ended it.
type progress struct {
	start []int
	seen  []int
}

type matcher struct {
	exact  map[string][]place
	prefix []prefixed
	n      int // terms seen, parts left out
	found  []Span
}

type prefixed struct {
	text   []byte
	places []place
}

func newMatcher(phrases [][]string) *matcher {
	m := &matcher{exact: map[string][]place{}}
	for _, terms := range phrases {
		p := &progress{start: make([]int, len(terms)+1), seen: make([]int, len(terms)+1)}
		for k := len(terms) - 1; k >= 0; k-- { // falling, so that a repeated word is not taken twice by one term
			head, open := strings.CutSuffix(terms[k], "*")
			switch {
			case !open:
				m.exact[head] = append(m.exact[head], place{p, k})
			case head != "":
				m.addPrefix(head, place{p, k})
			}
		}
	}
	return m
}

func (m *matcher) addPrefix(head string, at place) {
	for i := range m.prefix {
		if string(m.prefix[i].text) == head {
			m.prefix[i].places = append(m.prefix[i].places, at)
			return
		}
	}
	m.prefix = append(m.prefix, prefixed{[]byte(head), []place{at}})
}

// term takes the next term of the text.
func (m *matcher) term(term []byte, span Span, part bool) {
	if !part {
		m.n++
	}
	var open []place
	for _, p := range m.prefix {
		if bytes.HasPrefix(term, p.text) {
			open = append(open, p.places...)
		}
	}
	if len(open) == 0 {
		m.advance(m.exact[string(term)], span, part)
		return
	}
	open = append(open, m.exact[string(term)]...)
	slices.SortStableFunc(open, func(a, b place) int { return b.at - a.at })
	m.advance(open, span, part)
}

// advance moves the phrases on that wait for a term at one of these places, which fall per phrase.
func (m *matcher) advance(places []place, span Span, part bool) {
	for _, at := range places {
		p, k, size := at.phrase, at.at, len(at.phrase.start)-1
		if part && size > 1 {
			continue
		}
		start := span.Start
		if k > 0 {
			if p.seen[k] != m.n-1 || m.n == 1 {
				continue
			}
			start = p.start[k]
		}
		if k+1 == size {
			m.found = append(m.found, Span{start, span.End})
		} else {
			p.start[k+1], p.seen[k+1] = start, m.n
		}
	}
}

// merge sorts spans and joins those that overlap.
func merge(spans []Span) []Span {
	slices.SortFunc(spans, func(a, b Span) int {
		if a.Start != b.Start {
			return a.Start - b.Start
		}
		return b.End - a.End
	})
	out := spans[:0]
	for _, s := range spans {
		if n := len(out); n > 0 && s.Start < out[n-1].End {
			out[n-1].End = max(out[n-1].End, s.End)
			continue
		}
		out = append(out, s)
	}
	return out
}
