package ask

import (
	"fmt"
	"math"

	"github.com/txarchive/txarchive/internal/index/sqlite/fts5"
	"github.com/txarchive/txarchive/internal/index/sqlite/where"
)

// walkPrefixes walks the rows that have words of which only the beginnings are given. The full-text engine would gather all rows
// of all such words, with their places, before it gives the first; here the newest rows are tried first, and only
// row ids are gathered.
func (p *planner) walkPrefixes(c where.Cond, visit func(walk) error) error {
	open, from, to := c.Open, c.From, c.To
	c.Open = nil
	if to == 0 {
		to = math.MaxInt64
	}
	words, err := p.textFilter(c)
	if err != nil {
		return err
	}
	if p.few || bounded(to) {
		r, view, err := p.recent(from, to)
		if err != nil {
			return err
		}
		if p.few || r.edge <= from {
			if err := p.walkPrefixesIn(view, open, c, words, r.edge, to, visit); err != nil || r.edge <= from {
				return err
			}
			to = r.edge
		}
	}
	view, err := p.tx.view(p.ctx)
	if err != nil {
		return err
	}
	return p.walkPrefixesIn(view, open, c, words, from, to, visit)
}

// walkPrefixesIn walks rows with from <= id < to.
func (p *planner) walkPrefixesIn(view *fts5.View, open []where.Opening, c where.Cond, words *textFilter, from, to int64, visit func(walk) error) error {
	var rows fts5.Rows
	for _, o := range open {
		have, err := p.prefixRows(view, o.Begins, from, to)
		switch {
		case err != nil:
			return err
		case rows == nil:
			rows = have.Rows()
		default:
			rows = both{rows, have.Rows()}
		}
	}
	return p.within(rows, c, words, visit)
}

// prefixRows is the rows that have words which begin so.
func (p *planner) prefixRows(view *fts5.View, begins []string, from, to int64) (*fts5.RowSet, error) {
	key := fmt.Sprintf("%q %d %d", begins, from, to)
	if rows, known := p.tx.begun[key]; known {
		return rows, nil
	}
	rows, err := view.Prefix(where.InWords, begins, from, to)
	if err == nil && p.tx.keeps(2*rows.Words()) {
		p.tx.begun[key] = rows
	}
	return rows, err
}
