package sqlite

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/indextest"
	"github.com/txarchive/txarchive/internal/index/sqlite/usage"
	"github.com/txarchive/txarchive/internal/query"
	"github.com/txarchive/txarchive/internal/transcript"
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

// TestRunWork asks what a list of runs costs, and that no record of usage is asked what else its conversation has.
func TestRunWork(t *testing.T) {
	of := func(n int) (work, int) {
		db := archivedCopy(t, n)
		var records int
		if err := db.r.Get(&records, "SELECT count(*) FROM usage WHERE verdict = 0"); err != nil {
			t.Fatal(err)
		}
		c := countReads(t, db)
		return c.of(t, func() error {
			for _, err := range db.Runs(t.Context(), index.Selection{}, index.Page{}) {
				if err != nil {
					return err
				}
			}
			return nil
		}), records
	}
	w, records := of(160)
	base, few := of(40)
	w.within(t, "runs", 160, base, 40, 1.5, 2)
	if each := (w.steps - base.steps) / (records - few); each > 250 { // 242 when this was written, 262 with that question
		t.Errorf("%d steps for each record, with those of its run", each)
	}
}

// TestSortedRunsWork: of runs in any order only as many rows of the view are made as are asked for, and records of usage are read once. The order is that of all their rows.
func TestSortedRunsWork(t *testing.T) {
	const limit = 5
	db := archivedCopy(t, 40)
	mustExec(t, db, "UPDATE runs SET started = NULL WHERE id % 7 = 0")
	mustExec(t, db, "UPDATE runs SET ended = started + id % 5 * 1000000")
	mustExec(t, db, "UPDATE runs SET ended = NULL WHERE id % 11 = 0")
	var records int
	if err := db.r.Get(&records, "SELECT count(*) FROM usage WHERE verdict = 0"); err != nil {
		t.Fatal(err)
	}
	runs := func(page index.Page) (all []index.Run) {
		for r, err := range db.Runs(t.Context(), index.Selection{}, page) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, r)
		}
		return all
	}
	known := func(known bool, n int64) int64 {
		if !known {
			return math.MinInt64
		}
		return n
	}
	for by, number := range map[string]func(index.Run) int64{
		"started": func(r index.Run) int64 {
			return known(r.Started.Valid || r.Changed.Valid, cmp.Or(r.Started.UnixMicro, r.Changed.UnixMicro))
		},
		"ended": func(r index.Run) int64 { return known(r.Ended.Valid, r.Ended.UnixMicro) },
		"duration": func(r index.Run) int64 {
			return known(r.Started.Valid && r.Ended.Valid, r.Ended.UnixMicro-r.Started.UnixMicro)
		},
		"events": func(r index.Run) int64 { return r.Counts.Events },
		"tokens": func(r index.Run) int64 {
			n := r.Counts
			return known(n.Input.Known || n.Output.Known || n.CacheRead.Known || n.CacheCreation.Known, n.Input.N+n.Output.N+n.CacheRead.N+n.CacheCreation.N)
		},
		"cost": func(r index.Run) int64 { return known(r.Counts.CostUsed.Known, r.Counts.CostUsed.N) },
	} {
		for _, reverse := range []bool{false, true} {
			want := runs(index.Page{})
			slices.SortStableFunc(want, func(a, b index.Run) int {
				if reverse {
					a, b = b, a
				}
				return cmp.Compare(number(b), number(a))
			})
			var got []index.Run
			c := countReads(t, db)
			w := c.of(t, func() error { got = runs(index.Page{Limit: limit, Sort: by, Reverse: reverse}); return nil })
			if w.rows > 2*limit+1 || by == "tokens" && w.touched > 4*records {
				t.Errorf("by %s, reverse %v: %v, %d records", by, reverse, w, records)
			}
			if !reflect.DeepEqual(got, want[:limit]) {
				t.Errorf("by %s, reverse %v: %v, want %v", by, reverse, got, want[:limit])
			}
		}
	}
}

// TestRunIDsWork: the ids of runs are those of their rows, in the same order, and no row of the view is made for them.
func TestRunIDsWork(t *testing.T) {
	db := archivedCopy(t, 40)
	for _, page := range []index.Page{{}, {Limit: 5}, {Reverse: true}, {Sort: "cost", Limit: 7}} {
		var want, got []string
		for r, err := range db.Runs(t.Context(), index.Selection{}, page) {
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, r.ID)
		}
		c := countReads(t, db)
		w := c.of(t, func() (err error) { got, err = db.RunIDs(t.Context(), index.Selection{}, page); return err })
		if !slices.Equal(got, want) || len(got) == 0 {
			t.Errorf("%+v: %v, want %v", page, got, want)
		}
		if w.statements != 1 || w.rows != len(got) {
			t.Errorf("%+v: %v for %d runs", page, w, len(got))
		}
	}
}

// TestInventoryWork: an inventory takes as many statements however many runs there are, with parents and without.
func TestInventoryWork(t *testing.T) {
	of := func(n int) work {
		db := archivedCopy(t, n)
		c := countReads(t, db)
		return c.of(t, func() error {
			inventory, err := db.Inventory(t.Context(), index.InventoryOptions{})
			if err != nil {
				return err
			}
			defer inventory.Close()
			parents := map[string]bool{}
			for range 2 { // policies go over them again and again
				for r, err := range inventory.Runs() {
					if err != nil {
						return err
					}
					if r.Parent != "" {
						parents[r.Parent] = true
					}
				}
			}
			if len(parents) < n/2 {
				t.Errorf("%d runs with children of %d families", len(parents), n)
			}
			return nil
		})
	}
	if few, many := of(40), of(160); many.statements != few.statements {
		t.Errorf("%v, of four times as many %v", few, many)
	}
}

// TestInventoryCostsWork: an inventory has the costs of the view of runs, also where conversations have records of nothing but a cost. Those
// are not looked for at each record.
func TestInventoryCostsWork(t *testing.T) {
	db := archivedCopy(t, 160)
	look := func(costs bool) (w work, of map[string]transcript.Count) {
		of = map[string]transcript.Count{}
		c := countReads(t, db)
		return c.of(t, func() error {
			inventory, err := db.Inventory(t.Context(), index.InventoryOptions{Costs: costs})
			if err != nil {
				return err
			}
			defer inventory.Close()
			for r, err := range inventory.Runs() {
				if err != nil {
					return err
				}
				if of[r.ID] = r.Cost; r.Cost.Known {
					of[r.ID] = transcript.Known(usage.Micro(r.Cost.N))
				}
			}
			return nil
		}), of
	}
	var records int
	if err := db.r.Get(&records, "SELECT count(*) FROM usage WHERE verdict = 0"); err != nil {
		t.Fatal(err)
	}
	without, _ := look(false)
	with, _ := look(true)
	if more := with.touched - without.touched; more > records {
		t.Errorf("%d pages for %d records: %v, without costs %v", more, records, with, without)
	}
	mustExec(t, db, "UPDATE usage SET calculated = 1000 * id WHERE id % 3 <> 0")
	mustExec(t, db, "UPDATE usage SET reported = 77000 * id WHERE id % 4 = 0")
	mustExec(t, db, `UPDATE usage SET reported = 5000, input = NULL, output = NULL, cache_read = NULL, cache_write = NULL, cache_write_1h = NULL
		WHERE id IN (SELECT min(id) FROM usage WHERE run_name % 5 = 0 GROUP BY run_name)`)
	_, got := look(true)
	for r, err := range db.Runs(t.Context(), index.Selection{}, index.Page{}) {
		if err != nil {
			t.Fatal(err)
		}
		if got[r.ID] != r.Counts.CostUsed {
			t.Errorf("%s: %v, of the view %v", r.ID, got[r.ID], r.Counts.CostUsed)
		}
	}
}

// TestSortedConversationsWork: of conversations in any order only as many rows of the view are made as are asked for, by as many
// statements however many runs there are. The order is that of the conversations of one run after the other.
func TestSortedConversationsWork(t *testing.T) {
	const limit = 5
	db := archivedCopy(t, 40)
	mustExec(t, db, "UPDATE runs SET started = NULL WHERE id % 7 = 0")
	mustExec(t, db, "UPDATE conversations SET started = NULL WHERE id % 5 = 0")
	mustExec(t, db, "UPDATE conversations SET ended = started + id % 5 * 1000000")
	mustExec(t, db, "UPDATE conversations SET ended = NULL WHERE id % 11 = 0")
	mustExec(t, db, "UPDATE conversations SET run = run - 1 WHERE run % 4 = 0") // several of one run
	mustExec(t, db, "UPDATE conversations SET verdict = 1 WHERE id % 13 = 0")
	var all []index.RunConversation
	for r, err := range db.Runs(t.Context(), index.Selection{}, index.Page{}) {
		if err != nil {
			t.Fatal(err)
		}
		for c, err := range db.Conversations(t.Context(), r.ID) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, index.RunConversation{Conversation: c, Of: &r})
		}
	}
	counted := slices.DeleteFunc(slices.Clone(all), func(c index.RunConversation) bool { return c.Verdict != transcript.Counted })
	if len(all) == len(counted) || len(counted) < 10*limit {
		t.Fatalf("%d conversations, %d count", len(all), len(counted))
	}
	number := func(t transcript.Time) int64 {
		if !t.Valid {
			return math.MinInt64
		}
		return t.UnixMicro
	}
	for by, number := range map[string]func(index.RunConversation) int64{
		"started": func(c index.RunConversation) int64 {
			if c.Started.Valid {
				return number(c.Started)
			}
			return number(c.Of.Changed)
		},
		"ended": func(c index.RunConversation) int64 { return number(c.Ended) },
		"duration": func(c index.RunConversation) int64 {
			if !c.Started.Valid || !c.Ended.Valid {
				return math.MinInt64
			}
			return c.Ended.UnixMicro - c.Started.UnixMicro
		},
		"events": func(c index.RunConversation) int64 { return c.Counts.Events },
		"tokens": func(c index.RunConversation) int64 {
			if u := c.Counts.Used; u.Input.Known || u.Output.Known || u.CacheRead.Known || u.CacheCreation.Known {
				return u.Input.N + u.Output.N + u.CacheRead.N + u.CacheCreation.N
			}
			return math.MinInt64
		},
		"cost": func(c index.RunConversation) int64 {
			if !c.Counts.CostUsed.Known {
				return math.MinInt64
			}
			return c.Counts.CostUsed.N
		},
	} {
		for _, page := range []index.Page{{}, {Reverse: true}, {Limit: limit}, {Limit: limit, Reverse: true}, {AllVersions: true}} {
			page.Sort = by
			want := slices.Clone(counted)
			if page.AllVersions {
				want = slices.Clone(all)
			}
			slices.SortStableFunc(want, func(a, b index.RunConversation) int {
				switch {
				case by == "started" && !page.Reverse:
					return 0
				case page.Reverse:
					return cmp.Compare(number(a), number(b))
				}
				return cmp.Compare(number(b), number(a))
			})
			if page.Limit > 0 {
				want = want[:page.Limit]
			}
			var got []index.RunConversation
			c := countReads(t, db)
			w := c.of(t, func() error {
				for r, err := range db.ConversationsOf(t.Context(), index.Selection{}, page) {
					if err != nil {
						return err
					}
					got = append(got, r)
				}
				return nil
			})
			if w.statements > 4 || page.Limit > 0 && w.rows > 4*limit+1 {
				t.Errorf("%+v: %v", page, w)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%+v: %v, want %v", page, got, want)
			}
		}
	}
}

// TestRunsByEventsWork: a condition on runs which few or no originals can meet does not read the events of the others.
func TestRunsByEventsWork(t *testing.T) {
	db := archivedCopy(t, 160)
	var events int
	if err := db.r.Get(&events, "SELECT count(*) FROM events"); err != nil {
		t.Fatal(err)
	}
	for q, most := range map[string]int{"touches:/nope": 10, "is:truncated": 10, "attr:nope=1": 10, "attr:nope": 10} {
		c := countReads(t, db)
		w := c.of(t, func() error {
			for _, err := range db.Runs(t.Context(), index.Selection{Query: indextest.Parse(t, q)}, index.Page{}) {
				if err != nil {
					return err
				}
			}
			return nil
		})
		if w.steps/events > most {
			t.Errorf("%s: %d steps for each of %d events: %v", q, w.steps/events, events, w)
		}
	}
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

// TestLinksWork: the links of a run, or of a group, are found without a look at those of others.
func TestLinksWork(t *testing.T) {
	of := func(n int, node index.Node) (w work) {
		db := archivedCopy(t, n)
		if node.Group == "" {
			if err := db.r.Get(&node.Run, "SELECT from_run_id FROM v_links ORDER BY from_run_id LIMIT 1"); err != nil {
				t.Fatal(err)
			}
		}
		c := countReads(t, db)
		w = c.of(t, func() error {
			for _, err := range db.Links(t.Context(), node) {
				if err != nil {
					return err
				}
			}
			return nil
		})
		if node.Group == "" && w.rows == 0 {
			t.Error("the run has no links")
		}
		return w
	}
	for _, node := range []index.Node{{}, {Format: "awf", Group: "nobody's"}} {
		of(160, node).within(t, "links", 1, of(40, node), 1, 1.2, 2)
	}
}

// TestTagWork asks for the runs with a tag. Most runs state none: of those nothing is parsed.
func TestTagWork(t *testing.T) {
	db := archivedCopy(t, 160)
	c := countReads(t, db)
	list := func(text string) work {
		return c.of(t, func() error {
			for r, err := range db.Runs(t.Context(), index.Selection{Named: true, Query: indextest.Parse(t, text)}, index.Page{}) {
				return cmp.Or(err, fmt.Errorf("%s: %s", text, r.ID))
			}
			return nil
		})
	}
	var runs int
	if err := db.r.Get(&runs, "SELECT count(*) FROM runs"); err != nil {
		t.Fatal(err)
	}
	group, tag := list("group:none"), list("tag:none")
	if most := 12 * runs; tag.steps-group.steps > most {
		t.Errorf("%d runs: %v\nby a column of theirs: %v: more than %d steps more", runs, tag, group, most)
	}
}
