package fts5

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Near matches the rows in which its parts occur in any order, with at most Within terms between the end of each and the
// beginning of the last, as the NEAR of FTS5 does. A part is one of several sequences of terms, all of one length.
type Near struct {
	Column Column
	Parts  [][][]string
	Within int
}

// String returns one NEAR for each combination of alternatives, since FTS5 has none within it.
func (n *Near) String() string {
	groups := []string{""}
	for _, part := range n.Parts {
		var longer []string
		for _, group := range groups {
			for _, terms := range part {
				longer = append(longer, group+quoted(strings.Join(terms, " "))+" ")
			}
		}
		groups = longer
	}
	for i, group := range groups {
		groups[i] = "NEAR(" + strings.TrimSuffix(group, " ") + ", " + strconv.Itoa(n.Within) + ")"
	}
	return n.Column.Name + " : (" + strings.Join(groups, " OR ") + ")"
}

func (n *Near) phrases(to []*Phrase) []*Phrase {
	for _, part := range n.Parts {
		for _, terms := range part {
			to = append(to, &Phrase{Column: n.Column, Terms: terms})
		}
	}
	return to
}

func (n *Near) build(a *exprBuilder, segment int) rowIterator {
	c := &nearRows{within: uint64(n.Within)}
	var all []rowIterator
	for _, part := range n.Parts {
		either := &union{cache: a.view.cache}
		for _, terms := range part {
			if w := (&Phrase{Column: n.Column, Terms: terms}).build(a, segment); w != nil {
				either.heads = append(either.heads, head{math.MaxInt64, w})
			}
		}
		if len(either.heads) == 0 {
			return nil
		}
		c.parts = append(c.parts, nearPart{of: either, terms: uint64(len(part[0]))})
		all = append(all, either)
	}
	c.rowIterator = newIntersection(all)
	return c
}

// nearRows is the rows of a segment that have all parts, close enough to each other.
type nearRows struct {
	rowIterator // the rows that have all parts, at any position
	parts       []nearPart
	within      uint64
	starts      []uint64 // of all parts
}

// nearPart is a part, and where it occurs in a row.
type nearPart struct {
	of    *union
	terms uint64
	at    []rowIterator // that have it in the row
	ends  []uint64      // positions of its last terms
	begun int           // how many of them have begun
}

// Advance implements Rows.
func (c *nearRows) Advance(at int64) (int64, error) {
	for {
		row, err := c.rowIterator.Advance(at)
		if err != nil || row < 0 {
			return -1, err
		}
		c.starts = c.starts[:0]
		for i := range c.parts {
			p := &c.parts[i]
			if err := p.find(row); err != nil {
				return -1, err
			}
			for _, end := range p.ends {
				c.starts = append(c.starts, end+1-p.terms)
			}
		}
		if c.near() {
			return row, nil
		}
		at = row - 1
	}
}

// find sets where a part ends in the row.
func (p *nearPart) find(row int64) error {
	p.at, p.ends = p.of.appendAt(p.at[:0], row, 0), p.ends[:0]
	for _, w := range p.at {
		switch w := w.(type) {
		case *exactPhrase:
			p.ends = append(p.ends, w.ends...)
		case *iterator:
			list, err := w.positions()
			if err != nil {
				return err
			}
			p.ends = appendPositions(p.ends, inColumn(list, w.column))
		}
	}
	slices.Sort(p.ends)
	return nil
}

// near reports whether the parts are close to each other anywhere: at the beginning of one of them, the last ones of the others
// that have begun do not end further before it than that.
func (c *nearRows) near() bool {
	slices.Sort(c.starts)
	for i := range c.parts {
		c.parts[i].begun = 0
	}
	return slices.ContainsFunc(c.starts, func(start uint64) bool {
		for i := range c.parts {
			p := &c.parts[i]
			for p.begun < len(p.ends) && p.ends[p.begun]+1-p.terms <= start {
				p.begun++
			}
			if p.begun == 0 || p.ends[p.begun-1]+1+c.within < start {
				return false
			}
		}
		return true
	})
}
