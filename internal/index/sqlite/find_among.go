package sqlite

import (
	"errors"

	"github.com/jmoiron/sqlx"
)

// lists walks rows that are known.
func (p *planner) lists(c cond, ids []int64, visit func(walk) error) error {
	l := lister{cond: c, visit: visit}
	for _, id := range ids {
		if err := l.add(id); err != nil {
			return err
		}
	}
	return l.flush()
}

// lister walks rows piece by piece as they become known, in falling order. A piece is longer than listed when an hour is.
type lister struct {
	cond
	visit func(walk) error
	ids   []int64
}

func (l *lister) add(id int64) error {
	if n := len(l.ids); n >= listed && l.ids[n-1]>>slotBits != id>>slotBits {
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
	err := l.visit(walk{cond: l.cond, ids: l.ids})
	l.ids = l.ids[:0]
	return err
}

// among walks those of some rows, in falling order, that meet a condition.
func (p *planner) among(c cond, ids []int64, visit func(walk) error) error {
	match, worded := c.expression()
	not := flat(c.not, " OR ")
	if len(ids) == 0 || !worded && len(c.not) == 0 {
		return p.lists(c, ids, visit)
	}
	c.match, c.open, c.not = nil, nil, nil
	l := &lister{cond: c, visit: visit}
	sift := p.those
	if !worded {
		sift, match = p.others, not
	}
	if err := sift(ids, match, l.add); err != nil {
		return err
	}
	return l.flush()
}

// leap is how many rows of the full-text index are passed by before it is asked again, from where the next wanted one
// lies.
const leap = 500

// those takes the rows that a full-text expression finds.
func (p *planner) those(ids []int64, match string, take func(int64) error) (failed error) {
	for last := int64(-1); len(ids) > 0; {
		passed, more := 0, false
		err := p.matching(match, ids[len(ids)-1], ids[0], func(id int64) bool {
			n := len(ids)
			for len(ids) > 0 && ids[0] > id {
				ids = ids[1:]
			}
			if len(ids) > 0 && ids[0] == id {
				failed = take(id)
				ids = ids[1:]
			}
			if passed++; len(ids) < n {
				passed = 0
			}
			more = passed > leap && ids[0] != last
			return failed == nil && len(ids) > 0 && !more
		})
		if err != nil || failed != nil || !more {
			return errors.Join(err, failed)
		}
		last = ids[0]
	}
	return nil
}

// others takes the rows that a full-text expression does not find.
func (p *planner) others(ids []int64, match string, take func(int64) error) (failed error) {
	err := p.matching(match, ids[len(ids)-1], ids[0], func(id int64) bool {
		for len(ids) > 0 && ids[0] > id && failed == nil {
			failed = take(ids[0])
			ids = ids[1:]
		}
		if len(ids) > 0 && ids[0] == id {
			ids = ids[1:]
		}
		return failed == nil && len(ids) > 0
	})
	for err == nil && failed == nil && len(ids) > 0 {
		failed = take(ids[0])
		ids = ids[1:]
	}
	return errors.Join(err, failed)
}

// matching yields the rows from a row to another that a full-text expression finds, in falling order.
func (p *planner) matching(match string, from, to int64, yield func(int64) bool) error {
	return each(p.ctx, p.tx, "SELECT rowid FROM fts WHERE fts MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC", []any{match, from, to},
		func(rows *sqlx.Rows) (id int64, err error) { return id, rows.Scan(&id) }, yield)
}
