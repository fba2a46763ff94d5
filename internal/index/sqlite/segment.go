package sqlite

import (
	"cmp"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/fts5"
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

// isBulk reports whether rows are worth a segment, or need one: FTS5 itself cannot be told that two terms are at the same
// position.
func isBulk(rows []pendingRow, from int) bool {
	n := 0
	for i := range rows {
		if slices.ContainsFunc(rows[i].T, func(n uint32) bool { return n&index.Same != 0 }) {
			return true
		}
		n += len(rows[i].T)
	}
	return len(rows) >= from || n >= bulkTerms
}

// bulk builds segments of rows. The first one is built concurrently with the writing of events.
type bulk struct {
	builder *fts5.Builder
	rows    []pendingRow // not in builder
	memory  int
	filled  chan struct{}
	err     error
}

// startBulk starts to build a segment of rows, which have their ids and are in the order of those.
func startBulk(rows []pendingRow) *bulk {
	b := &bulk{builder: spare.Swap(nil), rows: rows, memory: bulkMemory, filled: make(chan struct{})}
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

// close waits until nothing is being built any more, and gives the builder back.
func (b *bulk) close() {
	<-b.filled
	b.builder.Reset() // it holds the terms of rows
	spare.Store(b.builder)
	b.builder, b.rows = nil, nil
}

// fill adds rows until the builder has used up its memory.
func (b *bulk) fill() {
	b.builder.Reset()
	for b.err == nil && len(b.rows) > 0 && (b.builder.Rows() == 0 || b.builder.Size() < b.memory) {
		r := &b.rows[0]
		b.err = b.builder.Add(r.id, r.words, r.T)
		b.rows = b.rows[1:]
	}
	if b.err == nil {
		b.err = b.builder.Arrange()
	}
}

// each calls do with each segment: one, or as many as the memory bound makes.
func (b *bulk) each(do func(*fts5.Builder) error) error {
	<-b.filled
	for {
		if b.err != nil {
			return fmt.Errorf("words: %w", b.err)
		}
		if err := do(b.builder); err != nil {
			return fmt.Errorf("words: %w", err)
		}
		if len(b.rows) == 0 {
			return nil
		}
		b.fill()
	}
}

// addSegment writes what the builder holds as the newest segment. Before that, FTS5 must write its pending rows, and after it,
// forget the structure record that it has cached.
func (t *tx) addSegment(b *fts5.Builder) error {
	if err := t.settleFTS(); err != nil {
		return err
	}
	s, err := t.structure()
	if err != nil {
		return err
	}
	id, err := s.NextID()
	if err != nil {
		return err
	}
	origin := s.Origin()
	sink := newSegmentSink(t, id)
	leaves, err := b.Write(sink)
	if err == nil {
		err = sink.flush()
	}
	if err != nil {
		return err
	}
	if err := t.addSizes(b, origin); err != nil {
		return err
	}
	if leaves > 0 {
		s.Append(fts5.Segment{ID: id, First: 1, Last: leaves, Origin1: origin, Origin2: origin, TotalRow: uint64(b.Rows())})
		if err := t.putRecord(fts5.StructureID, s.Encode()); err != nil {
			return err
		}
	}
	return t.forgetFTS()
}

// addSizes writes what ranking needs: the token counts of each row and of all rows.
func (t *tx) addSizes(b *fts5.Builder, origin uint64) error {
	sizes := inserter{t: t, into: "OR FAIL INTO fts_docsize", columns: columnList("id, sz, origin")}
	for id, size := range b.Sizes {
		if err := sizes.add(id, size, int64(origin)); err != nil {
			return err
		}
	}
	if err := sizes.flush(); err != nil {
		return err
	}
	record, err := t.record(fts5.AveragesID)
	if err != nil {
		return err
	}
	averages, err := fts5.DecodeAverages(record, ftsColumns)
	if err != nil {
		return err
	}
	averages.Add(b.Averages())
	return t.putRecord(fts5.AveragesID, averages.Encode())
}

// settleFTS makes FTS5 write the rows that it has pending in this transaction.
func (t *tx) settleFTS() error {
	return t.execDirect("INSERT INTO fts (fts) VALUES ('flush')") // buffered rows have no words, here and below
}

// forgetFTS makes FTS5 read the structure record again. A merge of no pages drops the cached one and does nothing else; by
// itself FTS5 notices only what other connections have written.
func (t *tx) forgetFTS() error {
	return t.execDirect("INSERT INTO fts (fts, rank) VALUES ('merge', 0)")
}

func (t *tx) structure() (*fts5.Structure, error) {
	b, err := t.record(fts5.StructureID)
	if err != nil {
		return nil, err
	}
	return fts5.DecodeStructure(b)
}

func (t *tx) record(id int) ([]byte, error) {
	var b []byte
	_, err := t.getDirect("SELECT block FROM fts_data WHERE id = ?", []any{id}, &b)
	return b, err
}

func (t *tx) putRecord(id int, b []byte) error {
	return t.execDirect("REPLACE INTO fts_data (id, block) VALUES (?, ?)", id, b)
}

// segmentSink writes the pages of one segment.
type segmentSink struct {
	segment           int
	pages, separators inserter
	buffers           [64][]byte // of the pages in the inserter
	next              int
	indexes           []indexPage // of doclists
}

func newSegmentSink(t *tx, segment int) *segmentSink {
	return &segmentSink{
		segment:    segment,
		pages:      inserter{t: t, into: "OR FAIL INTO fts_data", columns: columnList("id, block")},
		separators: inserter{t: t, into: "OR FAIL INTO fts_idx", columns: columnList("segid, term, pgno")},
	}
}

// indexPage is a page of a doclist index. There are few, they are small, and their ids are behind those of all leaves: writing
// them last makes all inserts appends, for which SQLite need not find a place and make room.
type indexPage struct {
	id   int64
	data []byte
}

// Page implements fts5.Sink.
func (s *segmentSink) Page(id int64, data []byte) error {
	if fts5.IsLeaf(id) {
		return s.page(id, data)
	}
	s.indexes = append(s.indexes, indexPage{id, slices.Clone(data)})
	return nil
}

func (s *segmentSink) page(id int64, data []byte) error {
	if s.next == len(s.buffers) {
		if err := s.pages.flush(); err != nil {
			return err
		}
		s.next = 0
	}
	b := &s.buffers[s.next]
	s.next++
	*b = append((*b)[:0], data...)
	return s.pages.add(fts5.PageID(s.segment, id), *b)
}

// Separator implements fts5.Sink.
func (s *segmentSink) Separator(term []byte, page int64) error {
	return s.separators.add(s.segment, append([]byte{}, term...), page)
}

func (s *segmentSink) flush() error {
	slices.SortFunc(s.indexes, func(a, b indexPage) int { return cmp.Compare(a.id, b.id) })
	for _, p := range s.indexes {
		if err := s.page(p.id, p.data); err != nil {
			return err
		}
	}
	if err := s.pages.flush(); err != nil {
		return err
	}
	return s.separators.flush()
}
