package ask

import (
	"database/sql"
	"errors"
	"math"

	"github.com/txarchive/txarchive/internal/index/sqlite/fts5"
	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
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
	view, err := p.tx.view(p.ctx)
	if err != nil {
		return err
	}
	words, err := p.sieve(c)
	if err != nil {
		return err
	}
	if words != nil {
		defer words.close()
	}
	if p.few {
		edge, err := p.latest(from, to)
		if err != nil {
			return err
		}
		if err := p.openedIn(view, open, c, words, edge, to, visit); err != nil || edge <= from {
			return err
		}
		to = edge
	}
	return p.openedIn(view, open, c, words, from, to, visit)
}

// latest is the beginning of the hour of the last row that is tried at first; from when those are all.
func (p *planner) latest(from, to int64) (int64, error) {
	var last int64
	err := p.tx.GetContext(p.ctx, &last, "SELECT id FROM fts_docsize WHERE id >= ? AND id < ? ORDER BY id DESC LIMIT 1 OFFSET ?", from, to, p.tried)
	if errors.Is(err, sql.ErrNoRows) {
		return from, nil
	}
	return max(from, last>>schema.SlotBits<<schema.SlotBits), err
}

// openedIn walks rows with from <= id < to.
func (p *planner) openedIn(view *fts5.View, open []where.Opening, c where.Cond, words *sieve, from, to int64, visit func(walk) error) error {
	var ids []int64
	for i, o := range open {
		have, err := view.Prefix(where.InWords, o.Begins, from, to)
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
