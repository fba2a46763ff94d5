package term

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"
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
		end = m.stretch(text, from)
		m.look(text[from:end])
		for piece := m.piece(0); piece.Start < piece.End; piece = m.piece(piece.End) {
			begin := from + piece.Start
			s.Each(text[begin:from+piece.End], func(term []byte, start, stop int, kind Kind) bool {
				m.term(term, Span{begin + start, begin + stop}, kind)
				return true
			})
		}
	}
	return Merge(m.found)
}

// leastStretch is how many bytes are looked through at once for what is marked, or up to the space behind them.
const leastStretch = 1024

// stretch returns where one ends that can be split by itself: no word, blob or escape goes on over a space. Where terms
// must follow each other, it is the whole text.
func (m *matcher) stretch(text string, from int) int {
	if m.phrased || len(text)-from <= leastStretch {
		return len(text)
	}
	if n := strings.IndexByte(text[from+leastStretch:], ' '); n >= 0 {
		return from + leastStretch + n
	}
	return len(text)
}

// look looks at a stretch, of which piece then tells what must be split. Terms of ASCII are its bytes, with small letters for capitals.
func (m *matcher) look(stretch string) {
	if m.size = len(stretch); m.phrased {
		return
	}
	m.low = appendLow(m.low[:0], stretch)
	m.wide = -1
	for i := range m.sought {
		m.sought[i].next = -1
	}
}

// piece returns the first piece of the stretch, at or after from, that may hold any of the terms: from one blank to the next around its bytes, or
// around what is not ASCII and more than separates; an empty one when there is none. Most of most texts lies in none, and to see that takes a
// tenth of splitting it.
func (m *matcher) piece(from int) Span {
	if m.phrased {
		return Span{from, m.size}
	}
	if m.wide < from {
		m.wide = nextWide(m.low, from)
	}
	at := m.wide
	for i := range m.sought {
		at = min(at, m.sought[i].from(m.low, from))
	}
	if at == m.size {
		return Span{at, at}
	}
	start, end := at, at
	for start > from && !blank(m.low[start-1]) {
		start--
	}
	for end < m.size && !blank(m.low[end]) {
		end++
	}
	return Span{start, end}
}

// blank says of a byte that nothing goes on over it, no word, blob or escape. What it stands in front of may begin an escape.
func blank(b byte) bool { return b <= ' ' && b != escape }

// sought is a term, or the beginning of some, that a stretch is looked through for.
type sought struct {
	text []byte
	next int // where it stands in the stretch, behind what was looked at; the end of it: nowhere any more
}

func (t *sought) from(low []byte, from int) int {
	if t.next < from {
		if t.next = len(low); from < len(low) {
			if n := bytes.Index(low[from:], t.text); n >= 0 {
				t.next = from + n
			}
		}
	}
	return t.next
}

// appendLow appends text with small letters for capitals of ASCII.
func appendLow(dst []byte, text string) []byte {
	dst = slices.Grow(dst, len(text)+8)
	n := len(dst)
	for i := 0; i < len(text); i += 8 {
		b := eight(text, i)
		letters, _ := kindsOf(b)
		capitals := letters &^ (b << 2)
		dst = binary.LittleEndian.AppendUint64(dst, b|capitals>>2)
	}
	return dst[:n+len(text)]
}

// nextWide returns the offset of the first character from i on that is not ASCII and does not only separate words, else the length of
// the text.
func nextWide(text []byte, i int) int {
	for i < len(text) {
		if len(text)-i >= 8 {
			b := binary.LittleEndian.Uint64(text[i:]) & high
			if b == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(b) / 8
		} else if text[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		if lookup(r).class != 0 {
			return i
		}
		i += n
	}
	return len(text)
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
	n       int  // places seen

	size   int    // of the stretch
	low    []byte // it, with small letters
	sought []sought
	wide   int // the next character of it that is not ASCII, as those have theirs
	found  []Span
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
	for t := range m.exact {
		m.sought = append(m.sought, sought{text: []byte(t)})
	}
	for i := range m.prefix {
		m.sought = append(m.sought, sought{text: m.prefix[i].text})
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

// Merge sorts spans, in their place, and joins those that overlap.
func Merge(spans []Span) []Span {
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End)) })
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
