// Package fts5 makes segments of SQLite's FTS5 index outside of SQLite, merges them, and finds rows in them by words.
//
// It owns the form of a segment: leaf pages, doclist indexes, the rows of the %_idx and %_docsize tables, and the
// structure and averages records that say which segments there are. It runs no SQL: whoever does reads and writes
// the shadow tables. It promises the bytes that FTS5 itself would have written for the same rows (detail=full,
// tokenize=ascii, no prefix index, contentless_delete=1, pages of PageSize), at less than half of the cost, and of a View
// the rows that FTS5 would find, the newest first.
package fts5

import (
	"errors"
	"fmt"
	"slices"
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

	// Of one call of Translate: numbers that were not known, what they mean, and the Builder's for it.
	strange, found []uint32
	terms          [][]byte
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

// Terms appends the numbers by which Add knows terms, until Reset. The same term has the same number. ErrTerm when FTS5
// would make something else of one.
func (b *Builder) Terms(numbers []uint32, terms [][]byte) ([]uint32, error) {
	var digests [termsAhead]termDigest
	for some := range slices.Chunk(terms, termsAhead) {
		for i, term := range some {
			if !isToken(term) {
				return nil, fmt.Errorf("%w: %.80q", ErrTerm, term)
			}
			digests[i] = digest(term)
		}
		b.table.lookFor(digests[:len(some)])
		for i, term := range some {
			numbers = append(numbers, b.table.find(digests[i], term))
		}
	}
	return numbers, nil
}

// Translate appends to numbers the Builder's for those by which someone else knows terms. Both may have Same added. known
// has, for each number of the other's, the Builder's plus one where it was told so since Reset, else 0; term gives what is
// not known yet.
func (b *Builder) Translate(numbers, others, known []uint32, term func(uint32) []byte) (_ []uint32, err error) {
	b.strange, b.terms = b.strange[:0], b.terms[:0]
	for _, n := range others {
		if n &^= Same; known[n] == 0 {
			b.strange, b.terms = append(b.strange, n), append(b.terms, term(n))
		}
	}
	if b.found, err = b.Terms(b.found[:0], b.terms); err != nil {
		return nil, err
	}
	for i, number := range b.found {
		known[b.strange[i]] = number + 1
	}
	for _, n := range others {
		numbers = append(numbers, known[n&^Same]-1|n&Same)
	}
	return numbers, nil
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

// termsAhead is how many doclists are looked for at once.
const termsAhead = 32

// column adds the terms of one column and returns the number of their places.
func (b *Builder) column(rowid int64, column uint8, terms []uint32) (places uint32) {
	for some := range slices.Chunk(terms, termsAhead) {
		b.table.look(some)
		for _, n := range some {
			e := &b.table.entries[n&^Same]
			if n&Same == 0 || places == 0 {
				places++
			} else if e.stands(rowid, column, places-1) {
				continue
			}
			b.table.add(e, rowid, column, places-1)
		}
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
	for some := range slices.Chunk(b.table.sorted(), termsAhead) {
		b.table.lookAt(some)
		for _, i := range some {
			if b.table.entries[i.entry].row < 0 {
				continue // no row has it
			}
			key, doclist := b.table.entry(i)
			w.term(key)
			w.doclist(doclist)
		}
		if w.err != nil {
			return 0, w.err
		}
	}
	return w.finish()
}
