package ask_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/index/sqlite/ask"
	"github.com/txarchive/txarchive/internal/index/sqlite/fts5"
	"github.com/txarchive/txarchive/internal/index/sqlite/where"
	"github.com/txarchive/txarchive/internal/seedtest"
)

// randomExpr returns a random full-text expression of limited depth.
func randomExpr(r *rand.Rand, depth int) fts5.Expr {
	switch n := r.IntN(8); {
	case depth > 0 && n == 0:
		return fts5.And{randomExpr(r, depth-1), randomExpr(r, depth-1)}
	case depth > 0 && n == 1:
		return fts5.Or{randomExpr(r, depth-1), randomExpr(r, depth-1), randomExpr(r, depth-1)}
	case depth > 0 && n == 2:
		return fts5.Not{Of: randomExpr(r, depth-1), Without: randomExpr(r, depth-1)}
	case n == 3:
		return where.Facet([]string{"tool", "role", "kind"}[r.IntN(3)], []string{"bash", "user", "tool_result", "nothing"}[r.IntN(4)], false)
	case n == 4:
		return randomNear(r)
	}
	p := &fts5.Phrase{Column: where.TermColumn}
	for range 1 + r.IntN(3) {
		p.Terms = append(p.Terms, benchWord(r.Uint64N(1+r.Uint64N(60))))
	}
	if last := len(p.Terms) - 1; r.IntN(2+2/(1+last)) == 0 {
		p.Terms[last], p.Prefix = p.Terms[last][:1+r.IntN(len(p.Terms[last]))], true
	}
	return p
}

// randomNear returns words and phrases, each with alternatives, at some distance.
func randomNear(r *rand.Rand) fts5.Expr {
	n := &fts5.Near{Column: where.TermColumn, Within: r.IntN(1 << r.IntN(6))}
	for range 2 + r.IntN(3) {
		terms := 1 + r.IntN(1+r.IntN(3))
		var part [][]string
		for range 1 + r.IntN(3) {
			var one []string
			for range terms {
				one = append(one, benchWord(r.Uint64N(1+r.Uint64N(60))))
			}
			part = append(part, one)
		}
		n.Parts = append(n.Parts, part)
	}
	return n
}

// TestRowsEqualFTS5 compares the rows that package fts5 finds with those of FTS5: in several segments, with doclists that span
// many leaves and have indexes, before and after rows are deleted.
func TestRowsEqualFTS5(t *testing.T) {
	r := seedtest.Rand(t)
	db := busyWorld(t, busyRuns)
	var base int64 // the first row id after all rows
	if err := db.raw.Get(&base, "SELECT max(id) + 1 FROM events"); err != nil {
		t.Fatal(err)
	}
	insert := func(n int) {
		t.Helper()
		for i := range n {
			text := strings.Repeat("the err of ", r.IntN(4)) + benchWord(r.Uint64N(40)) + strings.Repeat(" file", r.IntN(2)*r.IntN(900)) + " to the"
			if _, err := db.raw.Exec("INSERT INTO fts (rowid, t) VALUES (?, ?)", base+int64(i), ":tool:bash :role:user "+text); err != nil {
				t.Fatal(err)
			}
		}
		base += int64(n)
	}
	compare := func() {
		t.Helper()
		tx, err := db.raw.BeginTxx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback()
		for range 50 {
			e := randomExpr(r, 3)
			var want []int64
			if err := tx.Select(&want, "SELECT rowid FROM fts WHERE fts MATCH ? ORDER BY rowid DESC", e.String()); err != nil {
				t.Fatalf("%s: %v", e, err)
			}
			view, err := new(fts5.Cache).View(ask.FTSStore(t.Context(), tx))
			if err != nil {
				t.Fatal(err)
			}
			leaves := math.MaxInt32 / 2
			if r.IntN(2) == 0 {
				leaves = r.IntN(1 << 16)
				view = view.WithLimits(fts5.Limits{Rows: 1 + r.IntN(500), Positions: 1 + r.IntN(500), Leaves: leaves})
			}
			found, err := view.Rows(e)
			if err != nil {
				t.Fatal(err)
			}
			var got []int64
			for at := int64(math.MaxInt64); ; {
				row, err := found.Advance(at)
				if err != nil {
					t.Fatal(err)
				}
				if row < 0 {
					break
				}
				got = append(got, row)
				if at = row - 1; r.IntN(10) == 0 { // leap
					at -= r.Int64N(1 << r.IntN(30))
					want = slices.DeleteFunc(want, func(id int64) bool { return id < row && id > at })
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%s: %d rows, want %d", e, len(got), len(want))
			}
			// The last leaf is always held, with its decoded rows: a row of at least three bytes takes twelve, plus slack.
			if held := view.MemoryHeld(); held > leaves+leaves/2+8*fts5.PageSize {
				t.Errorf("%s: %d bytes of leaves and rows are held, not %d", e, held, leaves)
			}
		}
	}
	compare()
	if _, err := db.raw.Exec("BEGIN"); err != nil {
		t.Fatal(err)
	}
	insert(6000)
	if _, err := db.raw.Exec("COMMIT"); err != nil {
		t.Fatal(err)
	}
	insert(3)
	compare()
	if _, err := db.raw.Exec(fmt.Sprintf("DELETE FROM fts WHERE rowid %% 5 = 0 AND rowid >= %d", base-2000)); err != nil {
		t.Fatal(err)
	}
	compare()
}
