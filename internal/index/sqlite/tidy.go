package sqlite

import (
	"context"
	"fmt"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/index/sqlite/words"
	"github.com/txarchive/txarchive/internal/index/sqlite/write"
)

// Tidy merges segments of the full-text index and runs of words until there are few again, and gives back the space that
// becomes free.
func (db *DB) Tidy(ctx context.Context) error {
	if err := db.tidy(ctx, words.Kept); err != nil {
		return err
	}
	return db.giveBack(ctx)
}

func (db *DB) tidy(ctx context.Context, kept int) error {
	if err := db.inTx(ctx, words.JoinRuns); err != nil {
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

// inTx runs do in a transaction of its own.
func (db *DB) inTx(ctx context.Context, do func(*write.Tx) error) error {
	t, err := db.w.Begin(ctx)
	if err != nil {
		return err
	}
	defer t.Rollback()
	if err := do(t); err != nil {
		return err
	}
	return t.Commit()
}

// mergeSegments performs one merge, if one is due. It reports whether it did.
func (db *DB) mergeSegments(ctx context.Context, kept int) (merged bool, err error) {
	err = db.inTx(ctx, func(t *write.Tx) (err error) {
		merged, err = words.Merge(t, kept)
		return err
	})
	return merged, err
}

// rewriteSegments rewrites the segments that have deleted rows.
func (db *DB) rewriteSegments(ctx context.Context, p *index.Purged) error {
	for {
		again := false
		if err := db.inTx(ctx, func(t *write.Tx) (err error) {
			again, err = words.Rewrite(t)
			return err
		}); err != nil || !again {
			return err
		}
		p.Segments++
	}
}

// Optimize does what may wait for a quiet hour: due merges, and moving the log into the file. For an index that has not changed
// it costs next to nothing.
func (db *DB) Optimize(ctx context.Context) error {
	if err := db.tidy(ctx, words.KeptQuiet); err != nil {
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
