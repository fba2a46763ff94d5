package ask

import (
	"fmt"
	"math"

	"github.com/txarchive/txarchive/internal/index/sqlite/fts5"
	"github.com/txarchive/txarchive/internal/index/sqlite/where"
)

// scanPrefixes scans the rows that match prefix queries. FTS5 would collect all rows of all matching terms, with their
// positions, before it returns the first; here the newest rows are tried first, and only row ids are collected.
func (p *planner) scanPrefixes(c where.Cond, visit func(scan) error) error {
	open, from, to := c.Prefixes, c.From, c.To
	c.Prefixes = nil
	if to == 0 {
		to = math.MaxInt64
	}
	words, err := p.textFilter(c)
	if err != nil {
		return err
	}
	if p.limited || isBounded(to) {
		r, view, err := p.recent(from, to)
		if err != nil {
			return err
		}
		if p.limited || r.edge <= from {
			if err := p.scanPrefixesIn(view, open, c, words, r.edge, to, visit); err != nil || r.edge <= from {
				return err
			}
			to = r.edge
		}
	}
	view, err := p.tx.view(p.ctx)
	if err != nil {
		return err
	}
	return p.scanPrefixesIn(view, open, c, words, from, to, visit)
}

// scanPrefixesIn scans rows with from <= id < to.
func (p *planner) scanPrefixesIn(view *fts5.View, open []where.Prefix, c where.Cond, words *textFilter, from, to int64, visit func(scan) error) error {
	var rows fts5.Rows
	for _, o := range open {
		have, err := p.prefixRows(view, o.Texts, from, to)
		switch {
		case err != nil:
			return err
		case rows == nil:
			rows = have.Rows()
		default:
			rows = both{rows, have.Rows()}
		}
	}
	return p.scanWithin(rows, c, words, visit)
}

// prefixRows returns the rows with words that begin with one of begins.
func (p *planner) prefixRows(view *fts5.View, begins []string, from, to int64) (*fts5.RowSet, error) {
	key := fmt.Sprintf("%q %d %d", begins, from, to)
	if rows, known := p.tx.prefixes[key]; known {
		return rows, nil
	}
	rows, err := view.Prefix(where.TermColumn, begins, from, to)
	if err == nil && p.tx.reserve(2*rows.Words()) {
		p.tx.prefixes[key] = rows
	}
	return rows, err
}
