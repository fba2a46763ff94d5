package ask

import (
	"cmp"
	"slices"
	"sort"

	"github.com/txarchive/txarchive/internal/index/sqlite/fts5"
	"github.com/txarchive/txarchive/internal/index/sqlite/where"
)

// union is the rows of one alternative or the other, inside of the window of c; nil when the owners have too many.
func (p *planner) union(u where.Union, c where.Cond) (*sieve, error) {
	of := u.Owners
	of.From, of.To = c.From, c.To
	o, err := p.owned(of)
	if err != nil || o.dense {
		return nil, err
	}
	s, err := p.found(u.Match)
	if err != nil {
		return nil, err
	}
	s.Rows = either{s.Rows, &rowsOfOwners{p: p, c: of, owners: o.holders, most: p.lookedUp}}
	return s, nil
}

// either is what at least one of two has.
type either [2]fts5.Rows

// Down implements fts5.Rows.
func (e either) Down(at int64) (int64, error) {
	one, err := e[0].Down(at)
	if err != nil {
		return -1, err
	}
	other, err := e[1].Down(at)
	return max(one, other), err
}

// both is what each of two has.
type both [2]fts5.Rows

// Down implements fts5.Rows.
func (b both) Down(at int64) (int64, error) {
	for {
		one, err := b[0].Down(at)
		if err != nil || one < 0 {
			return -1, err
		}
		other, err := b[1].Down(one)
		if err != nil || other == one || other < 0 {
			return other, err
		}
		at = other
	}
}

// rowsOfOwners looks up the rows of transcripts as they are wanted. It implements fts5.Rows.
type rowsOfOwners struct {
	p      *planner
	c      where.Cond
	owners []holder // not looked up yet, those with the newest rows first
	most   int64    // rows that are looked up at once
	ids    []int64  // rising
}

// Down implements fts5.Rows.
func (r *rowsOfOwners) Down(at int64) (int64, error) {
	for {
		r.ids = r.ids[:sort.Search(len(r.ids), func(i int) bool { return r.ids[i] > at })]
		n := len(r.ids)
		if len(r.owners) == 0 && n == 0 {
			return -1, nil
		}
		if len(r.owners) == 0 || n > 0 && r.ids[n-1] > r.owners[0].last {
			return r.ids[n-1], nil
		}
		var next []holder
		for rows := int64(0); len(r.owners) > 0 && rows < r.most; r.owners = r.owners[1:] {
			next, rows = append(next, r.owners[0]), rows+r.owners[0].rows
		}
		r.most *= 2
		ids, err := r.p.rowIDs(next, r.c)
		if err != nil {
			return -1, err
		}
		r.ids = append(r.ids, ids...)
		slices.SortFunc(r.ids, cmp.Compare[int64])
	}
}
