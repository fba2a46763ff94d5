package words

import (
	"slices"
	"testing"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/lexicon"
	"github.com/txarchive/txarchive/internal/index/sqlite/ask"
	"github.com/txarchive/txarchive/internal/index/sqlite/fts5"
	"github.com/txarchive/txarchive/internal/index/sqlite/write"
	"github.com/txarchive/txarchive/internal/index/sqlite/writetest"
)

// TestToldOnce: of each list a word is told once, and parts and facets never.
func TestToldOnce(t *testing.T) {
	numbering := lexicon.NewInterner(&lexicon.Lexicon{})
	numbering.Start()
	row := func(t, x string) write.Row {
		return write.Row{Row: &index.Row{T: numbering.Append(numbering.Append(nil, []byte(x)), []byte(t))}, Words: numbering.Words()}
	}
	db := newIndex(t)
	var told Known
	var all []string
	for _, step := range []struct {
		rows []write.Row
		want []string
	}{
		{[]write.Row{row("parseconfig\x01<parse\x01>config of config", ":tool:bash"), row("of all", ":tool:bash")}, []string{"all", "config", "of", "parseconfig"}},
		{[]write.Row{row("all of that", ":tool:bash")}, []string{"that"}},
		{[]write.Row{row("yet of", ":tool:sh"), newCorpus(1, 3).row(2, "all and\x01>and", ":tool:sh")}, []string{"all", "and", "yet"}},
	} {
		for i := range step.rows {
			step.rows[i].ID = int64(i + 1)
		}
		writetest.In(t, db.w, func(x *write.Tx) error {
			words, telling := Start(step.rows), told.Begin()
			defer words.Close()
			defer telling.Keep()
			return words.each(func(some *fts5.Builder) error { return telling.terms(x, some) })
		})
		all = append(all, step.want...)
		slices.Sort(all)
		all = slices.Compact(all)
		if got := collect(t, ask.New(db.r).Terms(t.Context())); !slices.Equal(got, all) {
			t.Errorf("told %q, want %q", got, all)
		}
	}
	if n := len(writetest.Dump(t, db.w.DB, "SELECT DISTINCT id >> 20 FROM terms")); n != 3 {
		t.Errorf("%d runs, want 3", n)
	}
	if n := len(told.lists); n != 2 {
		t.Errorf("%d lists remembered, want the two of the last rows", n)
	}
}
