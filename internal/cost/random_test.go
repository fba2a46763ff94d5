package cost_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/cost"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/indextest"
	"github.com/txarchive/txarchive/internal/index/sqlite"
	"github.com/txarchive/txarchive/internal/seedtest"
	"github.com/txarchive/txarchive/internal/transcript"
)

// randomFiles are runs whose usage is of all kinds: priced and not, with reported costs beside tokens, with them
// alone, repeated in other files, without a time.
func randomFiles(r *rand.Rand) (files []indextest.Original) {
	count := func(n int64) transcript.Count {
		if r.IntN(6) == 0 {
			return transcript.Count{}
		}
		return transcript.Known(r.Int64N(n))
	}
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	for i := range 12 {
		var records []transcript.Record
		name := fmt.Sprint("run-", i/2)
		for range r.IntN(12) {
			u := &transcript.Usage{Model: pick("", "a", "b", "b", "free", "mystery", "claude-stub"), Input: count(5000), Output: count(900), CacheRead: count(9000),
				CacheWrite: count(100), CacheWrite1h: count(100), Reasoning: count(9), Conversation: pick("", "c1"), Agent: pick("", "x", "y"), Step: pick("", "s1", "s2")}
			if r.IntN(9) > 0 {
				when := time.Date(2026, 3, 20, 0, 0, 0, 0, time.UTC).Add(time.Duration(r.IntN(20*24*60)) * time.Minute)
				u.Time = transcript.Time{UnixMicro: when.UnixMicro() + r.Int64N(60e6), Valid: true}
			}
			if r.IntN(4) == 0 {
				u.Cost, u.CostSource = transcript.Known(r.Int64N(1e9)-1e6), "cost"
			}
			if u.Cost.Known && r.IntN(2) == 0 {
				u.Input, u.Output, u.CacheRead, u.CacheWrite, u.CacheWrite1h, u.Reasoning = transcript.Count{}, transcript.Count{}, transcript.Count{}, transcript.Count{}, transcript.Count{}, transcript.Count{}
			}
			if r.IntN(3) == 0 {
				u.Key, u.Rank = fmt.Sprint("key-", r.IntN(15)), r.Int64N(3)
			}
			if r.IntN(12) == 0 {
				u.Verdict = transcript.DerivedTotal
			}
			records = append(records, u)
		}
		f := file(name, fmt.Sprint("file-", i), append(records, &transcript.Conversation{Run: name, ID: "c1"})...)
		f.Format = []string{"awf", "leslie"}[i/2%2]
		files = append(files, f)
	}
	return files
}

// Whatever a report is grouped by, and in whatever order the files came, its rows add up to the same totals, and
// these are what a look at every record gives.
func TestSumsAddUp(t *testing.T) {
	r := seedtest.Rand(t)
	berlin := zone(t, "Europe/Berlin")
	for range 3 {
		files := randomFiles(r)
		db, again := fill(t, files...), fill(t)
		for _, i := range r.Perm(len(files)) {
			commit(t, again, files[i])
		}
		byThemselves(t, db)
		for _, mode := range []cost.Mode{cost.Auto, cost.Reported, cost.Calculated} {
			want := run(t, db, cost.Options{Mode: mode})
			naive(t, db, mode, want.Totals)
			for range 12 {
				o := cost.Options{Mode: mode, Location: []*time.Location{time.UTC, berlin, zone(t, "Asia/Kolkata"), zone(t, "America/St_Johns")}[r.IntN(4)]}
				for _, i := range r.Perm(len(cost.Keys))[:r.IntN(5)] {
					o.By = append(o.By, cost.Keys[i])
				}
				if r.IntN(3) == 0 {
					o.By = []string{"day", "model"}
				}
				one, two := run(t, db, o), run(t, again, o)
				same(t, fmt.Sprint(mode, o.By, o.Location, " totals"), one.Totals, want.Totals)
				addUp(t, fmt.Sprint(mode, o.By, o.Location), one)
				if a, b := fmt.Sprint(asText(t, one)), fmt.Sprint(asText(t, two)); a != b {
					t.Errorf("%s by %v: another order of files gives\n%s\nnot\n%s", mode, o.By, b, a)
				}
			}
			when := time.Date(2026, 3, 20, r.IntN(400), r.IntN(60), 0, 0, time.UTC)
			split(t, db, mode, want, when)
			undated(t, db, mode, when)
		}
	}
}

// byThemselves compares what each conversation says that it used with the report.
func byThemselves(t *testing.T, db *sqlite.DB) {
	t.Helper()
	known := func(n transcript.Count) string { return value(n.OrNil()) }
	rows := map[string]cost.Row{}
	for _, row := range run(t, db, cost.Options{By: []string{"conversation"}}).Rows {
		rows[value(row.Keys[0].Value)] = row
	}
	n := 0
	for c, err := range db.ConversationsOf(t.Context(), index.Selection{}, index.Page{AllVersions: true}) {
		if err != nil {
			t.Fatal(err)
		}
		alone, err := db.Conversation(t.Context(), c.ID)
		if err != nil {
			t.Fatal(err)
		}
		if alone.Counts != c.Counts {
			t.Errorf("%s by itself has %+v, in the list %+v", c.ID, alone.Counts, c.Counts)
		}
		want, used := rows[c.ID], c.Counts.Used
		micro := "unknown"
		if want.Nano != nil {
			micro = fmt.Sprint(int64(math.Floor(float64(*want.Nano)/1000 + 0.5)))
		}
		if used.Input.N != want.Input || used.Output.N != want.Output || used.CacheRead.N != want.CacheRead || used.CacheCreation.N != want.CacheCreation ||
			known(used.CostUsed) != micro || used.ReportedCost.Known != (want.Reported != nil) {
			t.Errorf("%s used %+v, the report says %+v, %s", c.ID, used, want.Figures, micro)
		}
		n++
	}
	if n == 0 {
		t.Error("no conversations")
	}
	for _, sort := range []string{"tokens", "cost"} {
		for _, reverse := range []bool{false, true} {
			last, some := int64(math.MaxInt64), 0
			for c, err := range db.ConversationsOf(t.Context(), index.Selection{}, index.Page{AllVersions: true, Sort: sort, Reverse: reverse}) {
				if err != nil {
					t.Fatal(err)
				}
				at, u := int64(math.MinInt64), c.Counts.Used
				switch {
				case sort == "cost" && u.CostUsed.Known:
					at = u.CostUsed.N
				case sort == "tokens" && (u.Input.Known || u.Output.Known || u.CacheRead.Known || u.CacheCreation.Known):
					at = u.Input.N + u.Output.N + u.CacheRead.N + u.CacheCreation.N
				}
				if reverse {
					at = -max(at, -math.MaxInt64)
				}
				if at > last {
					t.Errorf("by %s, reverse %v: %d is after %d", sort, reverse, at, last)
				}
				last, some = at, some+1
			}
			if some != n {
				t.Errorf("by %s: %d conversations of %d", sort, some, n)
			}
		}
	}
}

func asText(t *testing.T, r *cost.Report) string {
	rows, totals := asMaps(t, r)
	return fmt.Sprint(rows, totals)
}

func value[T any](n *T) string {
	if n == nil {
		return "unknown"
	}
	return fmt.Sprint(*n)
}

func same(t *testing.T, what string, got, want cost.Figures) {
	t.Helper()
	if got.Tokens != want.Tokens || value(got.Cost) != value(want.Cost) || value(got.Nano) != value(want.Nano) || got.Unpriced != want.Unpriced ||
		got.Elsewhere != want.Elsewhere || got.Stub != want.Stub || value(got.Reported) != value(want.Reported) || value(got.Calculated) != value(want.Calculated) {
		t.Errorf("%s: %+v cost %s nano %s, want %+v cost %s nano %s", what, got, value(got.Cost), value(got.Nano), want, value(want.Cost), value(want.Nano))
	}
}

func addUp(t *testing.T, what string, r *cost.Report) {
	t.Helper()
	var sum cost.Tokens
	var micro, nano, unpriced int64
	for _, row := range r.Rows {
		sum.Requests, sum.Input, sum.Output = sum.Requests+row.Requests, sum.Input+row.Input, sum.Output+row.Output
		sum.CacheRead, sum.CacheCreation = sum.CacheRead+row.CacheRead, sum.CacheCreation+row.CacheCreation
		sum.CacheCreation1h, sum.Reasoning = sum.CacheCreation1h+row.CacheCreation1h, sum.Reasoning+row.Reasoning
		unpriced += row.Unpriced
		if row.Cost != nil {
			micro, nano = micro+*row.Cost, nano+*row.Nano
			if off := *row.Cost*1000 - *row.Nano; off <= -1000 || off >= 1000 {
				t.Errorf("%s: %d nano-USD are shown as %d", what, *row.Nano, *row.Cost)
			}
		}
	}
	if sum != r.Totals.Tokens || unpriced != r.Totals.Unpriced || r.Totals.Cost != nil && (micro != *r.Totals.Cost || nano != *r.Totals.Nano) {
		t.Errorf("%s: rows add up to %+v %d %d, totals are %+v %s", what, sum, micro, nano, r.Totals, value(r.Totals.Cost))
	}
	var without int64
	for _, u := range r.Unpriced {
		without += u.Requests
	}
	if without != r.Totals.Unpriced {
		t.Errorf("%s: %d requests are named as unpriced, the totals say %d", what, without, r.Totals.Unpriced)
	}
}

// With the times of files, usage that states no time is counted as if it stated that of its file, whatever is asked.
func TestFileTimes(t *testing.T) {
	r := seedtest.Rand(t)
	zones := []*time.Location{time.UTC, zone(t, "Europe/Berlin"), zone(t, "Asia/Kolkata")}
	day := func() time.Time {
		return time.Date(2026, 3, 10, 0, 0, 0, 0, time.UTC).Add(time.Duration(r.IntN(40*24*60)) * time.Minute)
	}
	for range 3 {
		files := randomFiles(r)
		var stated []indextest.Original
		for i := range files {
			files[i].Changed = day().Add(time.Duration(r.Int64N(60e9)).Truncate(time.Microsecond))
			one := files[i]
			one.Records = nil
			for _, record := range files[i].Records {
				if u, ok := record.(*transcript.Usage); ok {
					copied := *u
					if !u.Time.Valid {
						u.Key, copied.Key = "", "" // of several statements of one request the time decides, too
						copied.Time = transcript.Time{UnixMicro: one.Changed.UnixMicro(), Valid: true}
					}
					record = &copied
				}
				one.Records = append(one.Records, record)
			}
			stated = append(stated, one)
		}
		as, want := fill(t, files...), fill(t, stated...)
		for range 60 {
			o := cost.Options{Mode: []cost.Mode{cost.Auto, cost.Reported, cost.Calculated}[r.IntN(3)], Location: zones[r.IntN(len(zones))]}
			for _, i := range r.Perm(len(cost.Keys))[:r.IntN(3)] {
				o.By = append(o.By, cost.Keys[i])
			}
			if r.IntN(2) == 0 {
				o.Since = day().Truncate([]time.Duration{time.Minute, time.Hour}[r.IntN(2)])
			}
			if r.IntN(2) == 0 {
				o.Until = day()
			}
			date := day().Format("2006-01-02T15:04:05Z")
			o.Query = parse(t, []string{"", "", "model:b", "agent:x after:" + date, "(before:" + date + " OR model:a)", "-after:" + date}[r.IntN(6)])
			dated := o
			dated.FileTimes = true
			what := fmt.Sprint(o.Mode, o.By, o.Location, o.Query, o.Since, o.Until)
			got := run(t, as, dated)
			if a, b := asText(t, got), asText(t, run(t, want, o)); a != b {
				t.Errorf("%s: with the times of files\n%s\nstated they are\n%s", what, a, b)
			}
			addUp(t, what, got)
			if got.Undated != 0 {
				t.Errorf("%s: %d requests are left out", what, got.Undated)
			}
			if without := run(t, as, o).Totals.Requests; !(o.Since.IsZero() && o.Until.IsZero()) && got.FileDated != got.Totals.Requests-without {
				t.Errorf("%s: %d requests have the time of their file, and %d of %d state one", what, got.FileDated, without, got.Totals.Requests)
			}
		}
	}
}

// split asks for what was before an instant, since, and without a time: together they are everything.
func split(t *testing.T, x index.Accounts, mode cost.Mode, all *cost.Report, when time.Time) {
	t.Helper()
	var nano, input int64
	add := func(f cost.Figures) {
		if input += f.Input; f.Nano != nil {
			nano += *f.Nano
		}
	}
	add(run(t, x, cost.Options{Mode: mode, Until: when}).Totals)
	add(run(t, x, cost.Options{Mode: mode, Since: when}).Totals)
	for _, row := range run(t, x, cost.Options{Mode: mode, By: []string{"day"}}).Rows {
		if row.Keys[0].Value == nil {
			add(row.Figures)
		}
	}
	if input != all.Totals.Input || nano != *all.Totals.Nano {
		t.Errorf("%s, parted at %v: %d and %d nano-USD, all is %d and %d", mode, when, input, nano, all.Totals.Input, *all.Totals.Nano)
	}
}

// undated asks how many requests a window of time leaves out because they state none: those that are beside all days.
func undated(t *testing.T, x index.Accounts, mode cost.Mode, when time.Time) {
	t.Helper()
	for _, text := range []string{"", "model:a", "project:*", "-flow:x", "tokens>0"} {
		var want int64
		r := run(t, x, cost.Options{Mode: mode, Query: parse(t, text), By: []string{"day"}})
		for _, row := range r.Rows {
			if row.Keys[0].Value == nil {
				want += row.Requests
			}
		}
		if r.Undated != 0 {
			t.Errorf("%s of %q: without a window %d requests are left out", mode, text, r.Undated)
		}
		for _, o := range []cost.Options{{Query: parse(t, text), Since: when}, {Query: parse(t, text), Until: when, By: []string{"tool"}},
			{Query: parse(t, text+" after:"+when.Format("2006-01-02T15:04:05Z"))}} {
			o.Mode = mode
			if got := run(t, x, o).Undated; got != want {
				t.Errorf("%s of %v from %v to %v: %d requests state no time, want %d", mode, o.Query, o.Since, o.Until, got, want)
			}
		}
	}
}

// naive adds the records up one by one.
func naive(t *testing.T, x index.Accounts, mode cost.Mode, want cost.Figures) {
	t.Helper()
	type conversation struct{ run, id string }
	tokens, costs := map[conversation]bool{}, map[conversation]bool{}
	var all []index.Usage
	for u, err := range x.Usage(t.Context(), index.UsageFilter{}) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, u)
		stated := u.Input.Known || u.Output.Known || u.CacheRead.Known || u.CacheWrite.Known || u.CacheWrite1h.Known
		c := conversation{u.RunID, u.Usage.Conversation}
		tokens[c] = tokens[c] || stated && !u.Cost.Known
		costs[c] = costs[c] || !stated && u.Cost.Known
	}
	var nano, input int64
	seen := map[string]int{}
	for _, u := range all {
		seen[u.ID]++
		input += u.Input.N
		c := conversation{u.RunID, u.Usage.Conversation}
		switch {
		case u.Cost.Known && mode != cost.Calculated:
			nano += u.Cost.N
		case u.Cost.Known && mode == cost.Calculated:
			nano += u.Calculated.N
		case mode == cost.Calculated, mode == cost.Auto && !(costs[c] && tokens[c] && (u.Input.Known || u.Output.Known || u.CacheRead.Known || u.CacheWrite.Known || u.CacheWrite1h.Known)):
			nano += u.Calculated.N
		}
	}
	for id, n := range maps.All(seen) {
		if n > 1 {
			t.Errorf("%s counts %d times", id, n)
		}
	}
	if input != want.Input || want.Nano == nil || nano != *want.Nano {
		t.Errorf("%s: one by one %d tokens in and %d nano-USD, the report says %d and %s", mode, input, nano, want.Input, value(want.Nano))
	}
}
