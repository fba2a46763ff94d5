package sqlite

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/indextest"
	"github.com/txarchive/txarchive/internal/query"
)

// TestFindWork asks what the newest twenty hits cost in a small and in a large index.
func TestFindWork(t *testing.T) {
	queries := []string{"", "the", "the words", `"words of line"`, "tool:bash", "tool:bash the", "role:user the", "project:/srv/3 the", "the -nothing"}
	of := func(n int) (all []work) {
		db := archivedCopy(t, n)
		if err := db.Optimize(t.Context()); err != nil { // else one has more segments than the other
			t.Fatal(err)
		}
		c := countReads(t, db)
		for _, text := range queries {
			tree := indextest.Parse(t, text)
			all = append(all, c.of(t, func() error {
				for _, err := range db.Find(t.Context(), tree, index.Page{Limit: 20}) {
					if err != nil {
						return err
					}
				}
				return nil
			}))
		}
		return all
	}
	small, large := of(40), of(160)
	for i, text := range queries {
		// A longer doclist has an index, and rows of the newest hour come in one piece more.
		small[i].prepared, small[i].statements, small[i].rows = small[i].prepared+8, small[i].statements+8, small[i].rows+20
		if strings.HasPrefix(text, "project:") { // the rows that are tried at first go on to the end of their hour
			small[i].rows, small[i].steps = small[i].rows+50, small[i].steps+10_000
		}
		large[i].within(t, fmt.Sprintf("%q", text), 1, small[i], 1, 1.5, 2)
	}
}

// TestFindAgainWork asks for what was asked before: the full-text index is not read again, and what was written since is.
func TestFindAgainWork(t *testing.T) {
	db := archivedCopy(t, 80)
	c := countReads(t, db)
	find := func() work {
		return c.of(t, func() error {
			for _, err := range db.Find(t.Context(), indextest.Parse(t, "project:/srv/3 the words"), index.Page{Limit: 20}) {
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	first, again := find(), find()
	if again.prepared > 0 || 2*again.statements > first.statements || again.rows >= first.rows {
		t.Errorf("again: %v\nat first: %v", again, first)
	}
	if err := db.Commit(t.Context(), workBatch(900, 1, false)); err != nil {
		t.Fatal(err)
	}
	if n := find(); n.statements <= again.statements {
		t.Errorf("after a commit: %v\nbefore: %v", n, again)
	}
}

// TestRangesWork asks for rows with usage that another condition excludes: those that begin within usage are found without testing each, and
// not looked for again.
func TestRangesWork(t *testing.T) {
	of := func(n int) (first, count, again work) {
		db := archivedCopy(t, n)
		c := countReads(t, db)
		find := func(limit int) func() error {
			return func() error {
				for h, err := range db.Find(t.Context(), indextest.Parse(t, "has:usage tool:bash"), index.Page{Limit: limit}) {
					return cmp.Or(err, fmt.Errorf("%s bears no usage", h.ID))
				}
				return nil
			}
		}
		first = c.of(t, find(20))
		count = c.of(t, func() error {
			_, err := db.Count(t.Context(), indextest.Parse(t, "has:usage tool:bash"), index.Page{Limit: 1000, AllVersions: true})
			return err
		})
		return first, count, c.of(t, find(20))
	}
	small, _, _ := of(40)
	large, count, again := of(160)
	large.within(t, "the first time", 160, small, 40, 1.5, 2)
	if 10*count.steps > large.steps || 10*again.steps > large.steps {
		t.Errorf("first: %v\nits count: %v\nagain: %v", large, count, again)
	}
}

// TestLocateWork asks where the bytes of neighbours lie, as a page does that shows them: that is looked up once for each member.
func TestLocateWork(t *testing.T) {
	db := archivedCopy(t, 80)
	c := countReads(t, db)
	var places []index.Place
	for h, err := range db.Find(t.Context(), indextest.Parse(t, "the"), index.Page{Limit: 40}) {
		if err != nil {
			t.Fatal(err)
		}
		places = append(places, h.Place)
	}
	look := func() error {
		for _, at := range places {
			if _, err := db.Locate(t.Context(), at.Chain, at.Offset, at.Length); err != nil {
				return err
			}
		}
		return nil
	}
	n := c.of(t, look)
	asked := n.statements - len(places) // but for what tells whether anybody has committed
	if len(places) != 40 || asked > 15 || n.prepared > 3 {
		t.Errorf("of %d places %d looked up, %v", len(places), asked, n)
	}
	if err := db.Commit(t.Context(), workBatch(900, 1, false)); err != nil {
		t.Fatal(err)
	}
	if again := c.of(t, look); again.statements-len(places) != asked {
		t.Errorf("after a commit %d looked up, before it %d", again.statements-len(places), asked)
	}
}

// TestSumWork asks what usage by tool costs in a small and in a large index: for each record the same, and not a look at all others.
func TestSumWork(t *testing.T) {
	of := func(n int) work {
		db := archivedCopy(t, n)
		c := countReads(t, db)
		return c.of(t, func() error {
			for _, err := range db.Sum(t.Context(), index.SumQuery{By: []index.Dimension{index.ByTool}}) {
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	of(160).within(t, "by tool", 160, of(40), 40, 1.5, 2)
}

// TestVersionsFromWork: the first path from some text on is found without a look at those before or behind it.
func TestVersionsFromWork(t *testing.T) {
	const from = "20/"
	of := func(n int) (w work) {
		db := archivedCopy(t, n)
		c := countReads(t, db)
		return c.of(t, func() error {
			for v, err := range db.Versions(t.Context(), index.VersionFilter{From: from, Newest: true}) {
				if err == nil && !strings.HasPrefix(v.Path, from) {
					err = fmt.Errorf("found %s", v.Path)
				}
				return err
			}
			return fmt.Errorf("nothing was found")
		})
	}
	of(160).within(t, "the first path", 1, of(40), 1, 1.1, 2)
}

// TestImpossibleWork: for a value that nothing states no event is read.
func TestImpossibleWork(t *testing.T) {
	db := archivedCopy(t, 160)
	var events int
	if err := db.r.Get(&events, "SELECT count(*) FROM events"); err != nil {
		t.Fatal(err)
	}
	look := func(text string, find func(*query.Tree) error) {
		c := countReads(t, db)
		if w := c.of(t, func() error { return find(indextest.Parse(t, text)) }); w.steps == 0 || w.steps > 10*events {
			t.Errorf("%s: %d steps for each of %d events: %v", text, w.steps/events, events, w)
		}
	}
	for _, text := range []string{"flow:nope", "step:nope,other", "flow:*nope*", "agent:*nope*", "model:*nope*", "tool:*nope*", "type:*nope*", "kind:*nope*", "step:nope words"} {
		look(text, func(q *query.Tree) error {
			for h, err := range db.Find(t.Context(), q, index.Page{Limit: 20}) {
				return cmp.Or(err, fmt.Errorf("%s: %s", text, h.ID))
			}
			return nil
		})
	}
	for _, text := range []string{"step:nope", "tool:*nope*", "flow:nope kind:*nope*"} {
		look(text, func(q *query.Tree) error {
			for r, err := range db.Runs(t.Context(), index.Selection{Query: q}, index.Page{}) {
				return cmp.Or(err, fmt.Errorf("%s: %s", text, r.ID))
			}
			return nil
		})
	}
}

// TestSourceStatsWork: more sources do not make it look at the originals again.
func TestSourceStatsWork(t *testing.T) {
	db := archivedCopy(t, 160)
	look := func() work {
		c := countReads(t, db)
		return c.of(t, func() error {
			for _, err := range db.SourceStats(t.Context()) {
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	before := look()
	for i := range 20 {
		mustExec(t, db, fmt.Sprintf("INSERT INTO sources (name) VALUES ('more %d')", i))
	}
	if after := look(); after.steps > before.steps+20*50 {
		t.Errorf("%v, with twenty sources more %v", before, after)
	}
}
