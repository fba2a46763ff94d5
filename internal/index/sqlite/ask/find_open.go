package ask

import (
	"fmt"
	"math"
	"slices"

	"github.com/txarchive/txarchive/internal/index/sqlite/fts5"
	"github.com/txarchive/txarchive/internal/index/sqlite/where"
)

// opened walks the rows that have words of which only the beginnings are given. The full-text engine would gather all rows
// of all such words, with their places, before it gives the first; here the newest rows are tried first, and only
// row ids are gathered.
func (p *planner) opened(c where.Cond, visit func(walk) error) error {
	open, from, to := c.Open, c.From, c.To
	c.Open = nil
	if to == 0 {
		to = math.MaxInt64
	}
	words, err := p.sieve(c)
	if err != nil {
		return err
	}
	if p.few {
		r, view, err := p.recent(from, to)
		if err != nil {
			return err
		}
		if err := p.openedIn(view, open, c, words, r.edge, to, visit); err != nil || r.edge <= from {
			return err
		}
		to = r.edge
	}
	view, err := p.tx.view(p.ctx)
	if err != nil {
		return err
	}
	return p.openedIn(view, open, c, words, from, to, visit)
}

// openedIn walks rows with from <= id < to.
func (p *planner) openedIn(view *fts5.View, open []where.Opening, c where.Cond, words *sieve, from, to int64, visit func(walk) error) error {
	var ids []int64
	for i, o := range open {
		have, err := p.begun(view, o.Begins, from, to)
		if err != nil {
			return err
		}
		if i == 0 {
			ids = have
		} else {
			ids = common(ids, have)
		}
	}
	return p.within(&listing{ids: ids}, c, words, visit)
}

// begun is the rows that have words which begin so.
func (p *planner) begun(view *fts5.View, begins []string, from, to int64) ([]int64, error) {
	key := fmt.Sprintf("%q %d %d", begins, from, to)
	if ids, known := p.tx.rows[key]; known {
		return slices.Clone(ids), nil
	}
	ids, err := view.Prefix(where.InWords, begins, from, to)
	if err == nil && p.tx.keeps(len(ids)) {
		p.tx.rows[key] = slices.Clone(ids)
	}
	return ids, err
}

// common is what two rising lists share.
func common(a, b []int64) []int64 {
	out := a[:0]
	for _, id := range a {
		for len(b) > 0 && b[0] < id {
			b = b[1:]
		}
		if len(b) > 0 && b[0] == id {
			out = append(out, id)
		}
	}
	return out
}
