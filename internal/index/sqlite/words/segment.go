package words

import (
	"cmp"
	"slices"

	"github.com/txarchive/txarchive/internal/index/sqlite/fts5"
	"github.com/txarchive/txarchive/internal/index/sqlite/write"
)

// segments writes the tables of the full-text index. Rows that are buffered have no words, so nothing need be flushed before.
type segments struct{ *write.Tx }

// add writes what the builder holds as the newest segment. Before that, FTS5 must write its pending rows, and after it,
// forget the structure record that it has cached.
func (t segments) add(b *fts5.Builder) error {
	if err := t.settle(); err != nil {
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
	return t.forget()
}

// addSizes writes what ranking needs: the token counts of each row and of all rows.
func (t segments) addSizes(b *fts5.Builder, origin uint64) error {
	sizes := t.Inserter("OR FAIL INTO fts_docsize", "id, sz, origin")
	for id, size := range b.Sizes {
		if err := sizes.Add(id, size, int64(origin)); err != nil {
			return err
		}
	}
	if err := sizes.Flush(); err != nil {
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

// settle makes FTS5 write the rows that it has pending in this transaction.
func (t segments) settle() error {
	return t.ExecDirect("INSERT INTO fts (fts) VALUES ('flush')")
}

// forget makes FTS5 read the structure record again. A merge of no pages drops the cached one and does nothing else; by
// itself FTS5 notices only what other connections have written.
func (t segments) forget() error {
	return t.ExecDirect("INSERT INTO fts (fts, rank) VALUES ('merge', 0)")
}

func (t segments) structure() (*fts5.Structure, error) {
	b, err := t.record(fts5.StructureID)
	if err != nil {
		return nil, err
	}
	return fts5.DecodeStructure(b)
}

func (t segments) record(id int) ([]byte, error) {
	var b []byte
	_, err := t.GetDirect("SELECT block FROM fts_data WHERE id = ?", []any{id}, &b)
	return b, err
}

func (t segments) putRecord(id int, b []byte) error {
	return t.ExecDirect("REPLACE INTO fts_data (id, block) VALUES (?, ?)", id, b)
}

// segmentSink writes the pages of one segment.
type segmentSink struct {
	segment           int
	pages, separators *write.Inserter
	buffers           [64][]byte // of the pages in the inserter
	next              int
	indexes           []indexPage // of doclists
}

func newSegmentSink(t segments, segment int) *segmentSink {
	return &segmentSink{
		segment:    segment,
		pages:      t.Inserter("OR FAIL INTO fts_data", "id, block"),
		separators: t.Inserter("OR FAIL INTO fts_idx", "segid, term, pgno"),
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
		if err := s.pages.Flush(); err != nil {
			return err
		}
		s.next = 0
	}
	b := &s.buffers[s.next]
	s.next++
	*b = append((*b)[:0], data...)
	return s.pages.Add(fts5.PageID(s.segment, id), *b)
}

// Separator implements fts5.Sink.
func (s *segmentSink) Separator(term []byte, page int64) error {
	return s.separators.Add(s.segment, append([]byte{}, term...), page)
}

func (s *segmentSink) flush() error {
	slices.SortFunc(s.indexes, func(a, b indexPage) int { return cmp.Compare(a.id, b.id) })
	for _, p := range s.indexes {
		if err := s.page(p.id, p.data); err != nil {
			return err
		}
	}
	if err := s.pages.Flush(); err != nil {
		return err
	}
	return s.separators.Flush()
}
