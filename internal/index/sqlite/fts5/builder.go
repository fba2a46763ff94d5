// Package fts5 makes segments of SQLite's FTS5 index outside of SQLite, and merges them.
//
// It owns the form of a segment: leaf pages, doclist indexes, the rows of the %_idx and %_docsize tables, and the
// structure and averages records that say which segments there are. It runs no SQL: whoever does reads and writes
// the shadow tables. It promises the bytes that FTS5 itself would have written for the same rows (detail=full,
// tokenize=ascii, no prefix index, contentless_delete=1, pages of PageSize), at less than half of the cost.
package fts5

import (
	"errors"
	"fmt"
)

// ErrOrder is returned for a row that cannot follow the one before, ErrTerm for a term that FTS5's ascii tokenizer would
// cut, fold or drop.
var (
	ErrOrder = errors.New("fts5: row out of order")
	ErrTerm  = errors.New("fts5: not one term")
)

// Builder gathers the rows of one segment. It serves one goroutine.
type Builder struct {
	columns int
	rows    []row
	sizes   []byte  // docsize blobs, one after the other
	totals  []int64 // tokens per column
	last    int64
	table   table
}

type row struct {
	id  int64
	end int // of its docsize blob
}

// NewBuilder returns an empty Builder for a table of that many columns.
func NewBuilder(columns int) *Builder {
	b := &Builder{columns: columns, totals: make([]int64, columns)}
	b.table.reset()
	return b
}

// Reset empties the Builder and keeps its memory for the next segment.
func (b *Builder) Reset() {
	b.rows, b.sizes = b.rows[:0], b.sizes[:0]
	clear(b.totals)
	b.table.reset()
}

// Rows returns how many rows were added.
func (b *Builder) Rows() int { return len(b.rows) }

// Size returns the bytes of memory that the rows added so far take.
func (b *Builder) Size() int { return b.table.size() + 24*len(b.rows) + len(b.sizes) }

// Term returns the number by which Add knows a term, until Reset. The same term has the same number. ErrTerm when FTS5
// would make something else of it.
func (b *Builder) Term(term []byte) (uint32, error) {
	if !isToken(term) {
		return 0, fmt.Errorf("%w: %.80q", ErrTerm, term)
	}
	prefix, hash := digest(term)
	return b.table.find(prefix, hash, term), nil
}

// Same is added to the number of a term that stands in the same place as the one before it.
const Same = 1 << 31

// Add takes the next row: for each column its terms in order, by their numbers. Row ids must ascend and not be negative:
// ErrOrder when they do not, for that would damage the index in silence.
func (b *Builder) Add(rowid int64, columns ...[]uint32) error {
	if len(columns) != b.columns || rowid < 0 || len(b.rows) > 0 && rowid <= b.last {
		return fmt.Errorf("%w: row %d after %d", ErrOrder, rowid, b.last)
	}
	b.last = rowid
	for column, terms := range columns {
		places := b.column(rowid, uint8(column), terms)
		b.totals[column] += int64(places)
		b.sizes = appendVarint(b.sizes, uint64(places))
	}
	b.rows = append(b.rows, row{rowid, len(b.sizes)})
	return nil
}

// column adds the terms of one column and returns the number of their places.
func (b *Builder) column(rowid int64, column uint8, terms []uint32) (places uint32) {
	for _, n := range terms {
		e := &b.table.entries[n&^Same]
		if n&Same == 0 || places == 0 {
			places++
		} else if e.stands(rowid, column, places-1) {
			continue
		}
		b.table.add(e, rowid, column, places-1)
	}
	return places
}

// Sizes yields the rows of %_docsize: row id and size blob, the latter valid until Reset.
func (b *Builder) Sizes(yield func(int64, []byte) bool) {
	start := 0
	for _, r := range b.rows {
		if !yield(r.id, b.sizes[start:r.end:r.end]) {
			return
		}
		start = r.end
	}
}

// Averages returns what the rows add to the averages record.
func (b *Builder) Averages() Averages {
	return Averages{Rows: int64(len(b.rows)), Tokens: append([]int64(nil), b.totals...)}
}

// Write writes the segment, and returns its number of leaf pages: 0 when no row has a token. The Builder must be
// Reset before its next use.
func (b *Builder) Write(sink Sink) (int, error) {
	w := newWriter(sink)
	for _, i := range b.table.sorted() {
		if b.table.entries[i.entry].row < 0 {
			continue // no row has it
		}
		key, doclist := b.table.entry(i)
		w.term(key)
		w.doclist(doclist)
		if w.err != nil {
			return 0, w.err
		}
	}
	return w.finish()
}
