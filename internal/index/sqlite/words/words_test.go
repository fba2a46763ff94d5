package words

import (
	"context"
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index/sqlite/write"
	"github.com/txarchive/txarchive/internal/index/sqlite/writetest"
)

// testIndex is an index with a connection that writes, and one that has not written what it reads.
type testIndex struct {
	w    *write.Writer
	r    *sqlx.DB
	path string
}

func newIndex(t testing.TB) *testIndex {
	t.Helper()
	w, path := writetest.New(t)
	return &testIndex{w, writetest.Open(t, path).DB, path}
}

// tidy merges segments until none is due.
func (x *testIndex) tidy() error {
	for {
		t, err := x.w.Begin(context.Background())
		if err != nil {
			return err
		}
		defer t.Rollback()
		merged, err := Merge(t, Kept)
		if err != nil || !merged {
			return err
		}
		if err := t.Commit(); err != nil {
			return err
		}
	}
}

func mustExec(t testing.TB, db *testIndex, query string, args ...any) {
	t.Helper()
	if _, err := db.w.Exec(query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}
