package fts5

import (
	"container/heap"
	"math"
	"slices"
)

// Rows iterates over row ids in descending order.
type Rows interface {
	// Advance returns the greatest row that is not greater than at, a negative number when there is none. at must descend
	// from call to call.
	Advance(at int64) (int64, error)
}

// rowIterator is Rows with what planning and prefetching need.
type rowIterator interface {
	Rows
	// leaders appends the doclist iterators that are advanced first.
	leaders(to []*iterator) []*iterator
	// cost returns approximately how many leaves the iteration reads.
	cost() int
}

func (t *iterator) leaders(to []*iterator) []*iterator { return append(to, t) }
func (t *iterator) cost() int                          { return len(t.blocks) }

// intersection is the rows that all have; the iterator with the lowest cost leads.
type intersection []rowIterator

func (e intersection) Advance(at int64) (int64, error) {
	for agreed, i := 0, 0; agreed < len(e); i = (i + 1) % len(e) {
		row, err := e[i].Advance(at)
		if err != nil || row < 0 {
			return -1, err
		}
		if row != at {
			at, agreed = row, 0
		}
		agreed++
	}
	return at, nil
}

func (e intersection) leaders(to []*iterator) []*iterator { return e[0].leaders(to) }
func (e intersection) cost() int                          { return e[0].cost() }

// newIntersection returns an iterator over the rows that all have.
func newIntersection(of []rowIterator) rowIterator {
	slices.SortStableFunc(of, func(a, b rowIterator) int { return a.cost() - b.cost() })
	if len(of) == 1 {
		return of[0]
	}
	return intersection(of)
}

// union is the rows that at least one iterator has.
type union struct {
	cache *Cache
	heads []head // a heap, greatest row first
}

type head struct {
	row int64
	of  rowIterator
}

func newUnion(v *View, of []rowIterator) rowIterator {
	if len(of) == 1 {
		return of[0]
	}
	e := &union{cache: v.cache, heads: make([]head, len(of))}
	for i, w := range of {
		e.heads[i] = head{math.MaxInt64, w}
	}
	return e
}

// Advance implements Rows.
func (e *union) Advance(at int64) (int64, error) {
	at = min(at, math.MaxInt64-1)
	if len(e.heads) > 0 && e.heads[0].row == math.MaxInt64 { // not advanced yet
		if err := e.cache.prefetch(e.leaders(nil), at); err != nil {
			return -1, err
		}
	}
	for len(e.heads) > 0 && e.heads[0].row > at {
		row, err := e.heads[0].of.Advance(at)
		if err != nil {
			return -1, err
		}
		if e.heads[0].row = row; row < 0 {
			heap.Pop(e)
		} else {
			heap.Fix(e, 0)
		}
	}
	if len(e.heads) == 0 {
		return -1, nil
	}
	return e.heads[0].row, nil
}

// appendAt appends the iterators that are at the row that Advance has returned last: those at the top of the heap.
func (e *union) appendAt(to []rowIterator, row int64, i int) []rowIterator {
	if i >= len(e.heads) || e.heads[i].row != row {
		return to
	}
	return e.appendAt(e.appendAt(append(to, e.heads[i].of), row, 2*i+1), row, 2*i+2)
}

func (e *union) leaders(to []*iterator) []*iterator {
	for _, h := range e.heads {
		to = h.of.leaders(to)
	}
	return to
}

func (e *union) cost() (n int) {
	for _, h := range e.heads {
		n += h.of.cost()
	}
	return n
}

// heap.Interface
func (e *union) Len() int           { return len(e.heads) }
func (e *union) Less(i, j int) bool { return e.heads[i].row > e.heads[j].row }
func (e *union) Swap(i, j int)      { e.heads[i], e.heads[j] = e.heads[j], e.heads[i] }
func (e *union) Push(x any)         { e.heads = append(e.heads, x.(head)) }
func (e *union) Pop() any {
	last := e.heads[len(e.heads)-1]
	e.heads = e.heads[:len(e.heads)-1]
	return last
}

// difference is the rows of one iterator that another does not have.
type difference struct {
	rowIterator
	without rowIterator
}

// Advance implements Rows.
func (b difference) Advance(at int64) (int64, error) {
	for {
		row, err := b.rowIterator.Advance(at)
		if err != nil || row < 0 {
			return -1, err
		}
		if other, err := b.without.Advance(row); err != nil || other != row {
			return row, err
		}
		at = row - 1
	}
}

// exactPhrase is the rows that have terms at adjacent positions.
type exactPhrase struct {
	intersection
	words     []*iterator // in the order of the phrase
	ends      []uint64
	positions []uint64
}

func newExactPhrase(words []*iterator) rowIterator {
	if len(words) == 1 {
		return words[0]
	}
	s := &exactPhrase{words: words}
	for _, w := range words {
		s.intersection = append(s.intersection, w)
	}
	slices.SortStableFunc(s.intersection, func(a, b rowIterator) int { return a.cost() - b.cost() })
	return s
}

// Advance implements Rows.
func (s *exactPhrase) Advance(at int64) (int64, error) {
	for {
		row, err := s.intersection.Advance(at)
		if err != nil || row < 0 {
			return -1, err
		}
		if ok, err := s.matches(); ok || err != nil {
			return row, err
		}
		at = row - 1
	}
}

// matches reports whether the terms are at adjacent positions in the current row.
func (s *exactPhrase) matches() (bool, error) {
	for i, w := range s.words {
		list, err := w.positions()
		if err != nil {
			return false, err
		}
		to := &s.positions
		if i == 0 {
			to = &s.ends
		}
		*to = appendPositions((*to)[:0], inColumn(list, w.column))
		if i == 0 {
			continue
		}
		if s.ends = adjacent(s.ends, s.positions); len(s.ends) == 0 {
			return false, nil
		}
	}
	return true, nil
}

// appendPositions decodes a position list of one column and appends its positions.
func appendPositions(to []uint64, list []byte) []uint64 {
	for at := uint64(0); len(list) > 0; {
		v, n := varint(list)
		if n == 0 || v < 2 {
			return to
		}
		at += v - 2
		to, list = append(to, at), list[n:]
	}
	return to
}
