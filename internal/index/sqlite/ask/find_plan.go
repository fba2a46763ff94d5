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

// scan is one pass over rows, newest id first: over a list of rows, or else over all events. The full-text part of its
// condition is already evaluated.
type scan struct {
	where.Cond
	rows  []int64   // descending; nil: all events
	lists *rowLists // rows of the full-text expressions among the condition's arguments; nil where there are none
}

// orderBy returns the ORDER BY clause for descending ids. A list already has that order.
func (w *scan) orderBy() string {
	if w.rows != nil {
		return ""
	}
	return " ORDER BY e.id DESC"
}

// statement returns a SELECT of columns from the matching rows.
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

// limits are the thresholds of a plan. Results do not depend on them.
type limits struct {
	// probe is how many of the newest rows are tested before the owners of hits are looked up. Where hits are frequent,
	// nothing else is needed.
	probe int
	// maxOwnedRows is how many rows the owners may have in all for their rows to be listed; otherwise a scan tests every
	// row. It is rangeFactor times as high where RangeSQL narrows the rows of owners down.
	maxOwnedRows int64
	// ownerRows is how many rows of owners are looked up at first, twice as many each time.
	ownerRows int64
	// listRows is how many rows of a list one statement reads at most.
	listRows int
	// recentRows is how many of the newest rows are searched first for a prefix or for many words.
	recentRows int
}

var defaultLimits = limits{probe: 250, maxOwnedRows: 200_000, ownerRows: 2000, listRows: 512, recentRows: 20_000}

// rangeFactor times maxOwnedRows is how many rows owners may have where RangeSQL narrows them down.
const rangeFactor = 16

// planner finds the scans that answer a condition, the newest rows first.
type planner struct {
	limits
	ctx     context.Context
	tx      *snapshot
	all     bool
	limited bool // not all hits are wanted
	found   *int // rows that scans have found
}

// run calls visit for one scan after the other. Scans never split an hour.
//
// Words and facets are found by the full-text index. For a condition on the owners of rows (a run, a project, an
// original), the newest rows are tried first. Then the matching owners and their rows are looked up, and those of the rows
// that have the words are scanned: a very selective filter costs as little as an unselective one.
func (p *planner) run(c where.Cond, visit func(scan) error) error {
	if len(c.Possible) > 0 {
		possible := false
		if err := p.tx.GetContext(p.ctx, &possible, "SELECT "+c.PossibleSQL(), c.PossibleArgs...); err != nil || !possible {
			return err
		}
		c.Possible, c.PossibleArgs = nil, nil
	}
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
		if u == nil { // the owners have too many rows: the condition is tested for each row
			break
		}
		if words != nil {
			u.Rows = both{words.Rows, u.Rows}
		}
		words, c.Unions = u, c.Unions[1:]
	}
	of := c // the cache key must not depend on the page or on what was tried
	if owned && p.limited && !p.ownersCached(of) {
		edge, err := p.scanNewest(c, words, visit)
		if err != nil || edge <= c.From {
			return err
		}
		c.To = edge
		owned = 4**p.found < p.probe       // where most rows pass, looking up owners saves nothing
		if words != nil && words.negated { // they have been asked for a row below the edge already, and only descend
			if words, err = p.textFilter(c); err != nil {
				return err
			}
		}
	}
	if owned {
		return p.scanOwned(of, c, words, visit)
	}
	_, err = p.scanAll(c, words, math.MaxInt, visit)
	return err
}

// scanOwned scans the rows of the owners that match. of is the condition before its bounds were narrowed, by which they are cached.
func (p *planner) scanOwned(of, c where.Cond, words *textFilter, visit func(scan) error) error {
	o, err := p.findOwners(of)
	if err != nil {
		return err
	}
	if c.RangeSQL != "" && !o.dense {
		rows, err := p.ranged(o, of)
		if err != nil {
			return err
		}
		_, err = p.scanAll(c, &textFilter{Rows: rows}, math.MaxInt, visit)
		return err
	}
	switch fewRows, err := p.fewMatches(o, c, words); {
	case err != nil:
		return err
	case fewRows:
		words = words.within(o.owners)
	case !o.dense:
		c.OwnerSQL, c.OwnerArgs = nil, nil // all of their rows meet it
		return p.scanWithin(p.rowsOf(o.owners, of), c, words, visit)
	}
	_, err = p.scanAll(c, words, math.MaxInt, visit)
	return err
}

// fewRows is up to how many rows are tested one by one rather than intersected with the rows of owners.
func (l *limits) fewRows() int { return 8 * l.listRows }

// rowsPerLookup is how many rows of owners are listed in the time in which one row is tested.
const rowsPerLookup = 16

// within returns the rows of the filter in the id ranges of owners.
func (s *textFilter) within(owners []ownerRange) *textFilter {
	return &textFilter{Rows: both{s.Rows, rangesOf(owners)}}
}

// fewMatches reports whether few rows match the words in the id ranges of the owners.
func (p *planner) fewMatches(o ownerSet, c where.Cond, words *textFilter) (bool, error) {
	most := int64(p.fewRows())
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

// scanAll scans all rows that match the words, or all events. After most rows it stops at the end of the hour and returns
// the id where that hour begins; 0 when it reached the end.
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

// scanNewest scans the newest rows and returns the id where the hour of the last of them begins; 0 when there are no more.
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

// scanWithin scans those of rows that match the words and meet a condition.
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
