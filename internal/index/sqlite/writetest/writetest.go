// Package writetest opens empty indexes for the tests of the rooms that write, and compares tables.
package writetest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index/sqlite/write"
)

// empty is the file of an empty index. It is made once: the schema takes more than what most tests do with it.
var empty = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "txarchive-empty-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "index.db")
	w := write.Open(path, true, false)
	if err := w.Migrate(context.Background()); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// Create makes the file of an empty index.
func Create(t testing.TB, path string) {
	t.Helper()
	b, err := empty()
	if err == nil {
		err = os.WriteFile(path, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// New opens an empty index until the test ends, and returns its path as well.
func New(t testing.TB) (w *write.Writer, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "index.db")
	Create(t, path)
	return Open(t, path), path
}

// Open opens the index at path until the test ends.
func Open(t testing.TB, path string) *write.Writer {
	t.Helper()
	w := write.Open(path, false, false)
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// In runs do in a transaction, which it commits.
func In(t testing.TB, w *write.Writer, do func(*write.Tx) error) {
	t.Helper()
	x, err := w.Begin(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer x.Rollback()
	if err := do(x); err != nil {
		t.Fatal(err)
	}
	if err := x.Commit(); err != nil {
		t.Fatal(err)
	}
}

// Dump gives the rows of a query, one string each.
func Dump(t testing.TB, db *sqlx.DB, query string, args ...any) []string {
	t.Helper()
	rows, err := db.Queryx(query, args...)
	if err != nil {
		t.Fatalf("%s %q: %v", query, args, err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		values, err := rows.SliceScan()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%x", values))
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s %q: %v", query, args, err)
	}
	return out
}

// Same compares rows.
func Same(t testing.TB, what string, got, want []string) {
	t.Helper()
	if slices.Equal(got, want) {
		return
	}
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("%s differs at %d of %d, %d:\ngot  %.400s\nwant %.400s", what, i, len(got), len(want), got[i], want[i])
		}
	}
	t.Fatalf("%s: %d rows, want %d", what, len(got), len(want))
}
