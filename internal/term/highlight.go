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

// Highlight returns the ranges of text that match any of the phrases, in ascending order and without overlaps. A
// phrase is the terms of Words, which must be in consecutive positions; see Sequences for where parts of identifiers
// match. A term that ends in '*' matches every term with that prefix.
func Highlight(text string, phrases [][]string) []Span {
	m := newMatcher(phrases)
	if len(m.exact)+len(m.prefix) == 0 {
		return nil
	}
	var s Splitter
	for from, end := 0, 0; from < len(text); from = end {
		end = m.chunkEnd(text, from)
		m.setChunk(text[from:end])
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

// minChunk is the least number of bytes that are matched at a time; a chunk ends at the first space after them.
const minChunk = 1024

// chunkEnd returns the end of the chunk that begins at from. Chunks can be split into terms independently, since no
// word, blob or escape continues across a space. If a phrase has several terms, the chunk is the rest of the text.
func (m *matcher) chunkEnd(text string, from int) int {
	if m.phrased || len(text)-from <= minChunk {
		return len(text)
	}
	if n := strings.IndexByte(text[from+minChunk:], ' '); n >= 0 {
		return from + minChunk + n
	}
	return len(text)
}

// setChunk sets the chunk that piece searches. The terms of ASCII text are its bytes in lower case.
func (m *matcher) setChunk(chunk string) {
	if m.size = len(chunk); m.phrased {
		return
	}
	m.lower = appendLower(m.lower[:0], chunk)
	m.nextWide = -1
	for i := range m.needles {
		m.needles[i].next = -1
	}
}

// piece returns the first piece of the chunk, at or after from, that may contain any of the terms, or an empty span
// if there is none. A piece extends from blank to blank around the bytes of a term, or around a character that is not
// ASCII and not a separator. Most of a typical text is in no piece, and finding that out takes a tenth of the time of
// splitting it.
func (m *matcher) piece(from int) Span {
	if m.phrased {
		return Span{from, m.size}
	}
	if m.nextWide < from {
		m.nextWide = nextWide(m.lower, from)
	}
	at := m.nextWide
	for i := range m.needles {
		at = min(at, m.needles[i].nextFrom(m.lower, from))
	}
	if at == m.size {
		return Span{at, at}
	}
	start, end := at, at
	for start > from && !blank(m.lower[start-1]) {
		start--
	}
	for end < m.size && !blank(m.lower[end]) {
		end++
	}
	return Span{start, end}
}

// blank reports whether no word, blob or escape continues across b. A blank may still precede an escape.
func blank(b byte) bool { return b <= ' ' && b != escape }

// needle is a term, or a prefix of terms, that a chunk is searched for.
type needle struct {
	text []byte
	next int // offset of its next occurrence in the chunk; the chunk's length if there is none; -1 before the first search
}

// nextFrom returns the offset of the first occurrence at or after from in low, or the length of low.
func (t *needle) nextFrom(low []byte, from int) int {
	if t.next < from {
		if t.next = len(low); from < len(low) {
			if n := bytes.Index(low[from:], t.text); n >= 0 {
				t.next = from + n
			}
		}
	}
	return t.next
}

// appendLower appends text with ASCII capitals in lower case.
func appendLower(dst []byte, text string) []byte {
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

// nextWide returns the offset of the first character at or after i that is neither ASCII nor a separator, or the
// length of the text.
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

// place is the position of a term in a phrase.
type place struct {
	phrase *progress
	at     int
}

// progress is the state of matching one phrase. For every number of terms k, last[k] is where a match of the first k
// terms begins that ends at text position place, and before[k] one that ends at the position before it; -1 means
// none.
type progress struct {
	last, before []int
	place        int // text position that last belongs to
}

func newProgress(terms int) *progress {
	p := &progress{last: make([]int, terms+1), before: make([]int, terms+1)}
	p.clear(p.last)
	p.clear(p.before)
	return p
}

func (p *progress) clear(of []int) {
	for i := range of {
		of[i] = -1
	}
}

// advanceTo moves the state to a position of the text.
func (p *progress) advanceTo(place int) {
	if p.place == place {
		return
	}
	p.last, p.before = p.before, p.last
	if p.place != place-1 {
		p.clear(p.before)
	}
	p.clear(p.last)
	p.place = place
}

type matcher struct {
	exact   map[string][]place
	lengths [MaxTerm + 1]bool // lengths of the exact terms; most terms of a text have none of them
	prefix  []prefixed
	phrased bool // a phrase has several terms
	n       int  // text positions seen

	size     int    // of the chunk
	lower    []byte // the chunk in ASCII lower case
	needles  []needle
	nextWide int // offset of the next non-ASCII character, like needle.next
	found    []Span
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
		m.needles = append(m.needles, needle{text: []byte(t)})
	}
	for i := range m.prefix {
		m.needles = append(m.needles, needle{text: m.prefix[i].text})
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

// term matches the next term of the text.
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

// advance extends the matches of phrases that have the term at one of these places.
func (m *matcher) advance(places []place, span Span, kind Kind) {
	for _, at := range places {
		p, k := at.phrase, at.at
		last := len(p.last) - 2
		if last > 0 && kind > Unescaped && !(k == 0 && kind == Trailing) && !(k == last && kind == Leading) {
			continue
		}
		p.advanceTo(m.n)
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

// Merge sorts spans in place and joins those that overlap.
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
