// Package fts5 makes segments of SQLite's FTS5 index outside of SQLite, merges them, and finds rows in them by words.
//
// It owns the form of a segment: leaf pages, doclist indexes, the rows of the %_idx and %_docsize tables, and the
// structure and averages records that say which segments there are. It runs no SQL: whoever does reads and writes
// the shadow tables. It promises the bytes that FTS5 itself would have written for the same rows (detail=full,
// tokenize=ascii, no prefix index, contentless_delete=1, pages of PageSize), at a third of the cost, and of a View
// the rows that FTS5 would find, the newest first.
package fts5

import (
	"bytes"
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

// Words is a list by whose numbers rows name their terms. It may become longer; a number always means the same.
type Words interface {
	Len() int
	At(uint32) []byte
}

// Builder gathers the rows of one segment. It serves one goroutine.
//
// It counts how often each term stands in the rows, puts the terms in order, and with that knows where in one array the
// places of each belong: so each place is touched three times, and never looked for.
type Builder struct {
	columns   int
	rows      []row
	ids       []int64
	terms     [][]uint32 // of each row, column after column
	sizes     []byte     // docsize blobs, one after the other
	totals    []int64    // tokens per column
	lists     []wordList
	positions int // in all rows
	termCount int // terms that have places

	arranged   bool
	keys       []key       // of the terms, in their order
	ends       []uint32    // where the postings of each key end
	postings   []globalPos // of all terms
	starts     []globalPos // of each row, column after column, and the end of the last
	blocks     []uint32    // the first of starts for every blockSize placements
	spareKeys  []key       // see sort
	spare      []globalPos // see join
	termBuffer []byte      // of a term
	doc        []byte      // of a doclist
	sink       byte        // nothing: see look
}

type row struct {
	end  int // of its docsize blob
	list int
}

// wordList is whose numbers some rows name terms by.
type wordList struct {
	Words
	counts []uint32 // by number: how many postings it has, then where the next one goes
}

// globalPos is where a term stands, counted through the columns of all rows. Placements sort as they stand in a doclist. A number that said
// its row by itself would be twice as long, and what takes time is memory.
type globalPos uint32

const (
	blockSize    = 1 << 6
	maxRows      = 1 << 28
	maxPositions = 1<<32 - 1
)

// Same is added to the number of a term that stands in the same place as the one before it.
const Same = 1 << 31

// NewBuilder returns an empty Builder for a table of that many columns, at most 16.
func NewBuilder(columns int) *Builder {
	return &Builder{columns: columns, totals: make([]int64, columns)}
}

// Reset empties the Builder and keeps its memory for the next segment.
func (b *Builder) Reset() {
	clear(b.terms)
	for i := range b.lists {
		b.lists[i].Words = nil
	}
	clear(b.totals)
	b.rows, b.ids, b.terms, b.sizes, b.lists = b.rows[:0], b.ids[:0], b.terms[:0], b.sizes[:0], b.lists[:0]
	b.positions, b.termCount, b.arranged = 0, 0, false
}

// Rows returns how many rows were added.
func (b *Builder) Rows() int { return len(b.rows) }

// Size returns the bytes of memory that the rows added so far take until they are written.
func (b *Builder) Size() int {
	size := len(b.sizes) + 24*len(b.rows) + 28*len(b.terms) + 4*b.positions + 36*b.termCount
	for i := range b.lists {
		size += 4 * len(b.lists[i].counts)
	}
	return size
}

// Add takes the next row: for each column its terms in order, by their numbers in words. The Builder keeps the numbers
// until Reset. Row ids must ascend and not be negative: ErrOrder when they do not, for that would damage the index in
// silence.
func (b *Builder) Add(id int64, words Words, columns ...[]uint32) error {
	n := len(b.rows)
	if len(columns) != b.columns || id < 0 || n > 0 && id <= b.ids[n-1] || n == maxRows {
		return fmt.Errorf("%w: row %d after %d others", ErrOrder, id, n)
	}
	list := b.list(words)
	for column, terms := range columns {
		if b.positions += len(terms); uint64(b.positions) > maxPositions {
			return fmt.Errorf("%w: row %d has too many terms", ErrOrder, id)
		}
		at, same := b.lists[list].counts, uint32(0)
		for _, n := range terms {
			c := &at[n&^Same]
			if *c == 0 {
				b.termCount++
			}
			*c++
			same += n >> 31
		}
		if len(terms) > 0 {
			same -= terms[0] >> 31 // nothing stands before it
		}
		b.totals[column] += int64(len(terms)) - int64(same)
		b.sizes = appendVarint(b.sizes, uint64(len(terms))-uint64(same))
	}
	b.terms = append(b.terms, columns...)
	b.ids = append(b.ids, id)
	b.rows = append(b.rows, row{len(b.sizes), list})
	return nil
}

// list returns which of the lists words are, and sees to it that each of their terms can be counted.
func (b *Builder) list(words Words) int {
	i := 0
	if n := len(b.rows); n > 0 {
		i = b.rows[n-1].list
	}
	if len(b.lists) == 0 || b.lists[i].Words != words {
		i = slices.IndexFunc(b.lists, func(l wordList) bool { return l.Words == words })
	}
	if i < 0 {
		i = len(b.lists)
		b.lists = slices.Grow(b.lists, 1)[:i+1]
		b.lists[i].Words, b.lists[i].counts = words, b.lists[i].counts[:0]
	}
	l := &b.lists[i]
	if n := words.Len(); n > len(l.counts) {
		n += listSlack - n%listSlack
		l.counts = append(l.counts, make([]uint32, n-len(l.counts))...)
	}
	return i
}

// listSlack is for how many terms more than there are a list is made ready, as others may be adding some.
const listSlack = 1 << 12

// Sizes yields the rows of %_docsize: row id and size blob, the latter valid until Reset.
func (b *Builder) Sizes(yield func(int64, []byte) bool) {
	start := 0
	for i, r := range b.rows {
		if !yield(b.ids[i], b.sizes[start:r.end:r.end]) {
			return
		}
		start = r.end
	}
}

// Averages returns what the rows add to the averages record.
func (b *Builder) Averages() Averages {
	return Averages{Rows: int64(len(b.rows)), Tokens: append([]int64(nil), b.totals...)}
}

// Arrange does the part of Write that needs no sink. ErrTerm when FTS5 would make something else of a term.
func (b *Builder) Arrange() error {
	if b.arranged {
		return nil
	}
	if err := b.sort(); err != nil {
		return err
	}
	b.distribute()
	b.arranged = true
	return nil
}

// Lists returns the lists whose numbers the rows have.
func (b *Builder) Lists() []Words {
	lists := make([]Words, len(b.lists))
	for i := range b.lists {
		lists[i] = b.lists[i].Words
	}
	return lists
}

// Terms calls do for each term of each of the lists that the rows have, in the order of the terms, with its number in that
// list. The term is only valid during the call. ErrTerm as Arrange.
func (b *Builder) Terms(do func(list int, number uint32, term []byte) error) error {
	if err := b.Arrange(); err != nil {
		return err
	}
	for i, k := range b.keys {
		if i%prefetchTerms == 0 {
			b.prefetch(b.keys[i:min(i+prefetchTerms, len(b.keys))])
		}
		if err := do(int(k.list), k.number, b.term(k)[1:]); err != nil {
			return err
		}
	}
	return nil
}

// Write writes the segment, and returns its number of leaf pages: 0 when no row has a token. The Builder must be
// Reset before its next use.
func (b *Builder) Write(sink Sink) (int, error) {
	if err := b.Arrange(); err != nil {
		return 0, err
	}
	w := newWriter(sink)
	start := uint32(0)
	for i := 0; i < len(b.keys) && w.err == nil; {
		if i%prefetchTerms == 0 {
			b.prefetch(b.keys[i:min(i+prefetchTerms, len(b.keys))])
		}
		from, end := start, b.ends[i]
		key := b.term(b.keys[i])
		for i++; i < len(b.keys) && len(b.lists) > 1 && bytes.Equal(key[1:], b.lists[b.keys[i].list].At(b.keys[i].number)); i++ {
			b.mergePostings(from, end, b.ends[i])
			end = b.ends[i]
		}
		w.term(key)
		w.doclist(b.doclist(b.postings[from:end]))
		start = end
	}
	if w.err != nil {
		return 0, w.err
	}
	return w.finish()
}
