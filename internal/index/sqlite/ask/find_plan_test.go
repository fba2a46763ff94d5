package ask_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/indextest"
	"github.com/txarchive/txarchive/internal/index/sqlite/ask"
	"github.com/txarchive/txarchive/internal/seedtest"
)

// setFact commits a fact about the run with a native id.
func setFact(t *testing.T, db *world, kind, native, name, value string, at time.Time) {
	t.Helper()
	run, err := db.Run(t.Context(), native)
	if err != nil {
		t.Fatal(err)
	}
	key := run.ID
	if kind != index.FactPin {
		key = index.RunFactKey(run.ID, name)
	}
	f := index.FactRow{Pack: "p", Fact: blob.Fact{Kind: kind, Key: key, Time: at, Value: []byte(value)}}
	if err := db.Commit(t.Context(), index.Batch{Facts: []index.FactRow{f}}); err != nil {
		t.Fatal(err)
	}
}

// foundIDs returns the hits of a query, read page by page.
func foundIDs(t *testing.T, db *ask.Reader, text string, limit int) []string {
	t.Helper()
	tree := indextest.Parse(t, text)
	ids := []string{}
	page := index.Page{Limit: limit}
	for {
		n := 0
		for h, err := range db.Find(t.Context(), tree, page) {
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			ids, page.After = append(ids, h.ID), h.Cursor
			n++
		}
		if limit == 0 || n < limit {
			return ids
		}
	}
}

// TestPlansAgree compares the results of queries under limits that force each kind of plan with those of a full scan. Each is asked by pages or
// at once, as is drawn; a soak draws often.
func TestPlansAgree(t *testing.T) {
	r := seedtest.Rand(t)
	db := busyWorld(t, busyRuns)
	setFact(t, db, index.FactTag, "bench-000003", "release", "{}", indextest.Epoch)
	for _, text := range []string{
		"project:/srv/project-7", "project:/srv/project-7 the", "project:*ject-1* error", "project:nothing", "project:nothing the", "-project:/srv/project-7 error",
		"run:bench-000003", "run:bench-000003,bench-000009 the tool:bash", "(run:bench-000003 OR project:/srv/project-4) error", "run:bench-000003 -the",
		"(run:bench-000003 OR error) the", "path:*bench-00001*", "path:*bench-00001* role:user", "tag:release", "tag:release error", "-tag:release error", `tag:"" error`,
		"cost>0.9", "cost>0.9 the", "cost>0.1 -the", "cost>0.5 role:user", "cost>0.3 role:assistant", "tool:bash cost>0.1", "cost>0.2 tokens>10k -error", "cost>0.5 project:*ject-1* the", "has:cost", "has:usage the",
		"has:cost tool:bash", "during:2026-05 cost>0.4", "after:2026-03-01 cost>0.4 the", "cost>0.1 th*", "cost>0.9 OR duration>118s", "tokens>49k", "input<100 role:assistant", "events>10 error", "events>100", "after:2026-03-01 project:*ject-1*",
		"during:2026-05 project:*ject-1* the", "has:cost run:bench-000005", "is:error", "is:error run:bench-000005", "model:model-3 error", "id:c",
		"touches:src/a.go", "touches:src* the", "touches:nothing,src/a.go error", "-touches:src/a.go error", "is:truncated", "touches:*a.g* OR is:truncated",
		"err*", "w2* the", "w2* -the", "th* err*", "w2* project:/srv/project-7", "zebraf*", "after:2026-03-01 ret*", "-ret* error", "(ret* OR w3*) tool:bash", "w* -w2* -error",
		"error OR project:/srv/project-7", "zebraf* OR run:bench-000003", "after:2026-03-01 (w25x OR project:/srv/project-4 OR run:bench-000009)", "(error OR project:nothing) (the OR run:bench-000003)",
		"(w25x OR run:bench-000003) -the", "-(w25x OR run:bench-000003) tool:bash", "(w25x OR run:bench-000003) cost>0.5", "w25x OR -project:/srv/project-7", "run:bench-000003 (w25x OR project:/srv/project-3)",
	} {
		want := foundIDs(t, db.WithLimits(ask.NewLimits(math.MaxInt32, 1<<40, 5000, 512, math.MaxInt32)), text, 1<<20)
		for _, m := range []struct {
			probe  int
			most   int64
			listed int
		}{{3, 1 << 40, 5}, {0, 1 << 40, 100}, {10, 50, 5}} {
			db := db.WithLimits(ask.NewLimits(m.probe, m.most, int64(m.listed), m.listed, max(m.probe, 1)))
			limit, all := 40*r.IntN(2), r.IntN(2) == 0
			if got := foundIDs(t, db, text, limit); !slices.Equal(got, want) {
				t.Fatalf("%s by pages of %d, %+v: %d hits, want %d", text, limit, m, len(got), len(want))
			}
			if n, err := db.Count(t.Context(), indextest.Parse(t, text), index.Page{AllVersions: all}); err != nil || n != int64(len(want)) {
				t.Fatalf("%s, all versions %v, %+v: counts %d, want %d (%v)", text, all, m, n, len(want), err)
			}
			few := min(5, len(want))
			if n, err := db.Count(t.Context(), indextest.Parse(t, text), index.Page{Limit: 5}); err != nil || n != int64(few) {
				t.Fatalf("%s, %+v: counts %d of at most 5 (%v)", text, m, n, err)
			}
			if lines, err := db.Explain(t.Context(), indextest.Parse(t, text), index.Page{}); err != nil || len(lines) == 0 && len(want) > 0 {
				t.Fatalf("%s: explained as %q (%v)", text, lines, err)
			}
		}
	}
}

// TestExcludedBehindTheNewest: words that must not be there are not there in the rows behind the newest ones, which are tried first, either.
func TestExcludedBehindTheNewest(t *testing.T) {
	for _, text := range []string{"cost>0.1 -the", "project:*ject-* -the", "path:*bench* -the -of"} {
		db := busyWorld(t, busyRuns) // whose owners nobody has looked up yet
		want := foundIDs(t, db.WithLimits(ask.NewLimits(math.MaxInt32, 1<<40, 5000, 512, math.MaxInt32)), text, 1<<20)
		if got := foundIDs(t, busyWorld(t, busyRuns).WithLimits(ask.NewLimits(3, 1<<40, 5, 5, 3)), text, 1000); !slices.Equal(got, want) || len(want) == 0 {
			t.Errorf("%s: %d hits, want %d", text, len(got), len(want))
		}
	}
}

// TestNumbers compares comparisons of numbers with the views.
func TestNumbers(t *testing.T) {
	db := busyWorld(t, busyRuns/2)
	for _, change := range []string{ // as of a receipt with tokens, beside a line that reports the cost without them
		"UPDATE usage SET calculated = reported, reported = NULL WHERE id % 3 = 0",
		"UPDATE usage SET input = NULL, output = NULL, cache_read = NULL, cache_write = NULL, cache_write_1h = NULL WHERE id % 7 = 1 AND run_name % 3 = 0",
	} {
		if _, err := db.raw.Exec(change); err != nil {
			t.Fatal(err)
		}
	}
	const at = ` FROM v_events e JOIN v_usage u ON u.path = e.path AND u.version = e.version AND u.offset = e.offset WHERE `
	const call = ` FROM v_events e JOIN v_tool_calls k ON e.event_id IN (k.event_id, k.result_event_id) WHERE `
	for text, where := range map[string]string{
		"cost>0.5": at + "u.cost_nanousd > 500000000", "cost<=0.5": at + "u.cost_nanousd <= 500000000", "input>40k": at + "u.input_tokens > 40000",
		"output<100": at + "u.output_tokens < 100", "tokens>=30k": at + "u.input_tokens + u.output_tokens >= 30000", "tokens=0": at + "0",
		"has:usage": at + "1", "has:cost": at + "u.cost_nanousd IS NOT NULL", "-cost>0.5": " FROM v_events e WHERE event_id NOT IN (SELECT e.event_id" + at + "u.cost_nanousd > 500000000)",
		"duration>100s": call + "k.duration_us > 100000000", "duration<1m": call + "k.duration_us < 60000000", "duration>1h": call + "0",
		"events=40": " FROM v_events e WHERE 1", "events<40": " FROM v_events e WHERE 0",
	} {
		var want []string
		if err := db.raw.Select(&want, "SELECT DISTINCT e.event_id"+where); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		got := foundIDs(t, db.Reader, text, 0)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d hits, want %d", text, len(got), len(want))
		}
	}
	for text, where := range map[string]string{
		"cost>5": "cost_microusd > 5000000", "cost<=8": "cost_microusd <= 8000000", "has:cost": "cost_microusd IS NOT NULL", "tokens>250k": "input_tokens + output_tokens > 250000", "events=40": "1", "events>40": "0",
		"duration>1h": "ended_us - started_us > 3600000000", "output<10000": "output_tokens < 10000", "input>1g": "0",
	} {
		var want, got []string
		if err := db.raw.Select(&want, "SELECT run_id FROM v_runs WHERE "+where+" ORDER BY 1"); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		for r, err := range db.Runs(t.Context(), index.Selection{Query: indextest.Parse(t, text)}, index.Page{}) {
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			got = append(got, r.ID)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d runs, want %d", text, len(got), len(want))
		}
	}
}

func TestFactsOfRuns(t *testing.T) {
	db := busyWorld(t, busyRuns)
	at := indextest.Epoch
	setFact(t, db, index.FactTag, "bench-000001", "release", "{}", at)
	setFact(t, db, index.FactTag, "bench-000001", "a/b c", "{}", at)
	setFact(t, db, index.FactTag, "bench-000002", "Released", `{"by":"me"}`, at)
	setFact(t, db, index.FactTag, "bench-000003", "gone", "{}", at)
	setFact(t, db, index.FactTag, "bench-000003", "gone", "null", at.Add(time.Second))
	setFact(t, db, index.FactPin, "bench-000004", "", "{}", at)
	setFact(t, db, index.FactHold, "bench-000005", "audit", `{"owner":"ann"}`, at)
	setFact(t, db, index.FactHold, "bench-000006", "audit", `{"expires":"2001-01-01T00:00:00Z"}`, at)
	setFact(t, db, index.FactHold, "bench-000007", "audit", `{"expires":"9001-01-01T00:00:00+02:00"}`, at)
	setFact(t, db, index.FactHold, "bench-000008", "audit", `{"expires":"0001-01-01T00:00:00Z"}`, at)
	for text, want := range map[string]string{
		"tag:release": "1", "tag:rel*": "1 2", "tag:RELEASED": "2", "tag:*eas*": "1 2", `tag:"a/b c"`: "1", "tag:a": "", "tag:gone": "", "tag:*": "1 2", "tag:gone,released": "2",
		"is:pinned": "4", "is:held": "5 7 8", "is:pinned,held": "4 5 7 8", "is:pinned OR tag:release": "1 4", "tag:rel* -tag:release": "2",
	} {
		var runs []string
		for r, err := range db.Runs(t.Context(), index.Selection{Query: indextest.Parse(t, text)}, index.Page{}) {
			if err != nil {
				t.Fatal(err)
			}
			runs = append(runs, strings.TrimLeft(strings.TrimPrefix(r.NativeID, "bench-"), "0"))
		}
		slices.Sort(runs)
		if got := strings.Join(runs, " "); got != want {
			t.Errorf("%s: runs %q, want %q", text, got, want)
		}
		if n := len(foundIDs(t, db.Reader, text, 50)); n != busyEvents*len(strings.Fields(want)) {
			t.Errorf("%s: %d rows of %d runs", text, n, len(strings.Fields(want)))
		}
	}
	if n := len(foundIDs(t, db.Reader, `tag:""`, 0)); n != busyEvents*(busyRuns-2) {
		t.Errorf("%d rows without a tag", n)
	}
}

func TestAbilities(t *testing.T) {
	db := smallWorld(t)
	for contains, want := range map[string]string{"heal": "health", "src": "src srcfile", "nothing": "", "%": "", "ere": "workflow"} {
		var got []string
		for term, err := range db.TermsOrCut(t.Context(), contains, math.MaxInt) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, term)
		}
		if contains == "ere" {
			want = strings.Join(got, " ") // whatever it is, each has it
		}
		if strings.Join(got, " ") != want {
			t.Errorf("terms with %q: %q", contains, got)
		}
	}
	var cut []string
	for term, err := range db.TermsOrCut(t.Context(), "nx", 8) {
		if err != nil {
			t.Fatal(err)
		}
		cut = append(cut, term)
	}
	if !slices.Equal(cut, []string{"forgotten", "permission"}) {
		t.Errorf("terms that may be cut, and those that have it: %q", cut)
	}
	checkSize(t, db)
	run, err := db.Run(t.Context(), "parent")
	if err != nil {
		t.Fatal(err)
	}
	for c, err := range db.Conversations(t.Context(), run.ID) {
		if err != nil {
			t.Fatal(err)
		}
		got, err := db.Results(t.Context(), c.ID, 1, 100)
		if err != nil {
			t.Fatal(err)
		}
		if c.Counts.Calls > 0 && fmt.Sprint(got) != fmt.Sprintf("map[%[1]s:3.2:%[1]s:4]", c.ID) {
			t.Errorf("results are %v", got)
		}
		var label index.Conversation
		var of index.Run
		if err := db.Labels(t.Context(), []string{"nothing", c.ID}, func(c index.Conversation, r index.Run) { label, of = c, r }); err != nil {
			t.Fatal(err)
		}
		c.Counts, c.Versions, c.Key, c.Of = index.Counts{}, 0, index.VersionKey{}, ""
		run.Counts = index.Counts{}
		if fmt.Sprintf("%+v", label) != fmt.Sprintf("%+v", c) || fmt.Sprintf("%+v", of) != fmt.Sprintf("%+v", run) {
			t.Errorf("labels are\n%+v\n%+v, not\n%+v\n%+v", label, of, c, run)
		}
	}
}

// checkSize compares Size, which reads sums, with a full count.
func checkSize(t *testing.T, db *world) {
	t.Helper()
	events, rows, problems, err := db.Size(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	var want [3]int64
	for i, q := range []string{"SELECT count(*) FROM v_events WHERE counted", "SELECT count(*) FROM events e JOIN transcripts t ON t.id = e.transcript WHERE t.verdict IN (0, 6)",
		"SELECT count(*) FROM v_problems"} {
		if err := db.raw.Get(&want[i], q); err != nil {
			t.Fatal(err)
		}
	}
	if got := [3]int64{events, rows, problems}; got != want {
		t.Errorf("size is %d, counted are %d", got, want)
	}
}
