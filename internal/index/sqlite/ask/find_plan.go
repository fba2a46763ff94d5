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

// walk is one pass over rows in the order of their ids: those of a list, else all events. What its condition says of
// words was asked before.
type walk struct {
	where.Cond
	ids   []int64 // nil: all; else falling
	lists *lists  // of expressions in the condition; nil where there are none
}

// order makes rows fall. Those of a list do.
func (w *walk) order() string {
	if w.ids != nil {
		return ""
	}
	return " ORDER BY e.id DESC"
}

// statement selects from the rows that match.
func (w *walk) statement(columns string, all bool) (string, []any, error) {
	from := "events e"
	var conds []string
	var args []any
	if w.ids != nil {
		from = "json_each(?) j CROSS JOIN events e ON e.id = j.value"
		args = append(args, asList(w.ids))
	}
	if w.From > 0 && w.ids == nil {
		conds, args = append(conds, "e.id >= ?"), append(args, w.From)
	}
	if w.To > 0 && w.ids == nil {
		conds, args = append(conds, "e.id < ?"), append(args, w.To)
	}
	rest, more := w.OfEvents(all)
	if err := w.lists.fill(more, w.ids); err != nil {
		return "", nil, err
	}
	conds, args = append(conds, rest), append(args, more...)
	from += " CROSS JOIN transcripts t ON t.id = e.transcript"
	if where.Reads(columns, "c") || where.Reads(columns, "r") || where.Reads(rest, "c") || where.Reads(rest, "r") {
		from += " CROSS JOIN conversations c ON c.id = t.conversation"
	}
	if where.Reads(columns, "r") || where.Reads(rest, "r") {
		from += " CROSS JOIN runs r ON r.id = c.run"
	}
	return "SELECT " + columns + " FROM " + from + " WHERE " + strings.Join(conds, " AND ") + where.Visible(all), args, nil
}

// measures are those of a plan. Answers do not depend on them.
type measures struct {
	// probe is how many rows are looked at, newest first, before what owns the hits is looked up: where hits are
	// frequent that is all.
	probe int
	// mostOwned is how many rows may belong to the owners that are looked up. Owners of more are met by walking. Of stretches of
	// them few rows are looked at: these may have mostStretched times as many.
	mostOwned int64
	// lookedUp is how many rows of owners are looked up at once, twice as many each time.
	lookedUp int64
	// listed is how many rows of a list are looked at by one statement.
	listed int
	// tried is how many of the newest rows are tried at first for the beginning of a word, or for many words.
	tried int
}

var usual = measures{probe: 250, mostOwned: 200_000, lookedUp: 2000, listed: 512, tried: 20_000}

// mostStretched times mostOwned is how many rows may belong to owners of which stretches match.
const mostStretched = 16

// planner finds the walks that answer a condition, the newest rows first.
type planner struct {
	measures
	ctx context.Context
	tx  *snapshot
	all bool
	few bool // not all hits are wanted
	met *int // rows that walks have found
}

// walks calls visit for one walk after the other. Hours are never parted.
//
// Words and facets are found by the full-text index. Where a condition is on what owns the rows (a run, a project, an
// original), the newest rows are tried first, and then the owners and their rows are looked up, and those of them are
// walked that have the words: a filter that few things pass costs as little as one that most pass.
func (p *planner) walks(c where.Cond, visit func(walk) error) error {
	if len(c.Open) > 0 {
		return p.walkPrefixes(c, visit)
	}
	if (p.few || bounded(c.To)) && many(c) {
		edge, err := p.walkRecent(c, visit)
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
	owned := len(c.Own)+len(c.Hint) > 0
	for !owned && len(c.Unions) > 0 && (words == nil || !words.without) {
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
	if owned && p.few && !p.remembered(of) {
		edge, err := p.newest(c, words, visit)
		if err != nil || edge <= c.From {
			return err
		}
		c.To = edge
		owned = 4**p.met < p.probe // where most pass, looking up owners would not save anything
	}
	if owned {
		o, err := p.owned(of)
		if err != nil {
			return err
		}
		switch few, err := p.scarce(o, c, words); {
		case err != nil:
			return err
		case few:
			words = words.among(o.holders)
		case !o.dense:
			c.Own, c.Owned = nil, nil // as all of theirs are
			return p.within(p.rowsOf(o.holders, of), c, words, visit)
		}
	}
	_, err = p.everywhere(c, words, math.MaxInt, visit)
	return err
}

// mostScarce is how many rows are rather looked at one by one than looked for among those of owners. To look at one takes as long as to
// list listedFor of theirs.
const (
	mostScarce = 4096
	listedFor  = 16
)

// among is the rows that have the words where owners have some.
func (s *textFilter) among(owners []holder) *textFilter {
	return &textFilter{Rows: both{s.Rows, spansOf(owners)}}
}

// scarce says whether few rows have the words where owners have theirs.
func (p *planner) scarce(o owned, c where.Cond, words *textFilter) (bool, error) {
	most := int64(mostScarce)
	if c.Stretch == "" {
		most = min(most, o.rows()/listedFor)
	}
	if o.dense || words == nil || words.without || most == 0 {
		return false, nil
	}
	words, err := p.textFilter(c)
	if err != nil {
		return false, err
	}
	words = words.among(o.holders)
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

// everywhere walks all rows that have the words, or all there are. It stops at the end of the hour when it has met most of
// them, and says where that is, 0 when it came to the end.
func (p *planner) everywhere(c where.Cond, words *textFilter, most int, visit func(walk) error) (edge int64, err error) {
	switch {
	case words == nil && !c.Listed():
		return 0, visit(walk{Cond: c})
	case words == nil:
		words = &textFilter{Rows: p.every()}
	case words.without:
		words = &textFilter{Rows: except{p.every(), words.Rows}}
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

// newest tries the newest rows, and returns the beginning of the hour of the last of them; 0 when those are all.
func (p *planner) newest(c where.Cond, words *textFilter, visit func(walk) error) (edge int64, err error) {
	if words != nil || c.Listed() {
		return p.everywhere(c, words, p.probe, visit)
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
	return edge, visit(walk{Cond: c})
}

// within walks those of some rows that meet a condition and have the words.
func (p *planner) within(rows fts5.Rows, c where.Cond, words *textFilter, visit func(walk) error) error {
	switch {
	case words == nil:
	case words.without:
		rows = except{rows, words.Rows}
	default:
		rows = both{words.Rows, rows}
	}
	_, err := p.everywhere(c, &textFilter{Rows: rows}, math.MaxInt, visit)
	return err
}
