package sqlite

import (
	"testing"

	"github.com/txarchive/txarchive/internal/index/indextest"
)

func TestIndex(t *testing.T) {
	indextest.Run(t, func(t *testing.T) indextest.Index { return newDB(t) })
}

// TestIndexOfSegments has every batch become a segment, however small.
func TestIndexOfSegments(t *testing.T) {
	indextest.Run(t, func(t *testing.T) indextest.Index {
		db := newDB(t)
		db.bulkRows = 1
		return db
	})
}
