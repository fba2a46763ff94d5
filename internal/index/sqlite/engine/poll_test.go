package engine_test

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	driver "modernc.org/sqlite"

	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
)

// endless returns rows forever, and does a million steps between most of them.
const endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n WHERE i < 3 OR i % 1000000 = 0"

func polledPool(t *testing.T) *sqlx.DB {
	t.Helper()
	db := engine.Pool(engine.Connector(new(driver.Driver), "file:"+filepath.Join(t.TempDir(), "asked.db")), 8)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func number(rows *sqlx.Rows) (n int64, err error) { return n, rows.Scan(&n) }

// TestReadTxHasNoGoroutines counts goroutines while rows are read under a context that can end: none is added.
func TestReadTxHasNoGoroutines(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	db := polledPool(t)
	if _, err := db.Exec("CREATE TABLE t (a)"); err != nil { // the pool has its connection, and what waits for others
		t.Fatal(err)
	}
	before := runtime.NumGoroutine()
	r, err := engine.BeginRead(ctx, db)
	if err != nil {
		t.Fatal(err)
	}
	err = engine.Each(ctx, r, endless, nil, number, func(int64) bool {
		if n := runtime.NumGoroutine(); n > before {
			t.Errorf("%d goroutines more", n-before)
		}
		return false
	})
	if err := errors.Join(err, r.Rollback()); err != nil {
		t.Fatal(err)
	}
}

// TestReadTxEndsWithItsContext ends the context between rows, in a step, and before the statement. The connection stays usable.
func TestReadTxEndsWithItsContext(t *testing.T) {
	db := polledPool(t)
	db.SetMaxOpenConns(1)
	for name, begin := range map[string]func() (sqlx.QueryerContext, func() error){
		"pool": func() (sqlx.QueryerContext, func() error) { return db, func() error { return nil } },
		"transaction": func() (sqlx.QueryerContext, func() error) {
			r, err := engine.BeginRead(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			return r, r.Rollback
		},
	} {
		q, end := begin()
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		err := engine.Each(ctx, q, endless, nil, number, func(int64) bool {
			if n++; n == 2 {
				cancel()
			}
			return true
		})
		if !errors.Is(err, context.Canceled) || n != 2 {
			t.Errorf("%s: %v after %d rows", name, err, n)
		}
		if err := engine.Each(ctx, q, "SELECT 1", nil, number, func(int64) bool { return true }); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: begun after the end: %v", name, err)
		}
		ctx, cancel = context.WithTimeout(t.Context(), 10*time.Millisecond)
		if err := engine.Each(ctx, q, endless+" AND i > 10 AND i % 7 = 8", nil, number, func(int64) bool { return true }); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: in a step: %v", name, err)
		}
		cancel()
		if got, err := engine.One(t.Context(), q, "SELECT 42", nil, number); err != nil || got != 42 {
			t.Errorf("%s: afterwards %d, %v", name, got, err)
		}
		if err := end(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
