package sqlite

import (
	"slices"
	"testing"

	"github.com/txarchive/txarchive/internal/index"
)

// TestToldOnce: of each list a word is told once, and parts and facets never.
func TestToldOnce(t *testing.T) {
	numbering := index.NewNumbering(&index.Lexicon{})
	numbering.Start()
	row := func(t, x string) pendingRow {
		return pendingRow{Row: &index.Row{T: numbering.Add(nil, []byte(t)), X: numbering.Add(nil, []byte(x))}, words: numbering.Words()}
	}
	c := &commit{}
	for _, step := range []struct {
		rows []pendingRow
		want []string
	}{
		{[]pendingRow{row("parseconfig\x01<parse\x01>config of config", "tool:bash"), row("of all", "tool:bash")}, []string{"parseconfig", "of", "config", "all"}},
		{nil, nil},
		{[]pendingRow{row("all of that", "tool:bash")}, []string{"that"}},
		{[]pendingRow{newCorpus(1, 3).row(1, "all", "")}, []string{"all"}},
	} {
		c.rows = step.rows
		var got []string
		for _, w := range c.fresh() {
			got = append(got, string(w.text))
		}
		if !slices.Equal(got, step.want) {
			t.Errorf("told %q, want %q", got, step.want)
		}
	}
}

// TestToldWhenCommitted: what a commit that failed has told is told again.
func TestToldWhenCommitted(t *testing.T) {
	db, batch := newDB(t), workBatch(0, 2, false)
	mustExec(t, db, "CREATE TEMP TRIGGER refuse BEFORE INSERT ON events BEGIN SELECT raise(ABORT, 'refused'); END")
	if err := db.Commit(t.Context(), batch); err == nil {
		t.Fatal("nothing refused the rows")
	}
	mustExec(t, db, "DROP TRIGGER refuse")
	if err := db.Commit(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	told := collect(t, db.Terms(t.Context(), ""))
	words := 0
	for _, p := range batch.Parsed {
		for _, r := range p.Rows {
			for _, n := range r.T {
				if word := string(p.Words.At(n &^ index.Same)); n&index.Same == 0 {
					words++
					if _, ok := slices.BinarySearch(told, word); !ok {
						t.Fatalf("%q is in a row and was not told: %q", word, told)
					}
				}
			}
		}
	}
	if words == 0 {
		t.Error("no words")
	}
}
