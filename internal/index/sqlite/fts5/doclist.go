package fts5

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
)

// doclist is the doclist of one term in one segment. Its leaves are read on demand.
type doclist struct {
	cache     *Cache
	segment   *viewSegment
	blocks    []doclistBlock // ascending
	lastRead  int            // the block that was read last
	readAhead int            // how many blocks before a wanted one are read with it

	viewNumber int       // the last view that iterated over it
	iterators  int       // iterators of that view
	rowsBlock  int       // the block that rows are of
	rows       blockRows // decoded block, shared by several iterators, which are often on the same one
}

// maxReadAhead bounds doclist.readAhead. A statement costs as much as reading five leaves, and an iterator that has gone
// from leaf to leaf mostly goes on.
const maxReadAhead = 15

// maxTotalReadAhead bounds the sum of readAhead over all doclists of a query.
const maxTotalReadAhead = 4096

// doclistBlock is the part of a doclist on one leaf, from the first row that begins there.
type doclistBlock struct {
	leaf      int
	first     int64  // first row id
	data      []byte // nil: not read, or evicted
	count     int    // number of rows, 0: unknown
	blockRows        // decoded, if cached
}

// blockRows are the decoded rows of a block.
type blockRows struct {
	ids    []int64
	starts []int32 // where in the block's data their position lists begin, including the size
}

// memory returns how many bytes they take.
func (r *blockRows) memory() int { return 12 * cap(r.ids) }

// splitLeaf splits a leaf whose beginning continues a term of an earlier leaf: into the rest of the last position list and
// the rows that begin here. more reports whether the next leaf may continue the term, too.
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

// read makes sure that a block is in memory.
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

// setLeaf sets a block from its leaf.
func (l *doclist) setLeaf(k int, leaf []byte) error {
	if l.blocks[k].data != nil {
		return nil // another iterator has read it
	}
	_, rows, _, err := splitLeaf(leaf)
	if err == nil && len(rows) == 0 {
		err = fmt.Errorf("%w: a leaf has lost its rows", ErrMalformed)
	}
	l.blocks[k].data = rows
	l.cache.hold(l, k, len(leaf))
	return err
}

// iterator iterates over the rows of a doclist that have the term in a column, in descending order.
type iterator struct {
	*doclist
	column    int
	block     int       // the decoded block; len(blocks) at first
	data      []byte    // its data, which stays valid when the doclist evicts it
	blockRows           // its rows
	ownRows   blockRows // buffer for rows that are not shared
	left      int       // rows not passed yet
}

func (l *doclist) iterate(column int) *iterator {
	if l.viewNumber != l.cache.view {
		l.viewNumber, l.iterators = l.cache.view, 0
	}
	l.iterators++
	l.cache.iterators++
	return &iterator{doclist: l, column: column, block: len(l.blocks)}
}

// blockFor returns the last block that may have rows up to at, -1 if there is none.
func (t *iterator) blockFor(at int64) int {
	below, above := 0, t.block
	if above > 0 && t.blocks[above-1].first <= at { // most go on to the next block
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

// countUpTo returns how many of ascending ids are not greater than at. It gallops from the end, since most skips are short.
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

// matches reports whether the current row is not deleted and has the term in the column.
func (t *iterator) matches(row int64) (bool, error) {
	if gone, err := t.segment.isDeleted(t.cache.store, row); gone || err != nil {
		return false, err
	}
	list, whole := t.positionsOnLeaf()
	if len(list) > 0 && t.column == 0 {
		return list[0] != 1, nil // a position list for another column begins with its number
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

// unpack decodes the rows of the block. As long as there is room they are cached with the doclist: those of the iterator's
// first block, where most iterations end, and those of a block that is decoded again.
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

// typicalPosting is a low estimate of how many bytes a row takes in a doclist.
const typicalPosting = 5

func newBlockRows(n int) *blockRows { return &blockRows{make([]int64, 0, n), make([]int32, 0, n)} }

// unpack decodes the rows of a block. Most deltas and sizes take one byte.
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

// positionsOnLeaf returns the position list of the current row, as far as it is on the row's leaf.
func (t *iterator) positionsOnLeaf() (list []byte, whole bool) {
	data := t.data[t.starts[t.left-1]:]
	size, n := varint(data)
	data = data[n:]
	return data[:min(len(data), int(size/2))], len(data) >= int(size/2)
}

// positions returns the position list of the current row.
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

// inColumn returns the part of a position list for a column.
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

// Frequency has the number of occurrences of a term in some rows, and the approximate number of all rows with the term. The
// latter is exact for doclists of few leaves. Deleted rows may be included.
type Frequency struct {
	Counts []int
	Rows   int64
}

// Frequencies counts terms of a column in rows, which must be descending. It reads only the leaves that have those rows.
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

// count adds the number of occurrences of the term in each of rows to to.
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

// estimateRows returns how many rows the doclist has, extrapolated from the blocks that were read.
func (l *doclist) estimateRows() (int64, error) {
	n, size, unread := 0, 0, 0
	var some blockRows
	for i := range l.blocks {
		p := &l.blocks[i]
		switch {
		case p.data == nil && p.count == 0:
			unread++
			continue
		case p.data == nil: // it was evicted
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
