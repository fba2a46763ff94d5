package ask

import (
	"context"
	"errors"
	"math"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index/sqlite/fts5"
	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
	"github.com/txarchive/txarchive/internal/index/sqlite/where"
)

// sieve is what the full-text index says of rows: those that it finds, or those that it does not.
type sieve struct {
	fts5.Rows
	without bool
	close   func()
}

// sieve asks the full-text index for what a condition says of words and facets, nil when that is nothing.
func (p *planner) sieve(c where.Cond) (*sieve, error) {
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
func (p *planner) found(e fts5.Expr) (*sieve, error) {
	s := &sieve{close: func() {}}
	if fts5.Readable(e) {
		view, err := p.tx.view(p.ctx)
		if err == nil {
			s.Rows, err = view.Rows(e)
		}
		if !errors.Is(err, fts5.ErrOpen) {
			return s, err
		}
	}
	native := &native{ctx: p.ctx, tx: p.tx.Tx, match: e.String()}
	s.Rows, s.close = native, native.close
	return s, nil
}

// native lets FTS5 itself find rows: by beginnings of words that stand in phrases or alternatives. It implements fts5.Rows.
type native struct {
	ctx   context.Context
	tx    *sqlx.Tx
	match string
	found *sqlx.Rows
	row   int64
}

// leap is how many rows of FTS5 are passed by before it is asked again, from where the next wanted one lies.
const leap = 500

func (e *native) Down(at int64) (int64, error) {
	at = min(at, math.MaxInt64-1)
	for passed := 0; e.found == nil || e.row > at; passed++ {
		if e.found == nil || passed == leap {
			if err := e.ask(at); err != nil {
				return -1, err
			}
			passed = 0
		}
		if !e.found.Next() {
			e.row = -1
			return -1, e.found.Err()
		}
		if err := e.found.Scan(&e.row); err != nil {
			return -1, err
		}
	}
	return e.row, nil
}

func (e *native) ask(at int64) (err error) {
	e.close()
	e.row = math.MaxInt64
	e.found, err = e.tx.QueryxContext(e.ctx, "SELECT rowid FROM fts WHERE fts MATCH ? AND rowid <= ? ORDER BY rowid DESC", e.match, at)
	return err
}

func (e *native) close() {
	if e.found != nil {
		e.found.Close()
	}
}

// lister walks rows piece by piece as they become known, in falling order: few at first, and more at once the longer it
// goes on. A piece is longer than that when an hour is.
type lister struct {
	where.Cond
	visit func(walk) error
	most  int // rows of a piece
	limit int // of most
	ids   []int64
}

// firstListed is how many rows are in the first piece: a page is often full with them.
const firstListed = 24

func (p *planner) lister(c where.Cond, visit func(walk) error) *lister {
	return &lister{Cond: c, visit: visit, most: min(firstListed, p.listed), limit: p.listed}
}

func (l *lister) add(id int64) error {
	if n := len(l.ids); n >= l.most && l.ids[n-1]>>schema.SlotBits != id>>schema.SlotBits {
		if err := l.flush(); err != nil {
			return err
		}
	}
	l.ids = append(l.ids, id)
	return nil
}

func (l *lister) flush() error {
	if len(l.ids) == 0 {
		return nil
	}
	err := l.visit(walk{Cond: l.Cond, ids: l.ids})
	l.ids, l.most = l.ids[:0], min(2*l.most, l.limit)
	return err
}
