package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/write"
	"github.com/txarchive/txarchive/internal/index/sqlite/writetest"
)

// newDB opens an empty index in a directory whose name needs quoting.
func newDB(t testing.TB) *DB {
	t.Helper()
	file := quotedPath(t)
	writetest.Create(t, file)
	return openUntilEnd(t, file)
}

// copyDB opens a copy of the file of an index.
func copyDB(t testing.TB, content []byte) *DB {
	t.Helper()
	file := quotedPath(t)
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return openUntilEnd(t, file)
}

func quotedPath(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "a #?% b")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "index.db")
}

func openUntilEnd(t testing.TB, file string) *DB {
	t.Helper()
	db, err := Open(t.Context(), file, Options{})
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

func TestOpenTwice(t *testing.T) {
	db, err := Open(t.Context(), filepath.Join(t.TempDir(), "index.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	info, err := os.Stat(db.path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode is %v", info.Mode())
	}
	for _, o := range []Options{{}, {ReadOnly: true}} {
		again, err := Open(t.Context(), db.path, o)
		if err != nil {
			t.Fatalf("%+v: %v", o, err)
		}
		if _, err := again.r.Exec("INSERT INTO terms (words) VALUES (x'00')"); err == nil {
			t.Error("the readers can write")
		}
		if err := again.Close(); err != nil {
			t.Error(err)
		}
	}
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "1", "cache_size": "-40960",
		"temp_store": "2", "wal_autocheckpoint": "8000", "busy_timeout": "10000"} {
		var got string
		if err := db.w.Get(&got, "PRAGMA "+pragma); err != nil || got != want {
			t.Errorf("%s is %s (%v), not %s", pragma, got, err, want)
		}
	}
}

func TestUnlogged(t *testing.T) {
	db, err := Open(t.Context(), filepath.Join(t.TempDir(), "index.db"), Options{Unlogged: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for pragma, want := range map[string]string{"journal_mode": "off", "synchronous": "0", "busy_timeout": "600000", "secure_delete": "2", "auto_vacuum": "2"} {
		var got string
		if err := db.w.Get(&got, "PRAGMA "+pragma); err != nil || got != want {
			t.Errorf("%s is %s (%v), not %s", pragma, got, err, want)
		}
	}
}

// TestUnloggedIsNotInterrupted: a transaction that has begun ends, for it could not be undone; one that has not does not begin.
func TestUnloggedIsNotInterrupted(t *testing.T) {
	db, err := Open(t.Context(), filepath.Join(t.TempDir(), "index.db"), Options{Unlogged: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ctx, cancel := context.WithCancel(t.Context())
	b := workBatch(0, 3, false)
	resolver := b.Resolvers
	b.Resolvers = func(format string) index.Resolver { cancel(); return resolver(format) }
	for range 2 {
		if err := db.Commit(ctx, b); !errors.Is(err, context.Canceled) || db.Torn() { // it merges no segments any more
			t.Errorf("interrupted: %v, torn %v", err, db.Torn())
		}
		b = workBatch(7, 1, false)
	}
	packs := 0
	for _, err := range db.Packs(t.Context()) {
		if packs++; err != nil {
			t.Fatal(err)
		}
	}
	if packs != 1 {
		t.Errorf("%d packs are in, want the one that it was interrupted in", packs)
	}
}

// TestUnloggedGivesBackAll: pages that were moved could not be moved back, so it is not interrupted either.
func TestUnloggedGivesBackAll(t *testing.T) {
	db, err := Open(t.Context(), filepath.Join(t.TempDir(), "index.db"), Options{Unlogged: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	const fill = " SELECT zeroblob(3000) FROM n"
	for _, statement := range []string{"CREATE TABLE goes (b)", "CREATE TABLE stays (b)", "INSERT INTO goes WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 6000)" + fill,
		"INSERT INTO stays WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 6000)" + fill, "DROP TABLE goes"} {
		if _, err := db.w.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	err = context.DeadlineExceeded
	for wait := 5 * time.Millisecond; errors.Is(err, context.DeadlineExceeded) && !db.Torn(); wait *= 2 { // a busy machine may not have begun by then
		ctx, cancel := context.WithTimeout(t.Context(), wait)
		err = db.giveBack(ctx)
		cancel()
	}
	if err != nil || db.Torn() {
		t.Errorf("%v, torn %v", err, db.Torn())
	}
	if some, err := db.free(t.Context(), 0); some || err != nil {
		t.Errorf("pages are free: %v, %v", some, err)
	}
}

// TestReadBesideCommit reads states, which ask for the extents of each, while a commit waits for them to end: without a log it would
// wait for ever if they needed a second connection.
func TestReadBesideCommit(t *testing.T) {
	db, err := Open(t.Context(), filepath.Join(t.TempDir(), "index.db"), Options{Unlogged: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for i := range 3 {
		if err := db.Commit(t.Context(), workBatch(i, 1, false)); err != nil {
			t.Fatal(err)
		}
	}
	read, committed := make(chan int, 1), make(chan error, 1)
	go func() {
		n := 0
		for _, err := range db.States(t.Context()) {
			if err != nil {
				t.Error(err)
			}
			if n++; n == 1 {
				go func() { committed <- db.Commit(t.Context(), workBatch(7, 1, false)) }()
				time.Sleep(300 * time.Millisecond) // it waits for this loop by now
			}
		}
		read <- n
	}()
	select {
	case n := <-read:
		if err := <-committed; err != nil || n != 9 {
			t.Errorf("%d states, want 9; the commit: %v", n, err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("reader and commit wait for each other")
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "none.db")
	if _, err := Open(t.Context(), path, Options{ReadOnly: true}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("reading a missing index: %v", err)
	}
	junk := filepath.Join(dir, "junk.db")
	if err := os.WriteFile(junk, []byte("this is not what a database looks like, at all"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, o := range []Options{{}, {ReadOnly: true}} {
		if _, err := Open(t.Context(), junk, o); !errors.Is(err, index.ErrDamaged) {
			t.Errorf("%+v: opening junk: %v", o, err)
		}
	}
}

func TestOpenVersions(t *testing.T) {
	db := newDB(t)
	for _, c := range []struct {
		sql  string
		o    Options
		want error
	}{
		{"INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, 1)", Options{}, index.ErrTooNew},
		{"SELECT 1", Options{ReadOnly: true}, index.ErrTooNew},
		{"DELETE FROM goose_db_version WHERE version_id > 1", Options{ReadOnly: true}, index.ErrTooOld},
	} {
		if _, err := db.w.Exec(c.sql); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), db.path, c.o); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.sql, err, c.want)
		}
	}
}

func TestOpenWhereNothingCanBeWritten(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Log("root can write everywhere; the fallback is not reached")
	}
	db, err := Open(t.Context(), filepath.Join(t.TempDir(), "index.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(db.path)
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o700)
	again, err := Open(t.Context(), db.path, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}

// inTx runs f in a committed transaction.
func inTx(t testing.TB, db *DB, f func(*write.Tx) error) {
	t.Helper()
	writetest.In(t, db.w, f)
}

func mustExec(t testing.TB, db *DB, query string, args ...any) {
	t.Helper()
	if _, err := db.w.Exec(query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}
