package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"strings"

	"github.com/jmoiron/sqlx"
)

// walk is one pass over rows in the order of their ids: those of the full-text index where a condition has words or
// facets, else those of a list, else all events.
type walk struct {
	cond
	ids []int64 // nil: all; else falling
}

func (w *walk) id() string {
	switch {
	case w.worded():
		return "fts.rowid"
	case w.ids != nil:
		return "j.value"
	}
	return "e.id"
}

// statement selects from the rows that match.
func (w *walk) statement(columns string, all bool) (string, []any) {
	id, c := w.id(), w.cond
	var where []string
	var args []any
	from := "events e"
	if match, ok := c.expression(); ok {
		from = "fts CROSS JOIN events e ON e.id = fts.rowid"
		where, args = append(where, "fts MATCH ?"), append(args, match)
		c.match, c.open, c.not = nil, nil, nil
	} else if w.ids != nil {
		from = "json_each(?) j CROSS JOIN events e ON e.id = j.value"
		args = append(args, asList(w.ids))
	}
	if c.from > 0 && w.ids == nil {
		where, args = append(where, id+" >= ?"), append(args, c.from)
	}
	if c.to > 0 && w.ids == nil {
		where, args = append(where, id+" < ?"), append(args, c.to)
	}
	rest, more := c.predicate(false, all)
	where, args = append(where, rest), append(args, more...)
	from += " CROSS JOIN transcripts t ON t.id = e.transcript"
	if reads(columns, "c") || reads(columns, "r") || reads(rest, "c") || reads(rest, "r") {
		from += " CROSS JOIN conversations c ON c.id = t.conversation"
	}
	if reads(columns, "r") || reads(rest, "r") {
		from += " CROSS JOIN runs r ON r.id = c.run"
	}
	return "SELECT " + columns + " FROM " + from + " WHERE " + strings.Join(where, " AND ") + visible(all), args
}

// The measures of a plan. Answers do not depend on them; tests make them small.
var (
	// probe is how many rows are looked at, newest first, before what owns the hits is looked up: where hits are
	// frequent that is all.
	probe = 1000
	// mostOwned is how many rows may belong to the owners that are looked up. Owners of more are met by walking.
	mostOwned int64 = 200_000
	// lookedUp is how many rows of owners are looked up at once, twice as many each time.
	lookedUp int64 = 5000
	// listed is how many rows of a list are looked at by one statement.
	listed = 512
)

// planner finds the walks that answer a condition, the newest rows first.
type planner struct {
	ctx context.Context
	tx  *sqlx.Tx
	all bool
	few bool // not all hits are wanted
}

// walks calls visit for one walk after the other. Hours are never parted.
//
// Words and facets are found by the full-text index. Where a condition is on what owns the rows (a run, a project, an
// original), the newest rows are tried first, and then the owners and their rows are looked up, and those of them are
// walked that have the words: a filter that few things pass costs as little as one that most pass.
func (p *planner) walks(c cond, visit func(walk) error) error {
	if len(c.open) > 0 {
		return p.opened(c, visit)
	}
	if len(c.own)+len(c.hint) == 0 {
		return visit(walk{cond: c})
	}
	if p.few {
		edge, err := p.edge(c)
		if err != nil {
			return err
		}
		newest := c
		newest.from = max(c.from, edge)
		if err := visit(walk{cond: newest}); err != nil || edge <= c.from {
			return err
		}
		c.to = edge
	}
	owners, dense, err := p.owned(c)
	switch {
	case err != nil:
		return err
	case dense:
		return visit(walk{cond: c})
	}
	return p.rowsOf(owners, c, visit)
}

// edge is the beginning of the hour of the last row that is tried at once, 0 when those are all.
func (p *planner) edge(c cond) (int64, error) {
	id, from := "id", "events"
	var args []any
	where := "1"
	if match, ok := c.expression(); ok {
		id, from, where, args = "rowid", "fts", "fts MATCH ?", append(args, match)
	}
	to := c.to
	if to == 0 {
		to = math.MaxInt64
	}
	var last int64
	err := p.tx.GetContext(p.ctx, &last, "SELECT "+id+" FROM "+from+" WHERE "+where+" AND "+id+" < ? AND "+id+" >= ? ORDER BY "+id+" DESC LIMIT 1 OFFSET ?",
		append(args, to, c.from, probe)...)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return last >> slotBits << slotBits, err
}
