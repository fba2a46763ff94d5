package fts5

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// position is a position of a term in a row.
type position struct {
	row    int64
	offset uint64
}

func (p position) compareRow(row int64) int { return cmp.Compare(p.row, row) }

func (p position) compare(o position) int {
	return cmp.Or(cmp.Compare(p.row, o.row), cmp.Compare(p.offset, o.offset))
}

// phraseGroup is phrases of one column that differ only in their first terms. However many there are, the terms after the
// first are iterated once, and a prefix is expanded once.
type phraseGroup []*Phrase

// groupPhrases splits alternatives into groups of similar phrases, one expression each, and all others. It drops duplicates.
func groupPhrases(of Or) (phrases, others []Expr) {
	groups, seen := map[string]int{}, map[string]bool{}
	for _, e := range of {
		p, ok := e.(*Phrase)
		if ok && !p.Prefix {
			text := p.String()
			if seen[text] {
				continue
			}
			seen[text] = true
		}
		if !ok || len(p.Terms) < 2 && !p.Prefix { // a single term is a plain doclist
			others = append(others, e)
			continue
		}
		key := p.Column.Name + " " + strings.Join(p.Terms[1:], " ")
		if p.Prefix {
			key += "*"
		}
		i, ok := groups[key]
		if !ok {
			i = len(phrases)
			groups[key], phrases = i, append(phrases, phraseGroup(nil))
		}
		phrases[i] = append(phrases[i].(phraseGroup), p)
	}
	return phrases, others
}

func (x phraseGroup) String() string                 { return alternatives(x).String() }
func (x phraseGroup) phrases(to []*Phrase) []*Phrase { return append(to, x...) }

// alternatives returns the phrases as a disjunction.
func alternatives(x phraseGroup) (o Or) {
	for _, p := range x {
		o = append(o, p)
	}
	return o
}

func (x phraseGroup) build(a *exprBuilder, segment int) rowIterator {
	first := x[0]
	if first.Prefix && len(first.Terms) == 1 {
		return x.prefixRows(a, segment)
	}
	c := &phraseRows{view: a.view, segment: a.view.segments[segment], column: first.Column.Number, batch: min(minBatch, a.view.limits.Positions), lookahead: notScanned}
	rest := first.Terms[1:]
	if first.Prefix {
		rest, c.prefix = rest[:len(rest)-1], rest[len(rest)-1]
	}
	for _, t := range rest {
		w := first.iterate(a, segment, t)
		if w == nil {
			return nil
		}
		c.rest = append(c.rest, w)
	}
	c.first = &union{cache: a.view.cache}
	for _, p := range x {
		if w := p.iterate(a, segment, p.Terms[0]); w != nil {
			c.first.heads = append(c.first.heads, head{math.MaxInt64, w})
		}
	}
	switch n := len(c.first.heads); {
	case n == 0:
		return nil
	case n == 1 && c.prefix == "":
		return newExactPhrase(append([]*iterator{c.first.heads[0].of.(*iterator)}, c.rest...))
	}
	all := []rowIterator{c.first}
	for _, w := range c.rest {
		all = append(all, w)
	}
	c.rowIterator = newIntersection(all)
	return c
}

// phraseRows is the rows of a segment that have one of several first terms, followed by other terms and by a term with a
// prefix. The prefix is checked for many rows at once, since each check scans all terms with that prefix.
type phraseRows struct {
	rowIterator // the rows that have all whole terms, at any position
	view        *View
	first       *union
	at          []rowIterator // of first, at a row
	rest        []*iterator
	column      int
	prefix      string // "": none

	segment *viewSegment
	lookahead
	batch     int // how many positions the next scan checks
	ends      []uint64
	positions []uint64
}

// minBatch is how many positions the first scan checks.
const minBatch = 1 << 13

// Advance implements Rows.
func (c *phraseRows) Advance(at int64) (int64, error) {
	if c.prefix == "" {
		return c.nextWhole(at)
	}
	return c.advance(at, c.scanNext)
}

// nextWhole returns the next row that has the whole terms adjacent to each other, and sets c.ends to where they end.
func (c *phraseRows) nextWhole(at int64) (int64, error) {
	for {
		row, err := c.rowIterator.Advance(at)
		if err != nil || row < 0 {
			return -1, err
		}
		c.ends = c.ends[:0]
		if err := c.addFirst(row); err != nil {
			return -1, err
		}
		slices.Sort(c.ends)
		for _, w := range c.rest {
			list, err := w.positions()
			if err != nil {
				return -1, err
			}
			c.positions = appendPositions(c.positions[:0], inColumn(list, c.column))
			c.ends = adjacent(c.ends, c.positions)
		}
		if len(c.ends) > 0 {
			return row, nil
		}
		at = row - 1
	}
}

// addFirst adds the positions of the first terms in the row.
func (c *phraseRows) addFirst(row int64) error {
	c.at = c.first.appendAt(c.at[:0], row, 0)
	for _, w := range c.at {
		list, err := w.(*iterator).positions()
		if err != nil {
			return err
		}
		c.ends = appendPositions(c.ends, inColumn(list, c.column))
	}
	return nil
}

// scanNext finds which of the next rows match the whole phrase with the prefix.
func (c *phraseRows) scanNext(at int64) error {
	b := prefixScan{view: c.view, column: c.column}
	for len(b.after) < c.batch {
		row, err := c.nextWhole(at)
		if err != nil {
			return err
		}
		if c.scannedTo = row; row < 0 {
			break
		}
		for _, p := range c.ends {
			b.after = append(b.after, position{row, p})
		}
		at = row - 1
	}
	c.batch = min(4*c.batch, c.view.limits.Positions)
	if len(b.after) == 0 {
		return nil
	}
	slices.SortFunc(b.after, position.compare)
	b.from, b.to = b.after[0].row, b.after[len(b.after)-1].row+1
	if err := b.read([]*viewSegment{c.segment}, []string{c.prefix}); err != nil {
		return err
	}
	c.rows = b.rows.build().Rows()
	return nil
}

// adjacent returns those of words that directly follow one of behind. Both are ascending; it reuses behind.
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
