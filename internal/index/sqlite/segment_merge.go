package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"

	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/index/sqlite/fts5"
)

// A query reads every segment, so there should be few; a merge rewrites them, so it should be rare. When there are more than
// segmentsKept (segmentsQuiet in a quiet hour, segmentsPurged in a purge), a run of at most mergeRun neighbours becomes one, of
// at most mergePages (128 MB, about a second). Segments larger than half of that are left alone: a very large archive has one
// more for each.
const (
	segmentsKept   = 8
	segmentsQuiet  = 4
	segmentsPurged = 1 // each segment has its own list of a word that they share
	mergeRun       = 8
	mergePages     = 32 << 10
)

// nativePages bounds one step of a merge that FTS5 itself has begun: some tenths of a second.
const nativePages = 4000

// Tidy merges segments of the full-text index and runs of words until there are few again, and gives back the space that
// becomes free.
func (db *DB) Tidy(ctx context.Context) error {
	if err := db.tidy(ctx, segmentsKept); err != nil {
		return err
	}
	return db.giveBack(ctx)
}

func (db *DB) tidy(ctx context.Context, kept int) error {
	if err := db.joinTerms(ctx); err != nil {
		return fmt.Errorf("join terms: %w", engine.Damage(err))
	}
	for {
		merged, err := db.mergeSegments(ctx, kept)
		if err != nil {
			return fmt.Errorf("merge segments: %w", engine.Damage(err))
		}
		if !merged {
			return nil
		}
	}
}

func (db *DB) joinTerms(ctx context.Context) error {
	t, err := db.begin(ctx)
	if err != nil {
		return err
	}
	defer t.Rollback()
	if err := t.joinTerms(runsKept); err != nil {
		return err
	}
	return t.Commit()
}

// mergeSegments performs one merge if there are more segments than kept, or one is due for itself. It reports whether it did.
func (db *DB) mergeSegments(ctx context.Context, kept int) (bool, error) {
	t, err := db.begin(ctx)
	if err != nil {
		return false, err
	}
	defer t.Rollback()
	s, err := t.structure()
	if err != nil {
		return false, err
	}
	if s.Merging() {
		if err := t.continueMerge(); err != nil {
			return false, err
		}
		return true, t.Commit()
	}
	run := dueMerge(s.All(), kept)
	if run == nil {
		return false, t.end()
	}
	if err := t.mergeSegments(s, run); err != nil {
		return false, err
	}
	return true, t.Commit()
}

// continueMerge lets FTS5 continue a merge that somebody once told it to begin, whose segments nobody else may touch. FTS5 may
// prefer another level forever: then it is told to merge everything.
func (t *tx) continueMerge() error {
	before, err := t.record(fts5.StructureID)
	if err != nil {
		return err
	}
	if err := t.execLong("INSERT INTO fts (fts, rank) VALUES ('merge', ?)", nativePages); err != nil {
		return err
	}
	after, err := t.record(fts5.StructureID)
	if err != nil || !bytes.Equal(before, after) {
		return err
	}
	return t.execLong("INSERT INTO fts (fts) VALUES ('optimize')")
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

// mergeSegments replaces a run of segments by one.
func (t *tx) mergeSegments(s *fts5.Structure, run []fts5.Segment) error {
	if err := t.settleFTS(); err != nil {
		return err
	}
	id, err := s.NextID()
	if err != nil {
		return err
	}
	sink := newSegmentSink(t, id)
	leaves, err := fts5.Merge(run, emptiedSource{segmentSource{t}}, sink)
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
	return t.forgetFTS()
}

// firstTombstone is added to the number of a segment to number its tombstone pages.
const firstTombstone = 1 << 16

func (t *tx) dropSegment(g fts5.Segment) error {
	for _, id := range []int{g.ID, g.ID + firstTombstone} {
		if err := t.exec("DELETE FROM fts_data WHERE id >= ? AND id < ?", fts5.PageID(id, 0), fts5.PageID(id+1, 0)); err != nil {
			return err
		}
	}
	return t.exec("DELETE FROM fts_idx WHERE segid = ?", g.ID)
}

// segmentSource reads the pages of segments. It implements fts5.Source.
type segmentSource struct{ t *tx }

func (s segmentSource) Leaves(segment, first, last int) ([][]byte, error) {
	return s.pages(fts5.PageID(segment, int64(first)), fts5.PageID(segment, int64(last)))
}

func (s segmentSource) Tombstones(segment, pages int) ([][]byte, error) {
	segment += firstTombstone
	return s.pages(fts5.PageID(segment, 0), fts5.PageID(segment, int64(pages-1)))
}

func (s segmentSource) pages(first, last int64) ([][]byte, error) {
	var pages [][]byte
	err := s.t.eachBrief("SELECT block FROM fts_data WHERE id BETWEEN ? AND ? ORDER BY id", func(rows *sql.Rows) error {
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
		err = s.t.exec("DELETE FROM fts_data WHERE id BETWEEN ? AND ?", fts5.PageID(segment, int64(first)), fts5.PageID(segment, int64(last)))
	}
	return pages, err
}

// Optimize does what may wait for a quiet hour: due merges, and moving the log into the file. For an index that has not changed
// it costs next to nothing.
func (db *DB) Optimize(ctx context.Context) error {
	if err := db.tidy(ctx, segmentsQuiet); err != nil {
		return err
	}
	if err := db.giveBack(ctx); err != nil {
		return err
	}
	if _, err := db.w.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		return fmt.Errorf("move the log into the index: %w", engine.Damage(err))
	}
	return nil
}
