package ask

import (
	"slices"
	"sort"

	"github.com/txarchive/txarchive/internal/index/sqlite/fts5"
	"github.com/txarchive/txarchive/internal/index/sqlite/where"
)

// union returns the rows of either alternative, within the window of c; nil when the owners have too many.
func (p *planner) union(u where.Union, c where.Cond) (*textFilter, error) {
	of := u.Owners
	of.From, of.To = c.From, c.To
	o, err := p.findOwners(of)
	if err != nil || o.dense {
		return nil, err
	}
	s, err := p.matchRows(u.Match)
	if err != nil {
		return nil, err
	}
	s.Rows = either{s.Rows, p.rowsOf(o.owners, of)}
	return s, nil
}

// either is the union of two.
type either [2]fts5.Rows

// Advance implements fts5.Rows.
func (e either) Advance(at int64) (int64, error) {
	one, err := e[0].Advance(at)
	if err != nil {
		return -1, err
	}
	other, err := e[1].Advance(at)
	return max(one, other), err
}

// both is the intersection of two.
type both [2]fts5.Rows

// Advance implements fts5.Rows.
func (b both) Advance(at int64) (int64, error) {
	for {
		one, err := b[0].Advance(at)
		if err != nil || one < 0 {
			return -1, err
		}
		other, err := b[1].Advance(one)
		if err != nil || other == one || other < 0 {
			return other, err
		}
		at = other
	}
}

// except is the first without the second.
type except [2]fts5.Rows

// Advance implements fts5.Rows.
func (e except) Advance(at int64) (int64, error) {
	for {
		row, err := e[0].Advance(at)
		if err != nil || row < 0 {
			return -1, err
		}
		if other, err := e[1].Advance(row); err != nil || other != row {
			return row, err
		}
		at = row - 1
	}
}

// ownerRows is the rows of transcripts, which are looked up on demand. It implements fts5.Rows.
type ownerRows struct {
	ids    []int64      // ascending, looked up
	owners []ownerRange // not looked up yet, those with the newest rows first
	rows   func([]ownerRange) ([]int64, error)
	batch  int64 // rows to look up at once
}

// rowsOf returns the rows of transcripts within the window of a condition.
func (p *planner) rowsOf(owners []ownerRange, c where.Cond) fts5.Rows {
	return &ownerRows{owners: owners, batch: p.ownerRows, rows: func(of []ownerRange) ([]int64, error) { return p.rowIDs(of, c) }}
}

// Advance implements fts5.Rows. Ids above all rows of the owners that were not looked up yet are complete.
func (l *ownerRows) Advance(at int64) (int64, error) {
	for {
		l.ids = l.ids[:sort.Search(len(l.ids), func(i int) bool { return l.ids[i] > at })]
		n := len(l.ids)
		switch {
		case n > 0 && (len(l.owners) == 0 || l.ids[n-1] > l.owners[0].last):
			return l.ids[n-1], nil
		case len(l.owners) == 0:
			return -1, nil
		}
		var next []ownerRange
		for rows := int64(0); len(l.owners) > 0 && rows < l.batch; l.owners = l.owners[1:] {
			next, rows = append(next, l.owners[0]), rows+l.owners[0].rows
		}
		l.batch *= 2
		ids, err := l.rows(next)
		if err != nil {
			return -1, err
		}
		l.ids = append(l.ids, ids...)
		slices.Sort(l.ids)
	}
}

// rowRanges is the disjoint id ranges of the rows of owners, the greatest first. It implements fts5.Rows.
type rowRanges [][2]int64

// rangesOf merges the ranges of owners, which must be ordered by last row, the greatest first.
func rangesOf(owners []ownerRange) (all rowRanges) {
	for _, o := range owners {
		if n := len(all) - 1; n >= 0 && o.last >= all[n][0]-1 {
			all[n][0] = min(all[n][0], o.first)
		} else {
			all = append(all, [2]int64{o.first, o.last})
		}
	}
	return all
}

// Advance implements fts5.Rows.
func (s rowRanges) Advance(at int64) (int64, error) {
	i := sort.Search(len(s), func(i int) bool { return s[i][0] <= at })
	if i == len(s) {
		return -1, nil
	}
	return min(at, s[i][1]), nil
}

// has reports whether one of the ranges includes n.
func (s rowRanges) has(n int64) bool {
	at, _ := s.Advance(n)
	return at == n
}

// eventRows is the rows of all events. It implements fts5.Rows.
type eventRows struct {
	*planner
	ids   []int64 // descending
	batch int     // rows to read at once
	done  bool
}

// maxEventBatch bounds eventRows.batch.
const maxEventBatch = 4096

func (p *planner) allRows() fts5.Rows { return &eventRows{planner: p, batch: max(p.probe, 1)} }

// Advance implements fts5.Rows.
func (e *eventRows) Advance(at int64) (int64, error) {
	for {
		e.ids = e.ids[sort.Search(len(e.ids), func(i int) bool { return e.ids[i] <= at }):]
		switch {
		case len(e.ids) > 0:
			return e.ids[0], nil
		case e.done:
			return -1, nil
		}
		var text string
		err := e.tx.GetContext(e.ctx, &text, "SELECT json_group_array(id) FROM (SELECT id FROM events WHERE id <= ? ORDER BY id DESC LIMIT ?)", at, e.batch)
		if err == nil {
			e.ids, err = fromList(text)
		}
		if err != nil {
			return -1, err
		}
		e.done = len(e.ids) < e.batch
		e.batch = min(2*e.batch, maxEventBatch)
	}
}
