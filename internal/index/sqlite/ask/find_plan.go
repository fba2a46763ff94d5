package ask

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"strings"

	"github.com/txarchive/txarchive/internal/index/sqlite/fts5"
	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
	"github.com/txarchive/txarchive/internal/index/sqlite/where"
)

// scan is one pass over rows in the order of their ids: those of a list, else all events. What its condition says of
// words was asked before.
type scan struct {
	where.Cond
	rows  []int64   // nil: all; else falling
	lists *rowLists // of expressions in the condition; nil where there are none
}

// orderBy makes rows fall. Those of a list do.
func (w *scan) orderBy() string {
	if w.rows != nil {
		return ""
	}
	return " ORDER BY e.id DESC"
}

// statement selects from the rows that match.
func (w *scan) statement(columns string, all bool) (string, []any, error) {
	from := "events e"
	var conds []string
	var args []any
	if w.rows != nil {
		from = "json_each(?) j CROSS JOIN events e ON e.id = j.value"
		args = append(args, asList(w.rows))
	}
	if w.From > 0 && w.rows == nil {
		conds, args = append(conds, "e.id >= ?"), append(args, w.From)
	}
	if w.To > 0 && w.rows == nil {
		conds, args = append(conds, "e.id < ?"), append(args, w.To)
	}
	rest, more := w.EventSQL(all)
	if err := w.lists.fill(more, w.rows); err != nil {
		return "", nil, err
	}
	conds, args = append(conds, rest), append(args, more...)
	from += " CROSS JOIN transcripts t ON t.id = e.transcript"
	if where.UsesTable(columns, "c") || where.UsesTable(columns, "r") || where.UsesTable(rest, "c") || where.UsesTable(rest, "r") {
		from += " CROSS JOIN conversations c ON c.id = t.conversation"
	}
	if where.UsesTable(columns, "r") || where.UsesTable(rest, "r") {
		from += " CROSS JOIN runs r ON r.id = c.run"
	}
	return "SELECT " + columns + " FROM " + from + " WHERE " + strings.Join(conds, " AND ") + where.Visible(all), args, nil
}

// limits are those of a plan. Answers do not depend on them.
type limits struct {
	// probe is how many rows are looked at, newest first, before what owns the hits is looked up: where hits are
	// frequent that is all.
	probe int
	// maxOwnedRows is how many rows may belong to the owners that are looked up. Owners of more are met by walking. Of stretches of
	// them few rows are looked at: these may have mostStretched times as many.
	maxOwnedRows int64
	// ownerRows is how many rows of owners are looked up at once, twice as many each time.
	ownerRows int64
	// listRows is how many rows of a list are looked at by one statement.
	listRows int
	// recentRows is how many of the newest rows are tried at first for the beginning of a word, or for many words.
	recentRows int
}

var defaultLimits = limits{probe: 250, maxOwnedRows: 200_000, ownerRows: 2000, listRows: 512, recentRows: 20_000}

// rangeFactor times mostOwned is how many rows may belong to owners of which stretches match.
const rangeFactor = 16

// planner finds the walks that answer a condition, the newest rows first.
type planner struct {
	limits
	ctx     context.Context
	tx      *snapshot
	all     bool
	limited bool // not all hits are wanted
	found   *int // rows that walks have found
}

// run calls visit for one walk after the other. Hours are never parted.
//
// Words and facets are found by the full-text index. Where a condition is on what owns the rows (a run, a project, an
// original), the newest rows are tried first, and then the owners and their rows are looked up, and those of them are
// walked that have the words: a filter that few things pass costs as little as one that most pass.
func (p *planner) run(c where.Cond, visit func(scan) error) error {
	if len(c.Prefixes) > 0 {
		return p.scanPrefixes(c, visit)
	}
	if (p.limited || isBounded(c.To)) && hasManyTerms(c) {
		edge, err := p.scanRecent(c, visit)
		if err != nil || edge <= c.From {
			return err
		}
		if edge < math.MaxInt64 {
			c.To = edge
		}
	}
	words, err := p.textFilter(c)
	if err != nil {
		return err
	}
	owned := len(c.OwnerSQL)+len(c.HintSQL) > 0
	for !owned && len(c.Unions) > 0 && (words == nil || !words.negated) {
		u, err := p.union(c.Unions[0], c)
		if err != nil {
			return err
		}
		if u == nil { // too many: each row is asked
			break
		}
		if words != nil {
			u.Rows = both{words.Rows, u.Rows}
		}
		words, c.Unions = u, c.Unions[1:]
	}
	of := c // what is remembered is not of one page or try
	if owned && p.limited && !p.ownersCached(of) {
		edge, err := p.scanNewest(c, words, visit)
		if err != nil || edge <= c.From {
			return err
		}
		c.To = edge
		owned = 4**p.found < p.probe // where most pass, looking up owners would not save anything
	}
	if owned {
		o, err := p.findOwners(of)
		if err != nil {
			return err
		}
		switch few, err := p.fewMatches(o, c, words); {
		case err != nil:
			return err
		case few:
			words = words.within(o.owners)
		case !o.dense:
			c.OwnerSQL, c.OwnerArgs = nil, nil // as all of theirs are
			return p.scanWithin(p.rowsOf(o.owners, of), c, words, visit)
		}
	}
	_, err = p.scanAll(c, words, math.MaxInt, visit)
	return err
}

// maxFewRows is how many rows are rather looked at one by one than looked for among those of owners. To look at one takes as long as to
// list listedFor of theirs.
const (
	maxFewRows    = 4096
	rowsPerLookup = 16
)

// within is the rows that have the words where owners have some.
func (s *textFilter) within(owners []ownerRange) *textFilter {
	return &textFilter{Rows: both{s.Rows, rangesOf(owners)}}
}

// fewMatches says whether few rows have the words where owners have theirs.
func (p *planner) fewMatches(o ownerSet, c where.Cond, words *textFilter) (bool, error) {
	most := int64(maxFewRows)
	if c.RangeSQL == "" {
		most = min(most, o.rows()/rowsPerLookup)
	}
	if o.dense || words == nil || words.negated || most == 0 {
		return false, nil
	}
	words, err := p.textFilter(c)
	if err != nil {
		return false, err
	}
	words = words.within(o.owners)
	row := c.To
	if row == 0 {
		row = math.MaxInt64
	}
	for range most + 1 {
		if row, err = words.Advance(row - 1); err != nil || row < c.From || row < 0 {
			return true, err
		}
	}
	return false, nil
}

// scanAll walks all rows that have the words, or all there are. It stops at the end of the hour when it has met most of
// them, and says where that is, 0 when it came to the end.
func (p *planner) scanAll(c where.Cond, words *textFilter, most int, visit func(scan) error) (edge int64, err error) {
	switch {
	case words == nil && !c.ListsRows():
		return 0, visit(scan{Cond: c})
	case words == nil:
		words = &textFilter{Rows: p.allRows()}
	case words.negated:
		words = &textFilter{Rows: except{p.allRows(), words.Rows}}
	}
	next := c.To
	if next == 0 {
		next = math.MaxInt64
	}
	c.Match, c.Not = nil, nil
	l := p.batcher(c, visit)
	for n := 0; ; n++ {
		row, err := words.Advance(next - 1)
		if err != nil {
			return 0, err
		}
		if row < c.From || row < 0 {
			return 0, l.flush()
		}
		if hour := next >> schema.SlotBits; n > 0 && n >= most && row>>schema.SlotBits != hour {
			return hour << schema.SlotBits, l.flush()
		}
		if err := l.add(row); err != nil {
			return 0, err
		}
		next = row
	}
}

// scanNewest tries the newest rows, and returns the beginning of the hour of the last of them; 0 when those are all.
func (p *planner) scanNewest(c where.Cond, words *textFilter, visit func(scan) error) (edge int64, err error) {
	if words != nil || c.ListsRows() {
		return p.scanAll(c, words, p.probe, visit)
	}
	to := c.To
	if to == 0 {
		to = math.MaxInt64
	}
	var last int64
	err = p.tx.GetContext(p.ctx, &last, "SELECT id FROM events WHERE id < ? AND id >= ? ORDER BY id DESC LIMIT 1 OFFSET ?", to, c.From, p.probe)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, err
	}
	if err == nil {
		edge = last >> schema.SlotBits << schema.SlotBits
	}
	c.From = max(c.From, edge)
	return edge, visit(scan{Cond: c})
}

// scanWithin walks those of some rows that meet a condition and have the words.
func (p *planner) scanWithin(rows fts5.Rows, c where.Cond, words *textFilter, visit func(scan) error) error {
	switch {
	case words == nil:
	case words.negated:
		rows = except{rows, words.Rows}
	default:
		rows = both{words.Rows, rows}
	}
	_, err := p.scanAll(c, &textFilter{Rows: rows}, math.MaxInt, visit)
	return err
}
