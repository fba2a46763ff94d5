package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/index/sqlite/fts5"
	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
)

var _ index.Cleaner = (*DB)(nil)

// The file is written anew when so much of it is free. When less is, but more than the next commits are likely to take, pages
// from its end go where others were.
const (
	vacuumShare = 0.05
	vacuumPages = 1 << 20 / 4096
	spareShare  = 0.005
)

// purgedKey is where the index remembers what had been taken out of it when it was last purged, rebuiltKey how many pages it had
// when its file was last written anew.
const (
	purgedKey  = "purged"
	rebuiltKey = "rebuilt"
)

// takenOut changes whenever facts take something out of the index.
const takenOut = "SELECT count(*) || ' ' || coalesce(max(time), 0) FROM facts WHERE kind IN ('tombstone', 'ledger')"

// Purge gives space back. Of what was taken out of the index since the last Purge nothing stays: segments that have
// deleted rows are written anew, words that no row has any more go, and then the whole file is written anew, because
// pages that once held words may be free since long ago.
func (db *DB) Purge(ctx context.Context, all bool) (p index.Purged, err error) {
	if p.Before, err = db.fileSize(); err != nil {
		return p, err
	}
	was, err := db.Recall(ctx, purgedKey)
	if err != nil {
		return p, fmt.Errorf("purge index: %w", engine.Damage(err))
	}
	var now string
	if err := db.w.GetContext(ctx, &now, takenOut); err != nil {
		return p, fmt.Errorf("purge index: %w", engine.Damage(err))
	}
	all = all || was != now && now != "0 0"
	if err := db.purge(ctx, all, &p); err != nil {
		return p, fmt.Errorf("purge index: %w", engine.Damage(err))
	}
	if all && !p.LogKept {
		if err := db.Remember(ctx, purgedKey, now); err != nil {
			return p, fmt.Errorf("purge index: %w", engine.Damage(err))
		}
	}
	p.After, err = db.fileSize()
	return p, err
}

func (db *DB) purge(ctx context.Context, all bool, p *index.Purged) error {
	if all {
		if err := db.rewriteSegments(ctx, p); err != nil {
			return err
		}
		db.words.put(nil)
		if err := db.dropTerms(ctx); err != nil {
			return err
		}
		if err := db.dropNames(ctx); err != nil {
			return err
		}
	}
	if err := db.tidy(ctx, segmentsPurged); err != nil && !errors.Is(err, index.ErrFull) { // joining them may wait for room
		return err
	}
	free, err := db.free(ctx, vacuumShare)
	if err != nil {
		return err
	}
	grown, err := db.grown(ctx)
	if err != nil {
		return err
	}
	shrink := db.giveBack
	if p.Rebuilt = all || free || grown; p.Rebuilt {
		shrink = db.vacuum
	}
	err = shrink(ctx)
	if !all && !free && errors.Is(engine.Damage(err), index.ErrFull) { // so may this
		p.Rebuilt, err = false, db.giveBack(ctx)
	}
	if err != nil {
		return err
	}
	var frames, moved int
	var busy bool
	if err := db.w.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved); err != nil {
		return err
	}
	p.LogKept = busy
	return nil
}

// rewriteSegments writes segments that have deleted rows anew.
func (db *DB) rewriteSegments(ctx context.Context, p *index.Purged) error {
	for {
		t, err := db.begin(ctx)
		if err != nil {
			return err
		}
		again, err := t.rewriteSegment()
		if err == nil {
			err = t.Commit()
		}
		t.Rollback()
		if err != nil || !again {
			return err
		}
		p.Segments++
	}
}

func (t *tx) rewriteSegment() (bool, error) {
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
	return true, t.mergeSegments(s, run)
}

// fragmented are the first segments that have deleted rows, neighbours: when each must be written anew they may as well become one.
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

// dropTerms removes words that no row has any more.
func (db *DB) dropTerms(ctx context.Context) error {
	t, err := db.begin(ctx)
	if err != nil {
		return err
	}
	defer t.Rollback()
	if err := t.dropTerms(); err != nil {
		return err
	}
	return t.Commit()
}

// dropTerms writes one run of the words that the full-text index has. Segments have no deleted rows any more.
func (t *tx) dropTerms() error {
	runs, err := t.runs()
	if err != nil {
		return err
	}
	to := runWriter{t: t}
	s, err := t.structure()
	if err != nil {
		return err
	}
	living, err := fts5.NewTerms(s.All(), segmentSource{t})
	if err != nil {
		return err
	}
	next := living.Next()
	err = schema.MergeRuns(t.nextBlock, runs, schema.AllWords, func(word []byte) error {
		for next != nil && bytes.Compare(next, word) < 0 {
			next = living.Next()
		}
		if !bytes.Equal(next, word) {
			return living.Err()
		}
		return to.add(word)
	})
	if err := errors.Join(err, living.Err(), to.flush()); err != nil {
		return err
	}
	return t.dropRuns(runs)
}

// free says whether so much of the file is, and 1 MB at least.
func (db *DB) free(ctx context.Context, share float64) (bool, error) {
	var pages, free int64
	if err := db.w.GetContext(ctx, &pages, "PRAGMA page_count"); err != nil {
		return false, err
	}
	if err := db.w.GetContext(ctx, &free, "PRAGMA freelist_count"); err != nil {
		return false, err
	}
	return free >= vacuumPages && float64(free) >= share*float64(pages), nil
}

// grown says whether the file has grown by half since it was last written anew: rows that came in between others have split
// their pages, and left a fifth of them empty. As long as less than 1 MB could be had, it has not.
func (db *DB) grown(ctx context.Context) (bool, error) {
	var pages, then int64
	err := db.w.GetContext(ctx, &pages, "PRAGMA page_count")
	if err != nil || vacuumShare*float64(pages) < vacuumPages {
		return false, err
	}
	was, err := db.Recall(ctx, rebuiltKey)
	if was != "" && err == nil {
		then, err = strconv.ParseInt(was, 10, 64)
	}
	return 2*pages > 3*then, err
}

// giveBack makes the file as much smaller as is free in it, when that is worth it.
func (db *DB) giveBack(ctx context.Context) error {
	some, err := db.free(ctx, spareShare)
	if err == nil && some {
		if db.options.Unlogged { // what was moved could not be undone
			ctx = context.WithoutCancel(ctx)
		}
		if _, err = db.w.ExecContext(ctx, "PRAGMA incremental_vacuum"); err != nil {
			db.torn.Store(true)
		}
	}
	if err != nil {
		return fmt.Errorf("give back free pages: %w", engine.Damage(err))
	}
	return nil
}

// vacuumPragmas are no additions to others: the driver sorts them, so of two values of one pragma that holds which comes last in
// the alphabet. A page is read once and written once: more cache has not made it faster.
var vacuumPragmas = []string{returnsPages, "busy_timeout(10000)", "synchronous(NORMAL)", "cache_size(-8192)", "temp_store(FILE)", "wal_autocheckpoint(8000)",
	"foreign_keys(0)", "secure_delete(FAST)"}

// vacuum writes the file anew, with the copy on disk: an index may be larger than the memory.
func (db *DB) vacuum(ctx context.Context) error {
	w, err := db.vacuumer(ctx)
	if err == nil {
		_, err = w.ExecContext(ctx, "VACUUM")
	}
	if err = errors.Join(err, w.Close()); err != nil {
		return err
	}
	var pages string
	if err := db.w.GetContext(ctx, &pages, "PRAGMA page_count"); err != nil {
		return err
	}
	return db.Remember(ctx, rebuiltKey, pages)
}

// vacuumer is a connection of its own for that. What it puts aside lies beside the index, in files without a name: nobody else can
// read them, and nothing of them is left when the program is killed.
func (db *DB) vacuumer(ctx context.Context) (*sqlx.DB, error) {
	w := writer(db.dsn(vacuumPragmas, url.Values{}))
	_, err := w.ExecContext(ctx, "PRAGMA temp_store_directory = '"+strings.ReplaceAll(filepath.Dir(db.path), "'", "''")+"'")
	return w, err
}

// fileSize is the size of the index and its log.
func (db *DB) fileSize() (int64, error) {
	total := int64(0)
	for _, side := range []string{"", "-wal"} {
		info, err := os.Stat(db.path + side)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("measure index: %w", err)
		}
		total += info.Size()
	}
	return total, nil
}

// dropNames removes what rows tell by number and none does any more: names, texts and paths may be of one run alone.
// UNION ALL, since UNION sorts every row in memory, and IN has each number once anyway.
func (db *DB) dropNames(ctx context.Context) error {
	for _, query := range []string{"DELETE FROM usage_texts WHERE id NOT IN (SELECT texts FROM usage UNION ALL SELECT texts FROM usage_threads)",
		"DELETE FROM call_paths WHERE id NOT IN (SELECT paths FROM calls WHERE paths IS NOT NULL)",
		"DELETE FROM scenes WHERE id NOT IN (SELECT scene FROM events)"} {
		if _, err := db.w.ExecContext(ctx, query); err != nil {
			return err
		}
	}
	var kept []string
	for _, column := range []string{"versions.format", "versions.role", "runs.format", "run_names.format", "scenes.kind", "scenes.role", "scenes.type",
		"scenes.tool", "events.inner", "calls.name", "results.name", "usage.inner", "receipts.inner", "steps.inner", "links.format", "links.inner",
		"problems.inner", "usage_series.format"} {
		table, name, _ := strings.Cut(column, ".")
		kept = append(kept, "SELECT "+name+" FROM "+table+" WHERE "+name+" IS NOT NULL")
	}
	_, err := db.w.ExecContext(ctx, "DELETE FROM names WHERE id NOT IN ("+strings.Join(kept, " UNION ALL ")+")")
	return err
}
