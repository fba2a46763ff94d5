package term

import (
	"bytes"
	"encoding/binary"
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
	for from, end := 0, 0; from < len(text); from = end {
		if end = m.stretch(text, from); !m.holds(text[from:end]) {
			continue
		}
		s.Each(text[from:end], func(term []byte, start, stop int, kind Kind) bool {
			m.term(term, Span{from + start, from + stop}, kind)
			return true
		})
	}
	return merge(m.found)
}

// leastStretch is how many bytes are looked through at once for what is marked, or up to the end of their last line.
const leastStretch = 128

// stretch returns where one ends that can be split by itself: no word, blob or escape goes on over the end of a line. Where terms
// must follow each other, it is the whole text.
func (m *matcher) stretch(text string, from int) int {
	if m.phrased || len(text)-from <= leastStretch {
		return len(text)
	}
	if n := strings.IndexByte(text[from+leastStretch:], '\n'); n >= 0 {
		return from + leastStretch + n + 1
	}
	return len(text)
}

// holds tells whether any of the terms may be in a stretch: those of ASCII are its bytes, with small letters for capitals. Most
// stretches of most texts have none, and to see that takes a tenth of splitting them.
func (m *matcher) holds(stretch string) bool {
	if m.phrased {
		return true
	}
	low, plain := appendLow(m.low[:0], stretch)
	if m.low = low; !plain {
		return true
	}
	for t := range m.exact {
		if bytes.Contains(low, []byte(t)) {
			return true
		}
	}
	for i := range m.prefix {
		if bytes.Contains(low, m.prefix[i].text) {
			return true
		}
	}
	return false
}

// appendLow appends text with small letters for capitals, unless it is not ASCII.
func appendLow(dst []byte, text string) (low []byte, plain bool) {
	dst = slices.Grow(dst, len(text)+8)
	n := len(dst)
	for i := 0; i < len(text); i += 8 {
		b := eight(text, i)
		if b&high != 0 {
			return dst, false
		}
		letters, _ := kindsOf(b)
		capitals := letters &^ (b << 2)
		dst = binary.LittleEndian.AppendUint64(dst, b|capitals>>2)
	}
	return dst[:n+len(text)], true
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
	phrased bool // some terms must follow each other
	low     []byte
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
		m.phrased = m.phrased || len(terms) > 1
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
		if last > 0 && kind > Unescaped && !(k == 0 && kind == Trailing) && !(k == last && kind == Leading) {
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
