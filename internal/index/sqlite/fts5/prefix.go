package fts5

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
)

// Prefix returns the rows with from <= row < to that have terms in a column that begin with one of several texts. FTS5
// itself would merge all such rows with their positions into one list before it returns the first.
func (v *View) Prefix(column Column, texts []string, from, to int64) (*RowSet, error) {
	b := prefixScan{view: v, column: column.Number, from: from, to: to}
	if err := b.read(v.segments, texts); err != nil {
		return nil, err
	}
	return b.rows.build(), nil
}

// prefixScan collects the rows in a window that have a term with a prefix in a column, directly after given positions if
// there are any.
type prefixScan struct {
	view     *View
	column   int
	from, to int64
	rows     rowSetBuilder
	maxWords int // only so many of the newest words of rows are wanted, 0: all

	after []position // ascending

	key       []byte
	segment   *viewSegment
	partial   []*partialDoclist
	positions []uint64 // of a term in a row
}

// add adds a row. It drops the oldest ones when there are too many.
func (b *prefixScan) add(row int64) {
	if row < b.from {
		return
	}
	if b.rows.add(row); b.maxWords > 0 && len(b.rows.words) >= 2*b.maxWords {
		b.from = max(b.from, b.rows.keepNewest(b.maxWords))
	}
}

// read scans all leaves with terms that begin with one of several texts.
func (b *prefixScan) read(segments []*viewSegment, texts []string) error {
	keys := make([][]byte, len(texts))
	for i, t := range texts {
		keys[i] = append([]byte{mainPrefix}, t...)
	}
	pages, err := b.view.cache.store.Ranges(keys, segmentIDs(segments))
	if err != nil {
		return err
	}
	for i, all := range pages {
		b.key, b.segment = keys[i/len(segments)], segments[i%len(segments)]
		all = slices.DeleteFunc(all, func(page int64) bool { return page>>1 < int64(b.segment.First) })
		for some := range slices.Chunk(all, maxLeaves) {
			if err := b.leaves(some); err != nil {
				return err
			}
		}
	}
	return nil
}

// leaves scans some leaves with terms, and the leaves that continue the last term of each.
func (b *prefixScan) leaves(pages []int64) error {
	ids := make([]int64, len(pages))
	for i, page := range pages {
		ids[i] = PageID(b.segment.ID, page>>1)
	}
	blocks, err := readDistinct(b.view.cache.store.Records, ids)
	if err != nil {
		return err
	}
	b.partial = b.partial[:0]
	for i, block := range blocks {
		if err := b.terms(block, pages[i]); err != nil {
			return err
		}
	}
	all := slices.Clone(b.partial)
	if err := b.view.cache.complete(b.partial); err != nil { // a doclist often ends on the next leaf
		return err
	}
	for _, o := range all {
		walk := b.addRows
		if b.after != nil {
			walk = b.addFollowing
		}
		if err := walk(o.iterate(b.column)); err != nil {
			return err
		}
	}
	return nil
}

// addRows adds the rows of a doclist in the window.
func (b *prefixScan) addRows(t *iterator) error {
	for at := b.to - 1; ; {
		row, err := t.Advance(at)
		if err != nil || row < b.from || row < 0 {
			return err
		}
		b.add(row)
		at = row - 1
	}
}

// addFollowing adds the rows of a doclist that have the term directly after one of the positions.
func (b *prefixScan) addFollowing(t *iterator) error {
	for left := b.after; len(left) > 0; {
		row, err := t.Advance(left[len(left)-1].row)
		if err != nil || row < 0 {
			return err
		}
		list, err := t.positions()
		if err != nil {
			return err
		}
		b.addIfFollows(row, list)
		n, _ := slices.BinarySearchFunc(left, row, position.compareRow)
		left = left[:n]
	}
	return nil
}

// addIfFollows adds a row if a term is in it directly after one of the positions.
func (b *prefixScan) addIfFollows(row int64, positions []byte) {
	i, ok := slices.BinarySearchFunc(b.after, row, position.compareRow)
	if !ok {
		return
	}
	b.positions = appendPositions(b.positions[:0], inColumn(positions, b.column))
	for k := 0; k < len(b.positions) && i < len(b.after) && b.after[i].row == row; {
		switch at := b.after[i].offset + 1; {
		case b.positions[k] < at:
			k++
		case b.positions[k] > at:
			i++
		default:
			b.add(row)
			return
		}
	}
}

// terms scans the terms of a leaf for those that begin with the key.
func (b *prefixScan) terms(leaf []byte, page int64) error {
	e, err := newTermEntries(leaf)
	var term []byte // cut to the length of the key
	matches := false
	for err == nil && e.next() {
		if min(e.shared, len(b.key)) > len(term) {
			return fmt.Errorf("%w: term", ErrMalformed)
		}
		if e.shared < len(b.key) { // otherwise it begins as the term before it
			term = append(term[:e.shared], e.suffix...)
			term = term[:min(len(term), len(b.key))]
			matches = bytes.Equal(term, b.key)
		}
		switch {
		case !matches:
		case e.last() && page>>1 < int64(b.segment.Last):
			b.addPartial(e.rows(), page)
		default:
			err = b.addDoclist(e.rows())
		}
	}
	return cmp.Or(err, e.err)
}

// addPartial records the last term of a leaf, whose doclist may continue on later leaves.
func (b *prefixScan) addPartial(rows []byte, page int64) {
	b.partial = append(b.partial, newPartialDoclist(b.view.cache, b.segment, rows, page))
}

// addDoclist adds the rows of a doclist that is completely on one leaf.
func (b *prefixScan) addDoclist(data []byte) error {
	row := int64(0)
	for len(data) > 0 {
		delta, n := varint(data)
		size, m := varint(data[n:])
		if n == 0 || m == 0 || size&1 != 0 || size/2 > uint64(len(data)-n-m) {
			return fmt.Errorf("%w: posting", ErrMalformed)
		}
		row += int64(delta)
		positions := data[n+m:][:size/2]
		data = data[n+m+int(size/2):]
		if row >= b.to {
			return nil
		}
		if row < b.from {
			continue
		}
		if b.after != nil {
			b.addIfFollows(row, positions)
			continue
		}
		gone, err := b.segment.isDeleted(b.view.cache.store, row)
		if err != nil {
			return err
		}
		if !gone && len(inColumn(positions, b.column)) > 0 {
			b.add(row)
		}
	}
	return nil
}
