package ask

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"

	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/index/sqlite/fts5"
	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
	"github.com/txarchive/txarchive/internal/index/sqlite/where"
)

// recent bounds the newest rows of a window: their first row id, and the origins of their segments. Where commits follow
// each other in time these are few segments, and such rows often fill a page. What is expensive to look up in a segment is
// therefore looked up in those segments first.
type recent struct {
	edge        int64 // first row id, at the start of an hour; the start of the window when there are no other rows
	first, last uint64
}

// maxRecentWindows bounds how many windows are cached.
const maxRecentWindows = 64

func (p *planner) recent(from, to int64) (r recent, view *fts5.View, err error) {
	if view, err = p.tx.view(p.ctx); err != nil {
		return r, nil, err
	}
	window := [2]int64{from, to}
	r, known := p.tx.recent[window]
	if of, ok := p.tx.recent[[2]int64{0, to}]; ok && of.edge <= from { // the window consists of the newest rows only
		r, known = recent{from, of.first, of.last}, true
	}
	if !known {
		if r, err = p.newestRows(from, to); err != nil {
			return r, nil, err
		}
		if len(p.tx.recent) >= maxRecentWindows {
			clear(p.tx.recent)
		}
		p.tx.recent[window] = r
	}
	return r, view.WithOrigins(r.first, r.last), nil
}

// newestRowsSQL reads each row once; finding the row at an OFFSET first would read them twice.
const newestRowsSQL = `SELECT count(*), coalesce(min(id), 0), coalesce(min(origin), 0), coalesce(max(origin), 0) FROM
	(SELECT id, origin FROM fts_docsize WHERE id >= ? AND id < ? ORDER BY id DESC LIMIT ?)`

func (p *planner) newestRows(from, to int64) (r recent, err error) {
	var rows int
	if err := p.tx.QueryRowxContext(p.ctx, newestRowsSQL, from, to, p.recentRows).Scan(&rows, &r.edge, &r.first, &r.last); err != nil {
		return r, err
	}
	if rows < p.recentRows {
		r.edge = from
	} else { // rows of the last hour may be missing
		r.edge = min((r.edge>>schema.SlotBits+1)<<schema.SlotBits, to)
	}
	return r, nil
}

// manyTerms is from how many terms on the newest rows are searched first.
const manyTerms = 48

// isBounded reports whether a window may exclude segments, however many rows are wanted.
func isBounded(to int64) bool { return to > 0 && to < math.MaxInt64 }

// scanRecent scans the newest rows that match a condition on many words, and returns their first row id. It scans nothing
// and returns math.MaxInt64 when all rows of a long window are wanted.
func (p *planner) scanRecent(c where.Cond, visit func(scan) error) (edge int64, err error) {
	e, _ := c.Expression()
	to := c.To
	if to == 0 {
		to = math.MaxInt64
	}
	r, view, err := p.recent(c.From, to)
	if err != nil {
		return 0, err
	}
	if !p.limited && r.edge > c.From {
		return math.MaxInt64, nil
	}
	rows, err := view.Rows(e)
	if err != nil {
		return 0, err
	}
	c.From = r.edge
	_, err = p.scanAll(c, &textFilter{Rows: rows}, math.MaxInt, visit)
	return r.edge, err
}

// hasManyTerms reports whether a condition has many words.
func hasManyTerms(c where.Cond) bool {
	e, ok := c.Expression()
	return ok && len(c.Unions) == 0 && fts5.TermCount(e) >= manyTerms
}

// Pace returns approximately the time, in microseconds, by which the given number of rows have accumulated since from;
// math.MaxInt64 when there are fewer.
func (db *Reader) Pace(ctx context.Context, from int64, rows int) (to int64, err error) {
	var id int64
	err = db.r.GetContext(engine.Polled(ctx), &id, "SELECT id FROM fts_docsize WHERE id >= ? ORDER BY id LIMIT 1 OFFSET ?", schema.HourOf(from)<<schema.SlotBits, rows)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return math.MaxInt64, nil
	case err != nil:
		return 0, fmt.Errorf("pace: %w", engine.Damage(err))
	}
	return schema.HourStart(id>>schema.SlotBits + 1), nil
}
