// Package fts5 builds segments of SQLite's FTS5 index outside of SQLite, merges them, and finds rows in them by words.
//
// It implements the format of a segment: leaf pages, doclist indexes, the rows of the %_idx and %_docsize tables, and the
// structure and averages records that list the segments. It runs no SQL: its callers read and write the shadow tables. It
// promises the bytes that FTS5 itself would have written for the same rows (detail=full, tokenize=ascii, no prefix index,
// contentless_delete=1, pages of PageSize), at a third of the cost. A View finds the rows that FTS5 would find, the newest
// first.
package fts5

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
)

// ErrOrder is returned for a row that must not follow the one before it, ErrTerm for a term that FTS5's ascii tokenizer
// would split, fold or drop.
var (
	ErrOrder = errors.New("fts5: row out of order")
	ErrTerm  = errors.New("fts5: not one term")
)

// Words is a list of terms, to which rows refer by number. It may grow; a number never changes its meaning.
type Words interface {
	Len() int
	At(uint32) []byte
}

// Builder collects the rows of one segment. It must not be used concurrently.
//
// It counts the occurrences of each term and sorts the terms; from the counts follows where in one array the positions of
// each term go (a counting sort). So each position is touched three times and never searched for.
type Builder struct {
	columns   int
	rows      []row
	ids       []int64
	terms     [][]uint32 // of each row, column by column
	sizes     []byte     // concatenated docsize blobs
	totals    []int64    // tokens per column
	lists     []wordList
	positions int // in all rows
	termCount int // terms with positions

	arranged   bool
	keys       []key       // the terms in order
	ends       []uint32    // where the postings of each key end
	postings   []globalPos // of all terms
	starts     []globalPos // first position of each row and column, and the end of the last
	blocks     []uint32    // index into starts for every blockSize positions: see startOf
	spareKeys  []key       // see sort
	spare      []globalPos // see mergePostings
	termBuffer []byte      // of a term
	doc        []byte      // of a doclist
	sink       byte        // keeps the loads of prefetch from being optimised away
}

type row struct {
	end  int // end of its docsize blob in sizes
	list int
}

// wordList is a Words that some rows refer to.
type wordList struct {
	Words
	counts []uint32 // by number: the term's count of postings, and after distribute where its next one would go
}

// globalPos is the position of a term, counted through the columns of all rows, so that positions sort in doclist order. A
// number that also contained the row would be twice as large, and the time goes into memory access.
type globalPos uint32

const (
	blockSize    = 1 << 6
	maxRows      = 1 << 28
	maxPositions = 1<<32 - 1
)

// Same is a flag in the number of a term that has the same position as the term before it.
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

// Size returns the memory, in bytes, that the rows added so far need until they are written.
func (b *Builder) Size() int {
	size := len(b.sizes) + 24*len(b.rows) + 28*len(b.terms) + 4*b.positions + 36*b.termCount
	for i := range b.lists {
		size += 4 * len(b.lists[i].counts)
	}
	return size
}

// Add adds the next row: for each column its terms in order, by their numbers in words. The Builder keeps the slices until
// Reset. Row ids must ascend and not be negative, otherwise Add returns ErrOrder: such rows would silently corrupt the
// index.
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
			same -= terms[0] >> 31 // no term before it
		}
		b.totals[column] += int64(len(terms)) - int64(same)
		b.sizes = appendVarint(b.sizes, uint64(len(terms))-uint64(same))
	}
	b.terms = append(b.terms, columns...)
	b.ids = append(b.ids, id)
	b.rows = append(b.rows, row{len(b.sizes), list})
	return nil
}

// list returns the index of words in b.lists, and makes room to count each of its terms.
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

// listSlack is how many counters beyond the present terms a list gets, for other goroutines may be adding terms.
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

// Averages returns what the rows contribute to the averages record.
func (b *Builder) Averages() Averages {
	return Averages{Rows: int64(len(b.rows)), Tokens: append([]int64(nil), b.totals...)}
}

// Arrange does the part of Write that needs no sink. It returns ErrTerm for a term that FTS5 would tokenise differently.
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

// Lists returns the lists that the rows refer to.
func (b *Builder) Lists() []Words {
	lists := make([]Words, len(b.lists))
	for i := range b.lists {
		lists[i] = b.lists[i].Words
	}
	return lists
}

// Terms calls do for each term of each list, as far as rows have it, in term order, with its number in that list. The term
// is valid only during the call. Errors: ErrTerm, as for Arrange.
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

// Write writes the segment and returns its number of leaf pages, 0 when no row has a token. The Builder must be Reset
// before its next use.
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
