package ask_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/indextest"
	"github.com/txarchive/txarchive/internal/index/sqlite/ask"
)

// TestCacheEndsWithCommit runs the same queries before and after rows are added and deleted: a connection's cache is valid for
// one state only.
func TestCacheEndsWithCommit(t *testing.T) {
	db := smallWorld(t)
	asked := []string{"the", "building", "bu*", "zoo", `"zoo building"`, "the -zoo"}
	counts := func() (all string) {
		t.Helper()
		for _, text := range asked {
			for range 2 { // the second time from memory
				n, err := db.Count(t.Context(), indextest.Parse(t, text), index.Page{AllVersions: true})
				if err != nil {
					t.Fatal(err)
				}
				all += fmt.Sprintf("%s %d, ", text, n)
			}
		}
		return all
	}
	seen := map[string]bool{}
	step := func(statement string) {
		t.Helper()
		if _, err := db.raw.Exec(statement); err != nil {
			t.Fatal(err)
		}
		if got := counts(); seen[got] {
			t.Errorf("%s, and the answers are as before: %s", statement, got)
		} else {
			seen[got] = true
		}
	}
	seen[counts()] = true
	var ids []int64
	if err := db.raw.Select(&ids, "SELECT rowid FROM fts WHERE fts MATCH 'the' AND rowid IN (SELECT id FROM events) ORDER BY rowid"); err != nil || len(ids) < 3 {
		t.Fatal(ids, err)
	}
	step(fmt.Sprintf("DELETE FROM fts WHERE rowid = %d", ids[0]))
	step(fmt.Sprintf("INSERT INTO fts (rowid, t) VALUES (%d, 'zoo building')", ids[0]))
	step("DELETE FROM fts WHERE rowid IN (SELECT rowid FROM fts WHERE fts MATCH 'building')")
	step(fmt.Sprintf("INSERT INTO fts (rowid, t) VALUES (%d, 'the zoo building')", ids[0]))
}

// TestVersionsAreNotSorted: SQLite would sort in memory, with half a kilobyte for each original.
func TestVersionsAreNotSorted(t *testing.T) {
	db := smallWorld(t)
	for _, of := range []index.VersionFilter{{}, {Newest: true}, {Source: "s"}, {Source: "s", Path: "p", Number: 1}, {Below: "d"}, {Source: "s", Below: "d/e", Newest: true}} {
		query, args := ask.SelectVersions(of)
		rows, err := db.raw.Queryx("EXPLAIN QUERY PLAN "+query, args...)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			step, err := rows.SliceScan()
			if err != nil {
				t.Fatal(err)
			}
			if what := fmt.Sprint(step[3]); strings.Contains(what, "TEMP B-TREE FOR ORDER BY") {
				t.Errorf("%+v: %s", of, what)
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
}
