package term

import (
	"bytes"
	"slices"
	"strings"
)

// Span is a range of bytes in a text.
type Span struct{ Start, End int }

// Highlight returns where the phrases stand in text, as ranges that rise and do not overlap. A phrase is the
// terms of Words, which must stand in consecutive places; Sequences tells where parts of identifiers will do. A term that
// ends in '*' stands for every term that begins so.
func Highlight(text string, phrases [][]string) []Span {
	m := newMatcher(phrases)
	if len(m.exact)+len(m.prefix) == 0 {
		return nil
	}
	var s Splitter
	s.Each(text, func(term []byte, start, end int, kind Kind) bool {
		m.term(term, Span{start, end}, kind)
		return true
	})
	return merge(m.found)
}

// place is a term of a phrase.
type place struct {
	phrase *progress
	at     int
}

// progress is how far a phrase has been seen: for every count of terms, where a match of so many begins that ends in the
// last place of the text that was looked at, and in the one before it; -1 is none.
type progress struct {
	last, before []int
	place        int // of last
}

func newProgress(terms int) *progress {
	p := &progress{last: make([]int, terms+1), before: make([]int, terms+1)}
	p.forget(p.last)
	p.forget(p.before)
	return p
}

func (p *progress) forget(of []int) {
	for i := range of {
		of[i] = -1
	}
}

// reach goes on to a place of the text.
func (p *progress) reach(place int) {
	if p.place == place {
		return
	}
	p.last, p.before = p.before, p.last
	if p.place != place-1 {
		p.forget(p.before)
	}
	p.forget(p.last)
	p.place = place
}

type matcher struct {
	exact   map[string][]place
	lengths [MaxTerm + 1]bool // of those: most terms of a text have none of them
	prefix  []prefixed
	n       int // places seen
	found   []Span
}

type prefixed struct {
	text   []byte
	places []place
}

func newMatcher(phrases [][]string) *matcher {
	m := &matcher{exact: map[string][]place{}}
	for _, terms := range phrases {
		p := newProgress(len(terms))
		for k := range terms {
			head, open := strings.CutSuffix(terms[k], "*")
			switch {
			case !open:
				m.exact[head] = append(m.exact[head], place{p, k})
				m.lengths[min(len(head), MaxTerm)] = true
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
func (m *matcher) term(term []byte, span Span, kind Kind) {
	if kind == Whole {
		m.n++
	}
	if m.lengths[min(len(term), MaxTerm)] {
		m.advance(m.exact[string(term)], span, kind)
	}
	var open []place
	for _, p := range m.prefix {
		if bytes.HasPrefix(term, p.text) {
			open = append(open, p.places...)
		}
	}
	if len(open) > 0 {
		m.advance(open, span, kind)
	}
}

// advance moves the phrases on that wait for a term at one of these places.
func (m *matcher) advance(places []place, span Span, kind Kind) {
	for _, at := range places {
		p, k := at.phrase, at.at
		last := len(p.last) - 2
		if last > 0 && kind != Whole && !(k == 0 && kind == Trailing) && !(k == last && kind == Leading) {
			continue
		}
		p.reach(m.n)
		start := span.Start
		if k > 0 {
			if start = p.before[k]; start < 0 {
				continue
			}
		}
		if k == last {
			m.found = append(m.found, Span{start, span.End})
		} else if p.last[k+1] < 0 {
			p.last[k+1] = start
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
