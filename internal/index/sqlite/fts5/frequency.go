package fts5

import "slices"

// Frequency is how often a term stands in rows, and about how many of all rows have it: exactly where those stand on few
// leaves. Deleted ones may be among them.
type Frequency struct {
	Counts []int
	Rows   int64
}

// Frequencies counts terms of a column in rows, which fall. Only the leaves are read on which those rows stand.
func (v *View) Frequencies(column Column, terms []string, rows []int64) ([]Frequency, error) {
	out := make([]Frequency, len(terms))
	if len(v.segments) == 0 {
		return out, nil
	}
	lists, err := v.lists(terms)
	if err != nil {
		return nil, err
	}
	for i := range out {
		out[i].Counts = make([]int, len(rows))
		for _, l := range lists[i*len(v.segments) : (i+1)*len(v.segments)] {
			if l == nil {
				continue
			}
			if err := l.count(column.Number, rows, out[i].Counts); err != nil {
				return nil, err
			}
			out[i].Rows += l.about()
		}
	}
	return out, nil
}

// count adds how often the term stands in rows that the list has.
func (l *list) count(column int, rows []int64, to []int) error {
	t := l.tail(column)
	for i := 0; i < len(rows); {
		row, err := t.Down(rows[i])
		if err != nil || row < 0 {
			return err
		}
		n, same := slices.BinarySearchFunc(rows[i:], row, func(a, b int64) int { return int(min(max(b-a, -1), 1)) })
		if i += n; same {
			list, err := t.positions()
			if err != nil {
				return err
			}
			to[i] += len(places(nil, inColumn(list, column)))
			i++
		}
	}
	return nil
}

// about is how many rows the list has, as far as the pieces that were read tell.
func (l *list) about() int64 {
	rows, size, unread := 0, 0, 0
	for _, p := range l.pieces {
		if p.data == nil {
			unread++
			continue
		}
		size += len(p.data)
		for data := p.data; len(data) > 0; rows++ {
			_, n := varint(data)
			want, m := varint(data[n:])
			data = data[min(n+m+int(want/2), len(data)):]
		}
	}
	if unread > 0 {
		rows += rows * unread * PageSize / max(size, 1)
	}
	return int64(rows)
}
