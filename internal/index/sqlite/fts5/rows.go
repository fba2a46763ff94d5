package fts5

import (
	"container/heap"
	"math"
	"slices"
)

// Rows walks rows in falling order.
type Rows interface {
	// Advance returns the greatest row that is not above at, negative when there is none. at falls from call to call.
	Advance(at int64) (int64, error)
}

// walker is Rows that tell what they would read.
type walker interface {
	Rows
	// next adds the tails that are asked first.
	next(to []*iterator) []*iterator
	// size is about how many leaves there are to walk.
	size() int
}

func (t *iterator) next(to []*iterator) []*iterator { return append(to, t) }
func (t *iterator) size() int                       { return len(t.pieces) }

// intersection is the rows that all have, the one with the fewest first.
type intersection []walker

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

func (e intersection) next(to []*iterator) []*iterator { return e[0].next(to) }
func (e intersection) size() int                       { return e[0].size() }

// intersect makes one walker of what all must have.
func intersect(of []walker) walker {
	slices.SortStableFunc(of, func(a, b walker) int { return a.size() - b.size() })
	if len(of) == 1 {
		return of[0]
	}
	return intersection(of)
}

// union is the rows that at least one has.
type union struct {
	shelf *Cache
	heads []head // a heap, greatest row first
}

type head struct {
	row int64
	of  walker
}

func unite(v *View, of []walker) walker {
	if len(of) == 1 {
		return of[0]
	}
	e := &union{shelf: v.shelf, heads: make([]head, len(of))}
	for i, w := range of {
		e.heads[i] = head{math.MaxInt64, w}
	}
	return e
}

// Advance implements Rows.
func (e *union) Advance(at int64) (int64, error) {
	at = min(at, math.MaxInt64-1)
	if len(e.heads) > 0 && e.heads[0].row == math.MaxInt64 { // not asked yet
		if err := e.shelf.fetch(e.next(nil), at); err != nil {
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

func (e *union) next(to []*iterator) []*iterator {
	for _, h := range e.heads {
		to = h.of.next(to)
	}
	return to
}

func (e *union) size() (n int) {
	for _, h := range e.heads {
		n += h.of.size()
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

// difference is the rows of one that another has not.
type difference struct {
	walker
	without walker
}

// Advance implements Rows.
func (b difference) Advance(at int64) (int64, error) {
	for {
		row, err := b.walker.Advance(at)
		if err != nil || row < 0 {
			return -1, err
		}
		if other, err := b.without.Advance(row); err != nil || other != row {
			return row, err
		}
		at = row - 1
	}
}

// sequence is the rows that have terms side by side.
type sequence struct {
	intersection
	words  []*iterator // in the order of the phrase
	places []uint64
	word   []uint64
}

func newSequence(words []*iterator) walker {
	if len(words) == 1 {
		return words[0]
	}
	s := &sequence{words: words}
	for _, w := range words {
		s.intersection = append(s.intersection, w)
	}
	slices.SortStableFunc(s.intersection, func(a, b walker) int { return a.size() - b.size() })
	return s
}

// Advance implements Rows.
func (s *sequence) Advance(at int64) (int64, error) {
	for {
		row, err := s.intersection.Advance(at)
		if err != nil || row < 0 {
			return -1, err
		}
		if beside, err := s.beside(); beside || err != nil {
			return row, err
		}
		at = row - 1
	}
}

// beside says whether the terms stand side by side in the row that was reached.
func (s *sequence) beside() (bool, error) {
	for i, w := range s.words {
		list, err := w.positions()
		if err != nil {
			return false, err
		}
		to := &s.word
		if i == 0 {
			to = &s.places
		}
		*to = places((*to)[:0], inColumn(list, w.column))
		if i == 0 {
			continue
		}
		if s.places = adjacent(s.places, s.word); len(s.places) == 0 {
			return false, nil
		}
	}
	return true, nil
}

// places appends the positions of a list of one column.
func places(to []uint64, list []byte) []uint64 {
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
