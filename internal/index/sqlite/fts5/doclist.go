package fts5

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
)

// doclist is the doclist of one term in one segment, read as far as it is walked.
type doclist struct {
	cache     *Cache
	segment   *viewSegment
	blocks    []doclistBlock // rising
	lastRead  int            // the piece that was read last
	readAhead int            // how many before one that is wanted are read with it

	viewNumber int       // the last one that walked it
	iterators  int       // of that
	rowsBlock  int       // the piece that rows are of
	rows       blockRows // for several tails, which are often on the same piece
}

// maxReadAhead bounds that: a statement costs as much as five leaves, and who has come down from leaf to leaf goes on.
const maxReadAhead = 15

// maxTotalReadAhead bounds it for all lists of a question together.
const maxTotalReadAhead = 4096

// doclistBlock is what one leaf holds of a doclist, from the first row that begins on it.
type doclistBlock struct {
	leaf      int
	first     int64  // row
	data      []byte // nil: not read yet
	count     int    // of its rows, 0: not known
	blockRows        // of it, when they are kept
}

// blockRows are the rows of a piece.
type blockRows struct {
	ids    []int64
	starts []int32 // where in the data their position lists begin, with their sizes
}

// memory is how many bytes they take.
func (r *blockRows) memory() int { return 12 * cap(r.ids) }

// splitLeaf takes a leaf apart of which the beginning belongs to a term on an earlier one: the rest of the last position
// list, the rows that begin here, and whether the next leaf may go on with them.
func splitLeaf(b []byte) (rest, rows []byte, more bool, err error) {
	if len(b) < 4 {
		return nil, nil, false, fmt.Errorf("%w: short leaf", ErrMalformed)
	}
	row, end := int(binary.BigEndian.Uint16(b)), int(binary.BigEndian.Uint16(b[2:]))
	if end < 4 || end > len(b) {
		return nil, nil, false, fmt.Errorf("%w: size of leaf", ErrMalformed)
	}
	more = true
	if footer := b[end:]; len(footer) > 0 {
		v, n := varint(footer)
		if n == 0 || v < 4 || v > uint64(end) {
			return nil, nil, false, fmt.Errorf("%w: footer", ErrMalformed)
		}
		end, more = int(v), false
	}
	switch {
	case row == 0 || end == 4:
		return b[4:end], nil, more, nil
	case row < 4 || row >= end:
		return nil, nil, false, fmt.Errorf("%w: place of the first row", ErrMalformed)
	}
	return b[4:row], b[row:end], more, nil
}

// read makes sure that a piece is read.
func (l *doclist) read(k int) error {
	if l.blocks[k].data != nil {
		l.lastRead = k
		return nil
	}
	if k != l.lastRead-1 {
		l.readAhead = 0
	}
	from := k
	for from > max(0, k-l.readAhead) && l.blocks[from-1].data == nil {
		from--
	}
	l.lastRead, l.readAhead = k, min(2*l.readAhead+1, maxReadAhead, maxTotalReadAhead/max(l.cache.iterators, 1))
	var ids []int64
	for _, p := range l.blocks[from : k+1] {
		ids = append(ids, PageID(l.segment.ID, int64(p.leaf)))
	}
	blocks, err := readDistinct(l.cache.read, ids)
	for i := 0; i < len(ids) && err == nil; i++ {
		err = l.setLeaf(from+i, blocks[i])
	}
	return err
}

func (l *doclist) leaf(n int) ([]byte, error) {
	b, err := l.cache.read([]int64{PageID(l.segment.ID, int64(n))})
	if err != nil {
		return nil, err
	}
	return b[0], nil
}

// setLeaf takes the leaf of a piece.
func (l *doclist) setLeaf(k int, leaf []byte) error {
	if l.blocks[k].data != nil {
		return nil // for another one that walks the list
	}
	_, rows, _, err := splitLeaf(leaf)
	if err == nil && len(rows) == 0 {
		err = fmt.Errorf("%w: a leaf has lost its rows", ErrMalformed)
	}
	l.blocks[k].data = rows
	l.cache.hold(l, k, len(leaf))
	return err
}

// iterator walks a list from its newest row on.
type iterator struct {
	*doclist
	column    int
	block     int       // that is unpacked; len(pieces) at first
	data      []byte    // of it, also when the list has let go of it
	blockRows           // of it
	ownRows   blockRows // memory of those that nobody else has
	left      int       // rows that were not passed by
}

func (l *doclist) iterate(column int) *iterator {
	if l.viewNumber != l.cache.view {
		l.viewNumber, l.iterators = l.cache.view, 0
	}
	l.iterators++
	l.cache.iterators++
	return &iterator{doclist: l, column: column, block: len(l.blocks)}
}

// blockFor returns the last piece that may hold rows up to at.
func (t *iterator) blockFor(at int64) int {
	below, above := 0, t.block
	if above > 0 && t.blocks[above-1].first <= at { // most go on to the next
		return above - 1
	}
	for below < above {
		if half := int(uint(below+above) / 2); t.blocks[half].first > at {
			above = half
		} else {
			below = half + 1
		}
	}
	return below - 1
}

// countUpTo is how many of rising rows are not above one: looked for from the end in steps that grow, since most leaps are short.
func countUpTo(ids []int64, at int64) int {
	above, step := len(ids), 1
	for above > 0 && ids[max(above-step, 0)] > at {
		above, step = max(above-step, 0), 2*step
	}
	for below := max(above-step, 0); below < above; {
		if half := int(uint(below+above) / 2); ids[half] > at {
			above = half
		} else {
			below = half + 1
		}
	}
	return above
}

// Advance implements Rows.
func (t *iterator) Advance(at int64) (int64, error) {
	for {
		if t.left > 0 && t.ids[t.left-1] > at {
			t.left = countUpTo(t.ids[:t.left-1], at)
		}
		if t.left == 0 {
			if t.block = t.blockFor(at); t.block < 0 {
				t.block = 0
				return -1, nil
			}
			if err := t.unpack(); err != nil {
				return -1, err
			}
			continue
		}
		row := t.ids[t.left-1]
		if ok, err := t.matches(row); ok || err != nil {
			return row, err
		}
		t.left--
	}
}

// matches says whether the row that was reached is there and has the term in the column.
func (t *iterator) matches(row int64) (bool, error) {
	if gone, err := t.segment.isDeleted(t.cache.store, row); gone || err != nil {
		return false, err
	}
	list, whole := t.positionsOnLeaf()
	if len(list) > 0 && t.column == 0 {
		return list[0] != 1, nil // another column would be named before any position
	}
	if len(list) > 1 && list[0] == 1 && int(list[1]) == t.column {
		return true, nil
	}
	var err error
	if !whole {
		list, err = t.positions()
	}
	return len(inColumn(list, t.column)) > 0, err
}

// unpack finds the rows of a piece. As far as there is room they are kept with the list: of the first one, where most walks end,
// and of others when they are unpacked again.
func (t *iterator) unpack() error {
	if err := t.read(t.block); err != nil {
		return err
	}
	p, l := &t.blocks[t.block], t.doclist
	keep := (t.ids == nil || p.count > 0) && l.cache.held.unpacked < l.cache.maxLeafBytes/2
	t.data, t.blockRows = p.data, p.blockRows
	switch {
	case t.ids != nil:
	case l.rowsBlock == t.block && l.rows.ids != nil:
		t.blockRows = l.rows
	default:
		to := &t.ownRows
		if keep || l.iterators > 1 {
			to = newBlockRows(cmp.Or(p.count, len(t.data)/typicalPosting))
		}
		if err := to.unpack(t.data); err != nil {
			return err
		}
		if t.blockRows, p.count = *to, len(to.ids); l.iterators > 1 {
			l.rowsBlock, l.rows = t.block, t.blockRows
		}
		if keep {
			p.blockRows = t.blockRows
			l.cache.held.unpacked += p.blockRows.memory()
		}
	}
	t.left = len(t.ids)
	return nil
}

// typicalPosting is how many bytes a row takes of a doclist, rather less.
const typicalPosting = 5

func newBlockRows(n int) *blockRows { return &blockRows{make([]int64, 0, n), make([]int32, 0, n)} }

// unpack finds the rows of what a leaf holds of a doclist. Most differences and sizes are of one byte.
func (r *blockRows) unpack(data []byte) error {
	ids, starts := r.ids[:0], r.starts[:0]
	row := int64(0)
	for at := 0; at < len(data); {
		delta, size, skip, start := uint64(0), uint64(0), 2, at+1
		if at+1 < len(data) && (data[at]|data[at+1]) < 0x80 {
			delta, size = uint64(data[at]), uint64(data[at+1])
		} else {
			a, b := 0, 0
			delta, a = varint(data[at:])
			size, b = varint(data[at+a:])
			if a == 0 || b == 0 {
				return fmt.Errorf("%w: posting", ErrMalformed)
			}
			start, skip = at+a, a+b
		}
		if size&1 != 0 || len(ids) > 0 && delta == 0 {
			return fmt.Errorf("%w: posting", ErrMalformed)
		}
		row += int64(delta)
		ids, starts = append(ids, row), append(starts, int32(start))
		at += skip + int(size/2)
	}
	r.ids, r.starts = ids, starts
	return nil
}

// positionsOnLeaf is the position list of the row that was reached as far as it stands on the leaf of the row.
func (t *iterator) positionsOnLeaf() (list []byte, whole bool) {
	data := t.data[t.starts[t.left-1]:]
	size, n := varint(data)
	data = data[n:]
	return data[:min(len(data), int(size/2))], len(data) >= int(size/2)
}

// positions is the position list of the row that was reached.
func (t *iterator) positions() ([]byte, error) {
	list, whole := t.positionsOnLeaf()
	if whole {
		return list, nil
	}
	size, _ := varint(t.data[t.starts[t.left-1]:])
	list = append([]byte(nil), list...)
	for leaf := t.blocks[t.block].leaf + 1; len(list) < int(size/2); leaf++ {
		b, err := t.leaf(leaf)
		if err != nil {
			return nil, err
		}
		rest, _, _, err := splitLeaf(b)
		if err != nil || len(rest) == 0 {
			return nil, fmt.Errorf("%w: position list", ErrMalformed)
		}
		list = append(list, rest...)
	}
	return list[:size/2], nil
}

// inColumn is what of a position list is about a column.
func inColumn(list []byte, column int) []byte {
	from, in := 0, 0
	for i := 0; i < len(list); {
		if list[i] == 1 {
			if in == column {
				return list[from:i]
			}
			v, n := varint(list[i+1:])
			i += 1 + n
			from, in = i, int(v)
			continue
		}
		for i < len(list) && list[i] >= 0x80 {
			i++
		}
		i++
	}
	if in != column {
		return nil
	}
	return list[from:]
}

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
	lists, err := v.findDoclists(terms)
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
			n, err := l.estimateRows()
			if err != nil {
				return nil, err
			}
			out[i].Rows += n
		}
	}
	return out, nil
}

// count adds how often the term stands in rows that the list has.
func (l *doclist) count(column int, rows []int64, to []int) error {
	t := l.iterate(column)
	for i := 0; i < len(rows); {
		row, err := t.Advance(rows[i])
		if err != nil || row < 0 {
			return err
		}
		n, same := slices.BinarySearchFunc(rows[i:], row, func(a, b int64) int { return int(min(max(b-a, -1), 1)) })
		if i += n; same {
			list, err := t.positions()
			if err != nil {
				return err
			}
			to[i] += len(appendPositions(nil, inColumn(list, column)))
			i++
		}
	}
	return nil
}

// estimateRows is how many rows the list has, as far as the pieces that were read tell.
func (l *doclist) estimateRows() (int64, error) {
	n, size, unread := 0, 0, 0
	var some blockRows
	for i := range l.blocks {
		p := &l.blocks[i]
		switch {
		case p.data == nil && p.count == 0:
			unread++
			continue
		case p.data == nil: // it was let go of
			n, size = n+p.count, size+PageSize
			continue
		case p.count == 0:
			if err := some.unpack(p.data); err != nil {
				return 0, err
			}
			p.count = len(some.ids)
		}
		n, size = n+p.count, size+len(p.data)
	}
	if unread > 0 {
		n += n * unread * PageSize / max(size, 1)
	}
	return int64(n), nil
}
