package sqlite

import (
	"context"
	"fmt"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/commit"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/index/sqlite/words"
)

var _ index.Writer = (*DB)(nil)

// Commit adds a batch in one transaction.
func (db *DB) Commit(ctx context.Context, batch index.Batch) error {
	t, err := db.w.Begin(ctx)
	if err != nil {
		return err
	}
	defer t.Rollback()
	adding := db.words.Begin()
	bulk, err := commit.Run(t, batch, adding, db.commits)
	if err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	if err := t.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	adding.Keep()
	if !bulk {
		return nil
	}
	// Large batches follow each other: if merging were left to Tidy, there would be too many segments by then.
	if _, err := db.mergeSegments(ctx, words.Kept); err != nil {
		return fmt.Errorf("merge segments: %w", engine.Damage(err))
	}
	return nil
}
