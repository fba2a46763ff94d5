package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"strings"

	"github.com/jmoiron/sqlx"
)

// walk is one pass over rows in the order of their ids: those of a list, else all events. What its condition says of
// words was asked before.
type walk struct {
	cond
	ids []int64 // nil: all; else falling
}

// order makes rows fall. Those of a list do.
func (w *walk) order() string {
	if w.ids != nil {
		return ""
	}
	return " ORDER BY e.id DESC"
}

// statement selects from the rows that match.
func (w *walk) statement(columns string, all bool) (string, []any) {
	from := "events e"
	var where []string
	var args []any
	if w.ids != nil {
		from = "json_each(?) j CROSS JOIN events e ON e.id = j.value"
		args = append(args, asList(w.ids))
	}
	if w.from > 0 && w.ids == nil {
		where, args = append(where, "e.id >= ?"), append(args, w.from)
	}
	if w.to > 0 && w.ids == nil {
		where, args = append(where, "e.id < ?"), append(args, w.to)
	}
	rest, more := w.predicate(false, all)
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
	words, err := p.sieve(c)
	if err != nil {
		return err
	}
	if words != nil {
		defer words.close()
	}
	owned := len(c.own)+len(c.hint) > 0
	if owned && p.few {
		edge, err := p.newest(c, words, visit)
		if err != nil || edge <= c.from {
			return err
		}
		c.to = edge
	}
	if owned {
		owners, dense, err := p.owned(c)
		if err != nil {
			return err
		}
		if !dense {
			return p.rowsOf(owners, c, words, visit)
		}
	}
	_, err = p.everywhere(c, words, math.MaxInt, visit)
	return err
}

// everywhere walks all rows that have the words, or all there are. It stops at the end of the hour when it has met most of
// them, and says where that is, 0 when it came to the end.
func (p *planner) everywhere(c cond, words *sieve, most int, visit func(walk) error) (edge int64, err error) {
	if words == nil || words.without {
		return 0, visit(walk{cond: c})
	}
	next := c.to
	if next == 0 {
		next = math.MaxInt64
	}
	c.match, c.not = nil, nil
	l := newLister(c, visit)
	for n := 0; ; n++ {
		row, err := words.Down(next - 1)
		if err != nil {
			return 0, err
		}
		if row < c.from || row < 0 {
			return 0, l.flush()
		}
		if hour := next >> slotBits; n > 0 && n >= most && row>>slotBits != hour {
			return hour << slotBits, l.flush()
		}
		if err := l.add(row); err != nil {
			return 0, err
		}
		next = row
	}
}

// newest tries the newest rows, and returns the beginning of the hour of the last of them; 0 when those are all.
func (p *planner) newest(c cond, words *sieve, visit func(walk) error) (edge int64, err error) {
	if words != nil && !words.without {
		return p.everywhere(c, words, probe, visit)
	}
	to := c.to
	if to == 0 {
		to = math.MaxInt64
	}
	var last int64
	err = p.tx.GetContext(p.ctx, &last, "SELECT id FROM events WHERE id < ? AND id >= ? ORDER BY id DESC LIMIT 1 OFFSET ?", to, c.from, probe)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, err
	}
	if err == nil {
		edge = last >> slotBits << slotBits
	}
	c.from = max(c.from, edge)
	return edge, visit(walk{cond: c})
}

// among walks those of some rows, in falling order, that meet a condition.
func (p *planner) among(c cond, ids []int64, words *sieve, visit func(walk) error) error {
	c.match, c.open, c.not = nil, nil, nil
	l := newLister(c, visit)
	var err error
	if words != nil {
		err = words.sift(ids, l.add)
	}
	for i := 0; words == nil && i < len(ids) && err == nil; i++ {
		err = l.add(ids[i])
	}
	if err != nil {
		return err
	}
	return l.flush()
}
