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
	without bool
}

// textFilter asks the full-text index for what a condition says of words and facets, nil when that is nothing.
func (p *planner) textFilter(c where.Cond) (*textFilter, error) {
	if e, ok := c.Expression(); ok {
		return p.found(e)
	}
	if len(c.Not) == 0 {
		return nil, nil
	}
	s, err := p.found(where.OneOf(c.Not))
	if err == nil {
		s.without = true
	}
	return s, err
}

// found is the rows that an expression finds.
func (p *planner) found(e fts5.Expr) (*textFilter, error) {
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
	visit func(walk) error
	most  int // rows of a piece
	limit int // of most
	ids   []int64
	lists *lists
}

// firstListed is how many rows are in the first piece: a page is often full with them.
const firstListed = 24

func (p *planner) batcher(c where.Cond, visit func(walk) error) *batcher {
	return &batcher{Cond: c, visit: visit, most: min(firstListed, p.listed), limit: p.listed, lists: &lists{planner: p}}
}

func (l *batcher) add(id int64) error {
	if n := len(l.ids); n >= l.most && l.ids[n-1]>>schema.SlotBits != id>>schema.SlotBits {
		if err := l.flush(); err != nil {
			return err
		}
	}
	l.ids = append(l.ids, id)
	return nil
}

func (l *batcher) flush() error {
	if len(l.ids) == 0 {
		return nil
	}
	err := l.visit(walk{Cond: l.Cond, ids: l.ids, lists: l.lists})
	l.ids, l.most = l.ids[:0], min(2*l.most, l.limit)
	return err
}

// lists are the rows of expressions that stand in a condition beside others, for stretches of rows that fall.
type lists struct {
	*planner
	of map[int]fts5.Rows // by the place among the arguments
}

// fill puts those of some rows that an expression finds in its place.
func (l *lists) fill(args []any, ids []int64) error {
	for i, a := range args {
		e, ok := a.(fts5.Expr)
		if !ok {
			continue
		}
		if l.of[i] == nil {
			s, err := l.found(e)
			if err != nil {
				return err
			}
			if l.of == nil {
				l.of = map[int]fts5.Rows{}
			}
			l.of[i] = s.Rows
		}
		var have []int64
		row := int64(math.MaxInt64)
		for _, id := range ids {
			var err error
			if row > id {
				if row, err = l.of[i].Advance(id); err != nil {
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
