package ask

import (
	"math"

	"github.com/txarchive/txarchive/internal/index/sqlite/fts5"
	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
	"github.com/txarchive/txarchive/internal/index/sqlite/where"
)

// textFilter is what the full-text index says of rows: those that it finds, or those that it does not.
type textFilter struct {
	fts5.Rows
	negated bool
}

// textFilter asks the full-text index for what a condition says of words and facets, nil when that is nothing.
func (p *planner) textFilter(c where.Cond) (*textFilter, error) {
	if e, ok := c.Expression(); ok {
		return p.matchRows(e)
	}
	if len(c.Not) == 0 {
		return nil, nil
	}
	s, err := p.matchRows(where.OneOf(c.Not))
	if err == nil {
		s.negated = true
	}
	return s, err
}

// matchRows is the rows that an expression finds.
func (p *planner) matchRows(e fts5.Expr) (*textFilter, error) {
	view, err := p.tx.view(p.ctx)
	if err != nil {
		return nil, err
	}
	rows, err := view.Rows(e)
	return &textFilter{Rows: rows}, err
}

// batcher walks rows piece by piece as they become known, in falling order: few at first, and more at once the longer it
// goes on. A piece is longer than that when an hour is.
type batcher struct {
	where.Cond
	visit   func(scan) error
	size    int // rows of a piece
	maxSize int // of most
	rows    []int64
	lists   *rowLists
}

// firstBatch is how many rows are in the first piece: a page is often full with them.
const firstBatch = 24

func (p *planner) batcher(c where.Cond, visit func(scan) error) *batcher {
	return &batcher{Cond: c, visit: visit, size: min(firstBatch, p.listRows), maxSize: p.listRows, lists: &rowLists{planner: p}}
}

func (l *batcher) add(id int64) error {
	if n := len(l.rows); n >= l.size && l.rows[n-1]>>schema.SlotBits != id>>schema.SlotBits {
		if err := l.flush(); err != nil {
			return err
		}
	}
	l.rows = append(l.rows, id)
	return nil
}

func (l *batcher) flush() error {
	if len(l.rows) == 0 {
		return nil
	}
	err := l.visit(scan{Cond: l.Cond, rows: l.rows, lists: l.lists})
	l.rows, l.size = l.rows[:0], min(2*l.size, l.maxSize)
	return err
}

// rowLists are the rows of expressions that stand in a condition beside others, for stretches of rows that fall.
type rowLists struct {
	*planner
	rows map[int]fts5.Rows // by the place among the arguments
}

// fill puts those of some rows that an expression finds in its place.
func (l *rowLists) fill(args []any, ids []int64) error {
	for i, a := range args {
		e, ok := a.(fts5.Expr)
		if !ok {
			continue
		}
		if l.rows[i] == nil {
			s, err := l.matchRows(e)
			if err != nil {
				return err
			}
			if l.rows == nil {
				l.rows = map[int]fts5.Rows{}
			}
			l.rows[i] = s.Rows
		}
		var have []int64
		row := int64(math.MaxInt64)
		for _, id := range ids {
			var err error
			if row > id {
				if row, err = l.rows[i].Advance(id); err != nil {
					return err
				}
			}
			if row == id {
				have = append(have, id)
			}
		}
		args[i] = asList(have)
	}
	return nil
}
