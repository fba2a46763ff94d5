// Package words writes the words of rows: as segments of the full-text index, and the table of terms, in which substrings are
// searched. It merges both, and rewrites what has deleted words. DESIGN.md of package sqlite says why.
package words

import (
	"cmp"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/txarchive/txarchive/internal/index/lexicon"
	"github.com/txarchive/txarchive/internal/index/sqlite/fts5"
	"github.com/txarchive/txarchive/internal/index/sqlite/write"
)

// From this size on, the words of a batch become a segment of the full-text index in Go, at half the cost of FTS5 (DESIGN.md).
// Below it, the cost of one more segment outweighs that.
const (
	bulkRows  = 256
	bulkTerms = 40_000
)

// bulkMemory bounds the memory of one builder. A larger batch becomes several segments.
const bulkMemory = 96 << 20

const ftsColumns = 1

// Batch is the words of rows, which become segments. The first one is built concurrently with the writing of events.
type Batch struct {
	all     []write.Row
	rest    []write.Row // not in builder
	builder *fts5.Builder
	memory  int
	filled  chan struct{}
	err     error
}

// Start starts to build a segment of rows, which have their ids and are in the order of those.
func Start(rows []write.Row) *Batch {
	b := &Batch{builder: spare.Swap(nil), all: rows, rest: rows, memory: bulkMemory, filled: make(chan struct{})}
	if b.builder == nil {
		b.builder = fts5.NewBuilder(ftsColumns)
	}
	go func() {
		defer close(b.filled)
		b.fill()
	}()
	return b
}

// spare is the builder of the last batch, kept for its memory while anything writes. A sync.Pool lost it to the collector
// before the next batch, and then every third page that an ingest touched for the first time was one of a builder.
var spare atomic.Pointer[fts5.Builder]

// Rest gives back the memory of the spare builder.
func Rest() { spare.Store(nil) }

// Close waits until nothing is being built any more, and gives the builder back.
func (b *Batch) Close() {
	<-b.filled
	b.builder.Reset() // it holds the terms of rows
	spare.Store(b.builder)
	b.builder, b.all, b.rest = nil, nil, nil
}

// Write adds the words to the table of terms and to the full-text index. from is the number of rows that become a segment in any
// case, 0 for the usual one. bulk reports whether the words have become segments: FTS5 takes those of a small batch.
func (b *Batch) Write(t *write.Tx, indexing *Adding, from int) (bulk bool, err error) {
	bulk = isBulk(b.all, cmp.Or(from, bulkRows))
	err = b.each(func(some *fts5.Builder) error {
		if err := indexing.terms(t, some); err != nil || !bulk {
			return err
		}
		return segments{t}.add(some)
	})
	if err != nil || bulk {
		return bulk, err
	}
	return false, writeNative(t, b.all)
}

// isBulk reports whether rows are worth a segment, or need one: FTS5 itself cannot be told that two terms are at the same
// position.
func isBulk(rows []write.Row, from int) bool {
	n := 0
	for i := range rows {
		if slices.ContainsFunc(rows[i].T, func(n uint32) bool { return n&lexicon.Same != 0 }) {
			return true
		}
		n += len(rows[i].T)
	}
	return len(rows) >= from || n >= bulkTerms
}

// fill adds rows until the builder has used up its memory.
func (b *Batch) fill() {
	b.builder.Reset()
	for b.err == nil && len(b.rest) > 0 && (b.builder.Rows() == 0 || b.builder.Size() < b.memory) {
		r := &b.rest[0]
		b.err = b.builder.Add(r.ID, r.Words, r.T)
		b.rest = b.rest[1:]
	}
	if b.err == nil {
		b.err = b.builder.Arrange()
	}
}

// each calls do with each segment: one, or as many as the memory bound makes.
func (b *Batch) each(do func(*fts5.Builder) error) error {
	<-b.filled
	for {
		if b.err != nil {
			return fmt.Errorf("words: %w", b.err)
		}
		if err := do(b.builder); err != nil {
			return fmt.Errorf("words: %w", err)
		}
		if len(b.rest) == 0 {
			return nil
		}
		b.fill()
	}
}

// writeNative has FTS5 index rows.
func writeNative(t *write.Tx, rows []write.Row) error {
	// One row per statement: a statement of several rows opens a savepoint, and FTS5 writes a segment at every savepoint.
	var b []byte
	for i := range rows {
		r := &rows[i]
		b = r.Words.Append(b[:0], r.T)
		if err := t.ExecDirect("INSERT INTO fts (rowid, t) VALUES (?, ?)", r.ID, string(b)); err != nil {
			return err
		}
	}
	return nil
}
