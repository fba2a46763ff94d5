package words

import (
	"bytes"
	"database/sql"

	"github.com/txarchive/txarchive/internal/index/sqlite/fts5"
	"github.com/txarchive/txarchive/internal/index/sqlite/write"
)

// A query reads every segment, so there should be few; a merge rewrites them, so it should be rare. When there are more than
// Kept (KeptQuiet in a quiet hour, KeptPurged in a purge), a run of at most mergeRun neighbours becomes one, of
// at most mergePages (128 MB, about a second). Segments larger than half of that are left alone: a very large archive has one
// more for each.
const (
	Kept       = 8
	KeptQuiet  = 4
	KeptPurged = 1 // each segment has its own list of a word that they share
	mergeRun   = 8
	mergePages = 32 << 10
)

// nativePages bounds one step of a merge that FTS5 itself has begun: some tenths of a second.
const nativePages = 4000

// Merge performs one merge if there are more segments than kept, or one is due for itself. It reports whether it did.
func Merge(x *write.Tx, kept int) (bool, error) {
	t := segments{x}
	s, err := t.structure()
	if err != nil {
		return false, err
	}
	if s.Merging() {
		return true, t.continueMerge()
	}
	run := dueMerge(s.All(), kept)
	if run == nil {
		return false, nil
	}
	return true, t.replace(s, run)
}

// continueMerge lets FTS5 continue a merge that somebody once told it to begin, whose segments nobody else may touch. FTS5 may
// prefer another level forever: then it is told to merge everything.
func (t segments) continueMerge() error {
	before, err := t.record(fts5.StructureID)
	if err != nil {
		return err
	}
	if err := t.ExecLong("INSERT INTO fts (fts, rank) VALUES ('merge', ?)", nativePages); err != nil {
		return err
	}
	after, err := t.record(fts5.StructureID)
	if err != nil || !bytes.Equal(before, after) {
		return err
	}
	return t.ExecLong("INSERT INTO fts (fts) VALUES ('optimize')")
}

// dueMerge chooses what to merge among segments, oldest first: one of which half the rows are deleted, else neighbours, if
// there are too many.
func dueMerge(all []fts5.Segment, kept int) []fts5.Segment {
	for i, g := range all {
		if g.TombstoneRows > 0 && 2*g.TombstoneRows >= g.TotalRow && g.Pages() <= mergePages {
			return all[i : i+1]
		}
	}
	small := 0
	for _, g := range all {
		if g.Pages() <= mergePages/2 {
			small++
		}
	}
	if small <= kept {
		return nil
	}
	run := cheapestRun(all, true)
	if run == nil && small > 2*kept {
		run = cheapestRun(all, false)
	}
	return run
}

// cheapestRun chooses the run with the fewest pages for each segment that merging it saves. A balanced run has no segment
// larger than all its others together, so that no row is rewritten over and over for the sake of a few new ones.
func cheapestRun(all []fts5.Segment, balanced bool) (best []fts5.Segment) {
	cost := 0
	for i := range all {
		pages, largest := 0, 0
		for j := i; j < min(len(all), i+mergeRun); j++ {
			n := all[j].Pages()
			pages, largest = pages+n, max(largest, n)
			if n > mergePages/2 || pages > mergePages {
				break
			}
			if i == j || balanced && 2*largest > pages {
				continue
			}
			if best == nil || pages*(len(best)-1) < cost*(j-i) {
				best, cost = all[i:j+1], pages
			}
		}
	}
	return best
}

// replace replaces a run of segments by one.
func (t segments) replace(s *fts5.Structure, run []fts5.Segment) error {
	if err := t.settle(); err != nil {
		return err
	}
	id, err := s.NextID()
	if err != nil {
		return err
	}
	sink := newSegmentSink(t, id)
	leaves, err := fts5.Merge(run, emptiedSource{segmentSource{t.Tx}}, sink)
	if err == nil {
		err = sink.flush()
	}
	if err != nil {
		return err
	}
	for _, g := range run {
		if err := t.dropSegment(g); err != nil {
			return err
		}
	}
	s.Replace(run, fts5.Merged(run, id, leaves))
	if err := t.putRecord(fts5.StructureID, s.Encode()); err != nil {
		return err
	}
	return t.forget()
}

// Rewrite rewrites one run of segments that have deleted rows, so that nothing of these is left. It reports whether there was any.
func Rewrite(x *write.Tx) (bool, error) {
	t := segments{x}
	s, err := t.structure()
	if err != nil {
		return false, err
	}
	if s.Merging() {
		return true, t.continueMerge()
	}
	run := fragmented(s.All())
	if run == nil {
		return false, nil
	}
	return true, t.replace(s, run)
}

// fragmented returns the first neighbours that have deleted rows: since each must be rewritten, they may as well become one.
func fragmented(all []fts5.Segment) (run []fts5.Segment) {
	pages := 0
	for i, g := range all {
		pages += g.Pages()
		switch {
		case len(run) > 0 && (g.TombstoneRows == 0 || len(run) == mergeRun || pages > mergePages):
			return run
		case g.TombstoneRows == 0:
			pages = 0
		default:
			run = all[i-len(run) : i+1]
		}
	}
	return run
}

// firstTombstone is added to the number of a segment to number its tombstone pages.
const firstTombstone = 1 << 16

func (t segments) dropSegment(g fts5.Segment) error {
	for _, id := range []int{g.ID, g.ID + firstTombstone} {
		if err := t.Exec("DELETE FROM fts_data WHERE id >= ? AND id < ?", fts5.PageID(id, 0), fts5.PageID(id+1, 0)); err != nil {
			return err
		}
	}
	return t.Exec("DELETE FROM fts_idx WHERE segid = ?", g.ID)
}

// segmentSource reads the pages of segments. It implements fts5.Source.
type segmentSource struct{ t *write.Tx }

func (s segmentSource) Leaves(segment, first, last int) ([][]byte, error) {
	return s.pages(fts5.PageID(segment, int64(first)), fts5.PageID(segment, int64(last)))
}

func (s segmentSource) Tombstones(segment, pages int) ([][]byte, error) {
	segment += firstTombstone
	return s.pages(fts5.PageID(segment, 0), fts5.PageID(segment, int64(pages-1)))
}

func (s segmentSource) pages(first, last int64) ([][]byte, error) {
	var pages [][]byte
	err := s.t.EachBrief("SELECT block FROM fts_data WHERE id BETWEEN ? AND ? ORDER BY id", func(rows *sql.Rows) error {
		var b []byte
		err := rows.Scan(&b)
		pages = append(pages, b)
		return err
	}, first, last)
	return pages, err
}

// emptiedSource deletes the leaves that it returns, so that the merged segment reuses their pages. Otherwise the file would
// grow by a whole merge.
type emptiedSource struct{ segmentSource }

func (s emptiedSource) Leaves(segment, first, last int) ([][]byte, error) {
	pages, err := s.segmentSource.Leaves(segment, first, last)
	if err == nil {
		err = s.t.Exec("DELETE FROM fts_data WHERE id BETWEEN ? AND ?", fts5.PageID(segment, int64(first)), fts5.PageID(segment, int64(last)))
	}
	return pages, err
}
