package sqlite

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/indextest"
	"github.com/txarchive/txarchive/internal/index/sqlite/usage"
	"github.com/txarchive/txarchive/internal/transcript"
)

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
