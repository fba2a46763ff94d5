package ask_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index/indextest"
	"github.com/txarchive/txarchive/internal/index/sqlite"
	"github.com/txarchive/txarchive/internal/index/sqlite/sqlitetest"
)

// world is an index, with a connection of its own for direct changes of the tables.
type world struct {
	*sqlite.DB
	raw *sqlx.DB
}

// newWorld returns a world without rows.
func newWorld(t testing.TB) *world {
	t.Helper()
	db := sqlitetest.Open(t, filepath.Join(t.TempDir(), "index.db"))
	raw, err := sqlx.Open("sqlite", "file:"+db.Path()+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	raw.SetMaxOpenConns(1)
	t.Cleanup(func() {
		if err := raw.Close(); err != nil {
			t.Error(err)
		}
	})
	return &world{db, raw}
}

// smallWorld returns a world with each original of indextest.Small in a pack of its own.
func smallWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	for _, o := range indextest.Small() {
		if err := w.Commit(t.Context(), indextest.Batch("pack of "+o.Path+fmt.Sprint(o.Number), o)); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// Size of most busy worlds.
const (
	busyRuns   = 16
	busyEvents = 40
)

// busyWorld returns a world with some hundred events of several projects, with usage, calls and facts about runs.
func busyWorld(t *testing.T, runs int) *world {
	t.Helper()
	w := newWorld(t)
	r := rand.New(rand.NewPCG(7, 7))
	words := rand.NewZipf(r, 1.3, 4, 3000)
	var originals []indextest.Original
	for n := range runs {
		originals = append(originals, benchOriginal(n, busyEvents, r, words))
	}
	if err := w.Commit(t.Context(), indextest.Batch("busy", originals...)); err != nil {
		t.Fatal(err)
	}
	return w
}
