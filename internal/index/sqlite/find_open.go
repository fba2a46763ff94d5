package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"slices"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index/sqlite/fts5"
)

// opened walks the rows that have words of which only the beginnings are given. The full-text engine would gather all rows
// of all such words, with their places, before it gives the first; here the newest rows are tried first, and only
// row ids are gathered.
func (p *planner) opened(c cond, visit func(walk) error) error {
	open, from, to := c.open, c.from, c.to
	c.open = nil
	if to == 0 {
		to = math.MaxInt64
	}
	l := leaves{ctx: p.ctx, tx: p.tx}
	if err := l.structure(); err != nil {
		return err
	}
	if p.few {
		edge, err := p.newest(from, to)
		if err != nil {
			return err
		}
		if err := p.openedIn(&l, open, c, edge, to, visit); err != nil || edge <= from {
			return err
		}
		to = edge
	}
	return p.openedIn(&l, open, c, from, to, visit)
}

// tried is how many of the newest rows are tried at first.
var tried = 20_000

// newest is the beginning of the hour of the last row that is tried at first; from when those are all.
func (p *planner) newest(from, to int64) (int64, error) {
	var last int64
	err := p.tx.GetContext(p.ctx, &last, "SELECT id FROM fts_docsize WHERE id >= ? AND id < ? ORDER BY id DESC LIMIT 1 OFFSET ?", from, to, tried)
	if errors.Is(err, sql.ErrNoRows) {
		return from, nil
	}
	return max(from, last>>slotBits<<slotBits), err
}

// openedIn walks rows with from <= id < to.
func (p *planner) openedIn(l *leaves, open []opening, c cond, from, to int64, visit func(walk) error) error {
	var ids []int64
	for i, o := range open {
		have, err := l.rows(o.begins, from, to)
		if err != nil {
			return err
		}
		if i == 0 {
			ids = have
		} else {
			ids = common(ids, have)
		}
	}
	slices.Reverse(ids)
	return p.among(c, ids, visit)
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

// leaves reads the full-text index for one question. It implements fts5.Source.
type leaves struct {
	ctx      context.Context
	tx       *sqlx.Tx
	segments []fts5.Segment
}

// structure reads which segments there are.
func (l *leaves) structure() error {
	var b []byte
	if err := l.tx.GetContext(l.ctx, &b, "SELECT block FROM fts_data WHERE id = ?", fts5.StructureID); err != nil {
		return err
	}
	s, err := fts5.DecodeStructure(b)
	if err == nil {
		l.segments = s.All()
	}
	return err
}

// leaf is the first leaf of a segment that a term may stand on.
func (l *leaves) leaf(s fts5.Segment, term string) (int, error) {
	var page int64
	err := l.tx.GetContext(l.ctx, &page, "SELECT pgno FROM fts_idx WHERE segid = ? AND term <= ? ORDER BY term DESC LIMIT 1", s.ID, append([]byte{'0'}, term...))
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return int(page >> 1), err
}

// rows returns the rows with terms that begin with one of some texts, each once and rising.
func (l *leaves) rows(begins []string, from, to int64) ([]int64, error) {
	var ids []int64
	for _, s := range l.segments {
		for _, text := range begins {
			leaf, err := l.leaf(s, text)
			if err != nil {
				return nil, err
			}
			if err := fts5.Prefix(l, s, leaf, text, from, to, func(row int64) { ids = append(ids, row) }); err != nil {
				return nil, err
			}
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// Leaves implements fts5.Source.
func (l *leaves) Leaves(segment, first, last int) ([][]byte, error) {
	return l.pages(fts5.PageID(segment, int64(first)), fts5.PageID(segment, int64(last)))
}

// Tombstones implements fts5.Source.
func (l *leaves) Tombstones(segment, pages int) ([][]byte, error) {
	segment += firstTombstone
	return l.pages(fts5.PageID(segment, 0), fts5.PageID(segment, int64(pages-1)))
}

func (l *leaves) pages(first, last int64) (pages [][]byte, err error) {
	err = each(l.ctx, l.tx, "SELECT block FROM fts_data WHERE id BETWEEN ? AND ? ORDER BY id", []any{first, last},
		func(rows *sqlx.Rows) (b []byte, err error) { return b, rows.Scan(&b) }, func(b []byte) bool { pages = append(pages, b); return true })
	return pages, err
}
