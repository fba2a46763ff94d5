package fts5

import (
	"cmp"
	"errors"
	"math"
	"slices"
)

// ErrOpen says that a phrase that goes on is left to FTS5 itself.
var ErrOpen = errors.New("fts5: too many rows have the whole terms of a phrase that goes on")

// mostFollowed is how many rows may have those. For so many it is looked up what else they have.
const mostFollowed = 8192

// ending is what the last term of an open phrase begins with.
type ending struct {
	column int
	text   string
}

func (p *Phrase) end() ending { return ending{p.Column.Number, p.Terms[len(p.Terms)-1]} }

// followed finds the ends of open phrases in the rows that have their other terms.
func (a *asked) followed(e Expr) error {
	var open []*Phrase
	for _, p := range e.phrases(nil) {
		if p.Open {
			open = append(open, p)
		}
	}
	if len(open) == 0 {
		return nil
	}
	left := mostFollowed
	for i, s := range a.view.segments {
		rows := map[ending][]int64{}
		for _, p := range open {
			words := p.words(a, i)
			if words == nil {
				continue
			}
			for w, at := newSequence(words), int64(math.MaxInt64-1); ; left-- {
				row, err := w.Down(at)
				if err != nil || left == 0 {
					return errors.Join(err, ErrOpen)
				}
				if row < 0 {
					break
				}
				rows[p.end()], at = append(rows[p.end()], row), row-1
			}
		}
		ends := map[ending]*list{}
		for end, of := range rows {
			l, err := a.view.follow(s, end, of)
			if err != nil {
				return err
			}
			ends[end] = l
		}
		a.ends = append(a.ends, ends)
	}
	return nil
}

// follow makes one list of all terms of a segment that begin so, as far as they stand in some rows; nil when none does.
func (v *View) follow(s *part, end ending, rows []int64) (*list, error) {
	slices.Sort(rows)
	b := beginning{view: v, column: end.column, among: slices.Compact(rows)}
	if err := b.read([]*part{s}, []string{end.text}); err != nil || len(b.found) == 0 {
		return nil, err
	}
	slices.SortStableFunc(b.found, func(a, b standing) int { return cmp.Compare(a.row, b.row) })
	l := &list{shelf: v.shelf, segment: s, pieces: []piece{{first: b.found[0].row}}}
	var data []byte
	last := int64(0)
	for len(b.found) > 0 {
		row, n := b.found[0].row, 1
		for n < len(b.found) && b.found[n].row == row {
			n++
		}
		list := united(b.found[:n])
		data = append(appendVarint(appendVarint(data, uint64(row-last)), uint64(2*len(list))), list...)
		last, b.found = row, b.found[n:]
	}
	l.pieces[0].data = data
	return l, nil
}

// united is the position lists of one row in one.
func united(of []standing) []byte {
	if len(of) == 1 {
		return of[0].positions
	}
	var all []uint64 // column, position
	for _, s := range of {
		for list, column, at := s.positions, uint64(0), uint64(0); len(list) > 0; {
			v, n := varint(list)
			if n == 0 {
				break
			}
			if list = list[n:]; v == 1 {
				column, n = varint(list)
				list, at = list[n:], 0
				continue
			}
			at += v - 2
			all = append(all, column<<32|at)
		}
	}
	slices.Sort(all)
	var list []byte
	column, last := uint64(0), uint64(0)
	for _, p := range slices.Compact(all) {
		if p>>32 != column {
			column, last = p>>32, 0
			list = appendVarint(append(list, 1), column)
		}
		at := p & math.MaxUint32
		list, last = appendVarint(list, at-last+2), at
	}
	return list
}
