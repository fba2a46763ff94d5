package fts5

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// place is where a term stands in a row.
type place struct {
	row int64
	at  uint64
}

func (p place) compareRow(row int64) int { return cmp.Compare(p.row, row) }

func (p place) compare(o place) int {
	return cmp.Or(cmp.Compare(p.row, o.row), cmp.Compare(p.at, o.at))
}

// phraseGroup is phrases of one column that differ in their first terms alone: however many those are, what follows is walked once,
// and what begins so is gathered once.
type phraseGroup []*Phrase

// groupPhrases parts alternatives into phrases that are alike, as one expression each, and all others. What is said twice is
// asked once.
func groupPhrases(of Or) (phrases, others []Expr) {
	known, said := map[string]int{}, map[string]bool{}
	for _, e := range of {
		p, ok := e.(*Phrase)
		if ok && !p.Prefix {
			text := p.String()
			if said[text] {
				continue
			}
			said[text] = true
		}
		if !ok || len(p.Terms) < 2 && !p.Prefix { // a term alone is a list
			others = append(others, e)
			continue
		}
		key := p.Column.Name + " " + strings.Join(p.Terms[1:], " ")
		if p.Prefix {
			key += "*"
		}
		i, ok := known[key]
		if !ok {
			i = len(phrases)
			known[key], phrases = i, append(phrases, phraseGroup(nil))
		}
		phrases[i] = append(phrases[i].(phraseGroup), p)
	}
	return phrases, others
}

func (x phraseGroup) String() string                 { return alternatives(x).String() }
func (x phraseGroup) phrases(to []*Phrase) []*Phrase { return append(to, x...) }

// alternatives are phrases of which one is asked for.
func alternatives(x phraseGroup) (o Or) {
	for _, p := range x {
		o = append(o, p)
	}
	return o
}

func (x phraseGroup) in(a *asked, segment int) walker {
	first := x[0]
	if first.Prefix && len(first.Terms) == 1 {
		return x.begun(a, segment)
	}
	c := &phraseRows{view: a.view, segment: a.view.segments[segment], column: first.Column.Number, most: min(leastPlaces, a.view.measures.Places), lookahead: unknown}
	rest := first.Terms[1:]
	if first.Prefix {
		rest, c.end = rest[:len(rest)-1], rest[len(rest)-1]
	}
	for _, t := range rest {
		w := first.iterate(a, segment, t)
		if w == nil {
			return nil
		}
		c.rest = append(c.rest, w)
	}
	c.first = &union{shelf: a.view.shelf}
	for _, p := range x {
		if w := p.iterate(a, segment, p.Terms[0]); w != nil {
			c.first.heads = append(c.first.heads, head{math.MaxInt64, w})
		}
	}
	switch n := len(c.first.heads); {
	case n == 0:
		return nil
	case n == 1 && c.end == "":
		return newSequence(append([]*iterator{c.first.heads[0].of.(*iterator)}, c.rest...))
	}
	all := []walker{c.first}
	for _, w := range c.rest {
		all = append(all, w)
	}
	c.walker = intersect(all)
	return c
}

// phraseRows is the rows of a segment that have one of some terms, behind it others, and behind those one that begins with end.
// Which rows have that is looked up for many at once, since all terms that begin so are looked through for it.
type phraseRows struct {
	walker // the rows that have all whole terms
	view   *View
	first  *union
	rest   []*iterator
	column int
	end    string // "": nothing more

	segment *part
	lookahead
	most   int // places that are looked behind next
	places []uint64
	word   []uint64
}

// leastPlaces is how many places it looks behind at first.
const leastPlaces = 1 << 13

// Advance implements Rows.
func (c *phraseRows) Advance(at int64) (int64, error) {
	if c.end == "" {
		return c.whole(at)
	}
	return c.down(at, c.look)
}

// whole returns the next row that has the whole terms side by side, with the places where they end.
func (c *phraseRows) whole(at int64) (int64, error) {
	for {
		row, err := c.walker.Advance(at)
		if err != nil || row < 0 {
			return -1, err
		}
		c.places = c.places[:0]
		if err := c.begin(0, row); err != nil {
			return -1, err
		}
		slices.Sort(c.places)
		for _, w := range c.rest {
			list, err := w.positions()
			if err != nil {
				return -1, err
			}
			c.word = places(c.word[:0], inColumn(list, c.column))
			c.places = adjacent(c.places, c.word)
		}
		if len(c.places) > 0 {
			return row, nil
		}
		at = row - 1
	}
}

// begin adds the places of the first terms that the row has: those at the top of the heap.
func (c *phraseRows) begin(i int, row int64) error {
	if i >= len(c.first.heads) || c.first.heads[i].row != row {
		return nil
	}
	list, err := c.first.heads[i].of.(*iterator).positions()
	if err != nil {
		return err
	}
	c.places = places(c.places, inColumn(list, c.column))
	return cmp.Or(c.begin(2*i+1, row), c.begin(2*i+2, row))
}

// look finds which of the next rows have all of it.
func (c *phraseRows) look(at int64) error {
	b := prefixScan{view: c.view, column: c.column}
	for len(b.behind) < c.most {
		row, err := c.whole(at)
		if err != nil {
			return err
		}
		if c.below = row; row < 0 {
			break
		}
		for _, p := range c.places {
			b.behind = append(b.behind, place{row, p})
		}
		at = row - 1
	}
	c.most = min(4*c.most, c.view.measures.Places)
	if len(b.behind) == 0 {
		return nil
	}
	slices.SortFunc(b.behind, place.compare)
	b.from, b.to = b.behind[0].row, b.behind[len(b.behind)-1].row+1
	if err := b.read([]*part{c.segment}, []string{c.end}); err != nil {
		return err
	}
	c.rows = b.rows.set().Rows()
	return nil
}

// adjacent is where words stand that stand right behind the places: both rise.
func adjacent(behind, words []uint64) []uint64 {
	n, k := 0, 0
	for _, p := range behind {
		for k < len(words) && words[k] <= p {
			k++
		}
		if k < len(words) && words[k] == p+1 {
			behind[n] = p + 1
			n++
		}
	}
	return behind[:n]
}
