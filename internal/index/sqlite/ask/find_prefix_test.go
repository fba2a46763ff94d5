package ask_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/txarchive/txarchive/internal/index/sqlite/ask"
	"github.com/txarchive/txarchive/internal/index/sqlite/fts5"
	"github.com/txarchive/txarchive/internal/index/sqlite/where"
	"github.com/txarchive/txarchive/internal/query"
	"github.com/txarchive/txarchive/internal/seedtest"
)

// TestPrefixes compares View.Prefix with FTS5, before and after rows are deleted.
func TestPrefixes(t *testing.T) {
	r := seedtest.Rand(t)
	db := busyWorld(t, busyRuns)
	var all []int64
	if err := db.raw.Select(&all, "SELECT id FROM events ORDER BY id"); err != nil {
		t.Fatal(err)
	}
	compare := func() {
		t.Helper()
		tx, err := db.raw.BeginTxx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback()
		view, err := new(fts5.Cache).View(ask.FTSStore(t.Context(), tx))
		if err != nil {
			t.Fatal(err)
		}
		for range 40 {
			word := benchWord(r.Uint64N(60))
			text := word[:1+r.IntN(len(word))]
			c, err := where.Events([]query.Node{query.Prefix{Text: text}, query.Terms{Text: text, Open: true}}[r.IntN(2)], false)
			if err != nil {
				t.Fatal(err)
			}
			match, _ := c.Expression()
			from, to := all[r.IntN(len(all))], all[r.IntN(len(all))]
			var want []int64
			if err := tx.Select(&want, "SELECT rowid FROM fts WHERE fts MATCH ? AND rowid >= ? AND rowid < ? ORDER BY rowid DESC", match.String(), from, to); err != nil {
				t.Fatal(err)
			}
			set, err := view.Prefix(where.TermColumn, c.Prefixes[0].Texts, from, to)
			if err != nil {
				t.Fatal(err)
			}
			var got []int64
			rows := set.Rows()
			for at := to; at >= 0; {
				if at, err = rows.Advance(at - 1); err != nil {
					t.Fatal(err)
				}
				if at >= 0 {
					got = append(got, at)
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%s: %d rows, want %d", match.String(), len(got), len(want))
			}
		}
	}
	compare()
	for range 100 {
		if _, err := db.raw.Exec("DELETE FROM fts WHERE rowid = ?", all[r.IntN(len(all))]); err != nil {
			t.Fatal(err)
		}
	}
	compare()
	if _, err := db.raw.Exec(fmt.Sprintf("INSERT INTO fts (rowid, t) VALUES (%d, ':tool:the the zoo'), (%d, ':the:facet')", all[0]-2, all[0]-1)); err != nil {
		t.Fatal(err)
	}
	all = append([]int64{all[0] - 3}, all...)
	compare()
}
