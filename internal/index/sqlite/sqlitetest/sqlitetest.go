// Package sqlitetest opens indexes for the tests of other packages.
package sqlitetest

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/txarchive/txarchive/internal/index/sqlite"
)

// empty is the file of an empty index. It is made once: the schema takes more than what most tests do with it.
var empty = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "txarchive-empty-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "index.db")
	db, err := sqlite.Open(context.Background(), path, sqlite.Options{})
	if err != nil {
		return nil, err
	}
	if err := db.Close(); err != nil {
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

// Open opens the index at path until the test ends. If there is none, it is a new one.
func Open(t testing.TB, path string) *sqlite.DB {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		Create(t, path)
	}
	db, err := sqlite.Open(context.Background(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}
