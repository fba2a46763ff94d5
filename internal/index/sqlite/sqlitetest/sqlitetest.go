// Package sqlitetest opens indexes for the tests of other packages.
package sqlitetest

import (
	"context"
	"os"
	"testing"

	"github.com/txarchive/txarchive/internal/index/sqlite"
	"github.com/txarchive/txarchive/internal/index/sqlite/writetest"
)

// Create makes the file of an empty index.
func Create(t testing.TB, path string) {
	t.Helper()
	writetest.Create(t, path)
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
