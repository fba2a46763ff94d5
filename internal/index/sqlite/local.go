package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/commit"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/index/sqlite/write"
)

var (
	_ index.PackLister = (*DB)(nil)
	_ index.Statistics = (*DB)(nil)
	_ index.ScanMemory = (*DB)(nil)
	_ index.LocalState = (*DB)(nil)
)

// SaveStats updates what the scan cache has of files of a source, and deletes those that are gone.
func (db *DB) SaveStats(ctx context.Context, source string, stats map[uint64]index.Stat, gone []uint64) error {
	if len(stats) == 0 && len(gone) == 0 {
		return nil
	}
	t, err := db.w.Begin(ctx)
	if err != nil {
		return err
	}
	defer t.Rollback()
	b := t.Inserter("OR REPLACE INTO local_scan", "source, path, size, mtime, inode, ignored")
	for _, path := range slices.Sorted(maps.Keys(stats)) { // in the order of keys, which makes inserts appends
		s := stats[path]
		if err := b.Add(source, int64(path), s.Size, s.ModTime, int64(s.Inode), write.Flag(s.Ignored)); err != nil {
			return err
		}
	}
	if err := b.Flush(); err != nil {
		return err
	}
	for _, path := range gone {
		if err := t.Exec("DELETE FROM local_scan WHERE source = ? AND path = ?", source, int64(path)); err != nil {
			return err
		}
	}
	return t.Commit()
}

// Recall returns what this machine keeps under a key, "" if nothing.
func (db *DB) Recall(ctx context.Context, key string) (value string, err error) {
	err = db.r.QueryRowContext(ctx, "SELECT value FROM local_state WHERE key = ?", key).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return value, err
}

// Remember keeps a value under a key until the index is rebuilt.
func (db *DB) Remember(ctx context.Context, key, value string) error {
	return db.SaveLocal(ctx, map[string]string{key: value})
}

// SaveLocal keeps values that only concern this machine.
func (db *DB) SaveLocal(ctx context.Context, notes map[string]string) error {
	if len(notes) == 0 {
		return nil
	}
	t, err := db.w.Begin(ctx)
	if err != nil {
		return err
	}
	defer t.Rollback()
	for key, value := range notes {
		if err := t.Exec("INSERT OR REPLACE INTO local_state (key, value) VALUES (?, ?)", key, value); err != nil {
			return fmt.Errorf("note %s: %w", key, err)
		}
	}
	return t.Commit()
}

// localState is a row of local_state.
type localState struct{ key, value string }

// LoadLocal returns the values whose keys have a prefix.
func (db *DB) LoadLocal(ctx context.Context, prefix string) (map[string]string, error) {
	notes := map[string]string{}
	err := engine.Each(ctx, db.r, "SELECT key, value FROM local_state WHERE substr(key, 1, ?) = ?", []any{len([]rune(prefix)), prefix},
		func(rows *sqlx.Rows) (n localState, err error) { return n, rows.Scan(&n.key, &n.value) },
		func(n localState) bool { notes[n.key] = n.value; return true })
	return notes, engine.Damage(err)
}

// Replaced yields the packs that others have replaced.
func (db *DB) Replaced(ctx context.Context) iter.Seq2[string, error] {
	return engine.Stream(ctx, db.r, "SELECT substr(key, ?) FROM local_state WHERE substr(key, 1, ?) = ? ORDER BY key",
		[]any{len(commit.ReplacedKey) + 1, len(commit.ReplacedKey), commit.ReplacedKey}, func(rows *sqlx.Rows) (s string, err error) { return s, rows.Scan(&s) })
}
