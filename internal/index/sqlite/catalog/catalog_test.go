package catalog_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index/sqlite"
	"github.com/txarchive/txarchive/internal/index/sqlite/catalog"
)

// TestStateOrder: StatesIn sorts none of a million originals. They come as the index of names has them.
func TestStateOrder(t *testing.T) {
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "index.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	raw, err := sqlx.Open("sqlite", "file:"+db.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	rows, err := raw.Queryx("EXPLAIN QUERY PLAN "+catalog.StateOrder+" AND f.path > ? AND f.path <= ? ORDER BY f.path, v.number", "a", "b", "c")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		step, err := rows.SliceScan()
		if err != nil {
			t.Fatal(err)
		}
		if what := fmt.Sprint(step[3]); strings.Contains(what, "TEMP B-TREE FOR ORDER BY") || strings.HasPrefix(what, "SCAN v") {
			t.Error(what)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}
