package sqlite

import (
	"testing"

	"github.com/txarchive/txarchive/internal/index/indextest"
	"github.com/txarchive/txarchive/internal/index/sqlite/commit"
)

func TestIndex(t *testing.T) {
	indextest.Run(t, func(t *testing.T) indextest.Index { return newDB(t) })
}

// TestIndexOfSegments has every batch become a segment, however small, and files most rows under later hours than their own.
func TestIndexOfSegments(t *testing.T) {
	indextest.Run(t, func(t *testing.T) indextest.Index {
		db := newDB(t)
		db.commits = commit.Options{BulkRows: 1, HourRows: 50}
		return db
	})
}
