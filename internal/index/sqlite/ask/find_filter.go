package ask

import (
	"math"

	"github.com/txarchive/txarchive/internal/index/sqlite/fts5"
	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
	"github.com/txarchive/txarchive/internal/index/sqlite/where"
)

// textFilter is the full-text part of a condition: the rows that match, or, negated, all others.
type textFilter struct {
	fts5.Rows
	negated bool
}

// textFilter evaluates the words and facets of a condition, nil when it has none.
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

// matchRows returns the rows that match an expression.
func (p *planner) matchRows(e fts5.Expr) (*textFilter, error) {
	view, err := p.tx.view(p.ctx)
	if err != nil {
		return nil, err
	}
	rows, err := view.Rows(e)
	return &textFilter{Rows: rows}, err
}

// batcher scans rows in batches as they become known, in descending order. Batches start small and double in size. A batch
// never splits an hour, so it may be larger than that.
type batcher struct {
	where.Cond
	visit   func(scan) error
	size    int // target size of a batch
	maxSize int // bound of size
	rows    []int64
	lists   *rowLists
}

// firstBatch is the size of the first batch, which often fills a page.
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

// rowLists evaluates the full-text expressions among the arguments of a condition, for successive batches of descending rows.
type rowLists struct {
	*planner
	rows map[int]fts5.Rows // by index of the argument
}

// fill replaces each expression among args by the list of those of ids that match it.
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
