package sqlite

import (
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
	driver "modernc.org/sqlite"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/index/sqlite/words"
	"github.com/txarchive/txarchive/internal/index/sqlite/write"
)

var _ index.Cleaner = (*DB)(nil)

// The file is rewritten when vacuumShare of it is free. When less is, but more than the next commits are likely to take, pages
// are moved from its end into free ones.
const (
	vacuumShare = 0.05
	vacuumPages = 1 << 20 / 4096
	spareShare  = 0.005
)

// purgedKey is the key under which local_state keeps what had been taken out of the index when it was last purged (takenOut),
// rebuiltKey that of the number of pages when the file was last rewritten.
const (
	purgedKey  = "purged"
	rebuiltKey = "rebuilt"
)

// takenOut is a value that changes whenever facts take something out of the index.
const takenOut = "SELECT count(*) || ' ' || coalesce(max(time), 0) FROM facts WHERE kind IN ('tombstone', 'ledger')"

// Purge gives space back. Nothing remains of what was taken out of the index since the last Purge: it rewrites segments with
// deleted rows, deletes words that no row has any more, and then rewrites the whole file, because pages that once held words
// may have been free for long.
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
		db.words.Forget()
		if err := db.inTx(ctx, words.DropUnused); err != nil {
			return err
		}
		if err := db.dropNames(ctx); err != nil {
			return err
		}
	}
	if err := db.tidy(ctx, words.KeptPurged); err != nil && !errors.Is(err, index.ErrFull) { // merging may wait for disk space
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

// free reports whether at least a share of the file is free, and at least 1 MB.
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

// grown reports whether the file has grown by half since it was last rewritten. Rows that were inserted between others have
// split their pages by then, and left a fifth of them empty. It has not as long as less than 1 MB could be gained.
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

// giveBack shrinks the file by its free pages, if that is worth it.
func (db *DB) giveBack(ctx context.Context) error {
	some, err := db.free(ctx, spareShare)
	if err == nil && some {
		if db.options.Unlogged { // what was moved could not be undone
			ctx = context.WithoutCancel(ctx)
		}
		if _, err = db.w.ExecContext(ctx, "PRAGMA incremental_vacuum"); err != nil {
			db.w.Tear()
		}
	}
	if err != nil {
		return fmt.Errorf("give back free pages: %w", engine.Damage(err))
	}
	return nil
}

// vacuumPragmas replace the writer's pragmas instead of adding to them: the driver sorts them, so of two values of one pragma
// the alphabetically last would hold. A page is read once and written once, so a larger cache has not made it faster.
var vacuumPragmas = []string{write.ReturnsPages, "busy_timeout(10000)", "synchronous(NORMAL)", "cache_size(-8192)", "temp_store(FILE)", "wal_autocheckpoint(8000)",
	"foreign_keys(0)", "secure_delete(FAST)"}

// vacuum rewrites the file, with its copy on disk: an index may be larger than the memory.
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

// vacuumer opens a connection for that. Its temporary files are beside the index and unnamed: nobody else can read them, and
// nothing is left of them if the program is killed.
func (db *DB) vacuumer(ctx context.Context) (*sqlx.DB, error) {
	w := write.Pool(engine.TableConnector(new(driver.Driver), db.dsn(vacuumPragmas, url.Values{})))
	_, err := w.ExecContext(ctx, "PRAGMA temp_store_directory = '"+strings.ReplaceAll(filepath.Dir(db.path), "'", "''")+"'")
	return w, err
}

// fileSize returns the size of the index and its log.
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

// dropNames deletes interned names, texts and paths that no row refers to any more: they may be of one run alone. It uses UNION
// ALL because UNION would sort all rows in memory, and IN keeps each number once anyway.
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
