package cost_test

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/cost"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/query"
	"github.com/txarchive/txarchive/internal/transcript"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

func parse(t testing.TB, text string) *query.Tree {
	t.Helper()
	q, err := query.Parse(text, time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC), time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func TestReport(t *testing.T) {
	cached := spent("2026-03-01T10:00:00Z", "a", 10, 20)
	cached.CacheRead, cached.CacheWrite, cached.CacheWrite1h = transcript.Known(1000), transcript.Known(100), transcript.Known(10)
	both := spent("2026-03-02T10:00:00Z", "a", 1, 1) // calculated 6000
	both.Cost, both.Requests = transcript.Known(9_000_000), transcript.Known(3)
	db := fill(t, file("r1", "r1", cached, both,
		spent("2026-03-02T11:00:00Z", "mystery", 7, 8),
		spent("2026-03-02T12:00:00Z", "free", 7, 8),
		spent("2026-03-02T13:00:00Z", "claude-stub", 0, 0),
		&transcript.Usage{Model: "a", Input: transcript.Known(2), Output: transcript.Known(0)}))
	r := run(t, db, cost.Options{By: []string{"model"}})
	// 10*1 + 20*5 + 1000*.1 + 100*1.25 + 10*2 = 355 micro-USD, 9000 reported, 2 of the record without a time.
	if got, want := table(r), map[string]int64{"a": 355 + 9000 + 2, "mystery": -1, "free": 0, "claude-stub": 0}; !maps.Equal(got, want) {
		t.Errorf("auto: %v, want %v", got, want)
	}
	if *r.Totals.Cost != 9357 || r.Totals.Input != 27 || r.Totals.CacheCreation != 110 || r.Totals.CacheCreation1h != 10 || r.Totals.Requests != 8 {
		t.Errorf("totals %+v", r.Totals)
	}
	if r.Totals.Stub != 1 || r.Totals.Unpriced != 1 || *r.Totals.Reported != 9000 || *r.Totals.Calculated != 363 {
		t.Errorf("totals %+v", r.Totals)
	}
	if len(r.Unpriced) != 1 || *r.Unpriced[0].Model != "mystery" || r.Unpriced[0].Reason != "no price for model mystery" || r.Unpriced[0].Output != 8 {
		t.Errorf("unpriced %+v", r.Unpriced)
	}
	if got := table(run(t, db, cost.Options{By: []string{"model"}, Mode: cost.Reported})); got["a"] != 9000 || got["free"] != -1 {
		t.Errorf("reported: %v", got)
	}
	if got := table(run(t, db, cost.Options{By: []string{"model"}, Mode: cost.Calculated})); got["a"] != 355+6+2 {
		t.Errorf("calculated: %v", got)
	}
	if got := table(run(t, db, cost.Options{By: []string{"day"}})); !maps.Equal(got, map[string]int64{"2026-03-01": 355, "2026-03-02": 9000, "-": 2}) {
		t.Errorf("by day: %v", got)
	}
}

func TestJSON(t *testing.T) {
	db := fill(t, file("r1", "r1", spent("2026-03-01T10:00:00Z", "a", 10, 20), spent("2026-03-01T11:00:00Z", "mystery", 7, 8)))
	rows, totals := asMaps(t, run(t, db, cost.Options{By: []string{"model", "day", "project"}}))
	for _, key := range []string{"input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens", "requests", "cost_microusd", "share"} {
		for _, row := range append(rows, totals) {
			if _, ok := row[key]; !ok {
				t.Errorf("no %s in %v", key, row)
			}
		}
	}
	if len(rows) != 2 || rows[0]["model"] != "a" || rows[0]["day"] != "2026-03-01" || rows[0]["project"] != nil || rows[0]["cost_microusd"] != 110.0 ||
		rows[0]["share"] != 1.0 || rows[1]["cost_microusd"] != nil {
		t.Errorf("rows %v", rows)
	}
	empty := run(t, fill(t), cost.Options{By: []string{"day"}})
	if rows, totals := asMaps(t, empty); rows == nil || totals["cost_microusd"] != nil || totals["requests"] != 0.0 || empty.Unpriced == nil {
		t.Errorf("of nothing: %v %v", rows, totals)
	}
}

// A step's receipt has its tokens, the last line of its transcript the cost that the program reported.
func TestTwins(t *testing.T) {
	const run1 = "run-1"
	tokens := spent("2026-03-01T23:59:00Z", "a", 100, 10) // calculated 150 micro-USD
	tokens.Conversation, tokens.Step = "build/code", "code"
	paidFor := paid("2026-03-02T00:01:00Z", 400_500)
	paidFor.Conversation, paidFor.Step, paidFor.Key = "build/code", "code", "cost:1"
	alone := spent("2026-03-02T00:02:00Z", "a", 1, 1) // another conversation: 6
	alone.Conversation, alone.Step = "build/test", "test"
	unknown := spent("2026-03-02T00:03:00Z", "mystery", 5, 5)
	unknown.Conversation, unknown.Step = "build/code", "code"
	for _, order := range [][]int{{0, 1}, {1, 0}} {
		originals := []struct {
			path    string
			records []transcript.Record
		}{{"receipts", []transcript.Record{clone(tokens), clone(alone), clone(unknown)}}, {"transcript", []transcript.Record{clone(paidFor)}}}
		db := fill(t)
		for _, i := range order {
			commit(t, db, file(run1, originals[i].path, originals[i].records...))
		}
		for _, c := range []struct {
			by   string
			mode cost.Mode
			want map[string]int64
		}{
			{"step", cost.Auto, map[string]int64{"code": 401, "test": 6}},
			{"step", cost.Calculated, map[string]int64{"code": 150, "test": 6}},
			{"step", cost.Reported, map[string]int64{"code": 401, "test": -1}},
			{"day", cost.Auto, map[string]int64{"2026-03-01": -1, "2026-03-02": 407}},
			{"day", cost.Calculated, map[string]int64{"2026-03-01": 150, "2026-03-02": 6}},
			{"model", cost.Auto, map[string]int64{"-": 401, "a": 6, "mystery": -1}},
		} {
			r := run(t, db, cost.Options{By: []string{c.by}, Mode: c.mode})
			if got := table(r); !maps.Equal(got, c.want) {
				t.Errorf("%v by %s, %s: %v, want %v", order, c.by, c.mode, got, c.want)
			}
			if r.Totals.Requests != 3 || r.Totals.Input != 106 {
				t.Errorf("by %s: %+v", c.by, r.Totals)
			}
			unpriced := map[cost.Mode]int64{cost.Auto: 0, cost.Calculated: 1, cost.Reported: 1}[c.mode]
			if r.Totals.Unpriced != unpriced {
				t.Errorf("by %s, %s: %d without a price, want %d: %+v", c.by, c.mode, r.Totals.Unpriced, unpriced, r.Unpriced)
			}
		}
		// The part of a period, and a filter that sees one of the two, add up to the whole.
		if r := run(t, db, cost.Options{Since: time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC), Query: parse(t, "model:a")}); *r.Totals.Cost != 6 {
			t.Errorf("filtered: %d", *r.Totals.Cost)
		}
	}
}

func clone(u *transcript.Usage) *transcript.Usage { c := *u; return &c }

func TestOnlyOneCounts(t *testing.T) {
	one := func() *transcript.Usage {
		u := spent("2026-03-01T10:00:00Z", "a", 10, 0)
		u.Key = "request-1"
		return u
	}
	derived := spent("2026-03-01T10:00:00Z", "a", 500, 0)
	derived.Verdict = transcript.DerivedTotal
	outside := spent("2026-03-01T10:00:00Z", "a", 500, 0)
	outside.Verdict = transcript.OutsideReceipt
	db := fill(t, file("r1", "one", one(), derived), file("r2", "two", one(), outside))
	for _, by := range [][]string{nil, {"day"}, {"run"}} {
		if r := run(t, db, cost.Options{By: by}); r.Totals.Input != 10 || *r.Totals.Cost != 10 || r.Totals.Requests != 1 || len(r.Rows) != 1 {
			t.Errorf("by %v: %+v", by, r)
		}
	}
}

func TestDaysAcrossChangesOfClocks(t *testing.T) {
	var records []transcript.Record
	for _, when := range []string{
		"2026-03-28T22:30:00Z", // 23:30 on the 28th, winter time
		"2026-03-28T23:30:00Z", // 00:30 on the 29th
		"2026-03-29T21:30:00Z", // 23:30 on the 29th, summer time: the day has 23 hours
		"2026-03-29T22:30:00Z", // 00:30 on the 30th
		"2026-10-24T21:59:59Z", // 23:59:59 on the 24th, summer time
		"2026-10-24T22:00:00Z", // 00:00 on the 25th
		"2026-10-25T00:30:00Z", // 02:30, the first
		"2026-10-25T01:30:00Z", // 02:30, the second
		"2026-10-25T22:59:59Z", // 23:59:59 on the 25th, winter time: the day has 25 hours
		"2026-10-25T23:00:00Z", // 00:00 on the 26th
	} {
		records = append(records, spent(when, "a", 1, 0))
	}
	db := fill(t, file("r1", "r1", records...))
	for _, c := range []struct {
		zone, by string
		want     map[string]int64
	}{
		{"Europe/Berlin", "day", map[string]int64{"2026-03-28": 1, "2026-03-29": 2, "2026-03-30": 1, "2026-10-24": 1, "2026-10-25": 4, "2026-10-26": 1}},
		{"Europe/Berlin", "month", map[string]int64{"2026-03": 4, "2026-10": 6}},
		{"Europe/Berlin", "week", map[string]int64{"2026-03-23": 3, "2026-03-30": 1, "2026-10-19": 5, "2026-10-26": 1}},
		{"America/New_York", "day", map[string]int64{"2026-03-28": 2, "2026-03-29": 2, "2026-10-24": 4, "2026-10-25": 2}},
		{"Asia/Kathmandu", "day", map[string]int64{"2026-03-29": 2, "2026-03-30": 2, "2026-10-25": 4, "2026-10-26": 2}},
		{"UTC", "day", map[string]int64{"2026-03-28": 2, "2026-03-29": 2, "2026-10-24": 2, "2026-10-25": 4}},
	} {
		o := cost.Options{By: []string{c.by}, Location: zone(t, c.zone)}
		if got := table(run(t, db, o)); !maps.Equal(got, c.want) {
			t.Errorf("%s by %s: %v, want %v", c.zone, c.by, got, c.want)
		}
		o.By = append(o.By, "run") // looks at every record
		if got := table(run(t, db, o)); !maps.Equal(got, c.want) {
			t.Errorf("%s by %s and run: %v, want %v", c.zone, c.by, got, c.want)
		}
	}
	for _, by := range [][]string{{"hour"}, {"hour", "run"}} {
		got := table(run(t, db, cost.Options{By: by, Location: zone(t, "Europe/Berlin")}))
		if got["2026-10-25T02:00:00+02:00"] != 1 || got["2026-10-25T02:00:00+01:00"] != 1 || len(got) != 10 {
			t.Errorf("by %v: %v", by, got)
		}
	}
}

// TestFirstDayOfWeek: weeks begin on any day, and are named by it.
func TestFirstDayOfWeek(t *testing.T) {
	var records []transcript.Record
	for day := range 8 { // from Sunday to Sunday
		records = append(records, spent(time.Date(2026, 11, 8+day, 12, 0, 0, 0, time.UTC).Format(time.RFC3339), "a", 1, 0))
	}
	db := fill(t, file("r1", "r1", records...))
	for first, want := range map[time.Weekday]map[string]int64{
		time.Monday:    {"2026-11-02": 1, "2026-11-09": 7},
		time.Wednesday: {"2026-11-04": 3, "2026-11-11": 5},
		time.Saturday:  {"2026-11-07": 6, "2026-11-14": 2},
		time.Sunday:    {"2026-11-08": 7, "2026-11-15": 1},
	} {
		o := cost.Options{By: []string{"week"}, WeekShift: (int(first) + 6) % 7}
		if got := table(run(t, db, o)); !maps.Equal(got, want) {
			t.Errorf("weeks from %s: %v, want %v", first, got, want)
		}
		o.By = []string{"hour", "week"}
		sums := map[string]int64{}
		for _, row := range run(t, db, o).Rows {
			sums[*row.Keys[1].Value] += row.Requests
		}
		if !maps.Equal(sums, want) {
			t.Errorf("weeks from %s beside hours: %v, want %v", first, sums, want)
		}
	}
}

// TestHoursCutByChangesOfClocks: where clocks change within an hour, the next hour begins at the change, and no two share a moment.
func TestHoursCutByChangesOfClocks(t *testing.T) {
	for name, c := range map[string]struct{ when, hours []string }{
		"Australia/Lord_Howe": { // half an hour back at 02:00+11:00
			[]string{"2026-04-04T14:59:59Z", "2026-04-04T15:10:00Z", "2026-04-04T15:30:00Z"},
			[]string{"2026-04-05T01:00:00+11:00", "2026-04-05T01:30:00+10:30", "2026-04-05T02:00:00+10:30"},
		},
		"Pacific/Chatham": { // an hour back at 03:45+13:45
			[]string{"2026-04-04T13:59:59Z", "2026-04-04T14:10:00Z", "2026-04-04T14:15:00Z", "1969-04-04T14:10:00Z"},
			[]string{"2026-04-05T03:00:00+13:45", "2026-04-05T02:45:00+12:45", "2026-04-05T03:00:00+12:45", "1969-04-05T02:00:00+12:45"},
		},
	} {
		var records []transcript.Record
		for _, when := range c.when {
			records = append(records, spent(when, "a", 1, 0))
		}
		got := table(run(t, fill(t, file("r1", "r1", records...)), cost.Options{By: []string{"hour"}, Location: zone(t, name)}))
		for _, hour := range c.hours {
			if got[hour] != 1 || len(got) != len(c.hours) {
				t.Errorf("%s, %s: %v", name, hour, got)
			}
		}
	}
}

func TestFilters(t *testing.T) {
	u := spent("2026-03-01T10:00:00Z", "a", 10, 20)
	u.Agent, u.Flow, u.Step, u.Status, u.Outcome, u.Engine = "coder", "build", "code", "VERIFIED", transcript.Succeeded, "claude"
	u.Attributes = transcript.Attributes{"phase": "work"}
	v := spent("2026-03-02T10:00:00Z", "mystery", 1000, 1)
	db := fill(t, file("r1", "dir/r1", u), file("r2", "dir/r2", v))
	id := *run(t, db, cost.Options{By: []string{"run"}, Query: parse(t, "run:r1")}).Rows[0].Keys[0].Value
	for text, want := range map[string]int64{
		"agent:coder": 1, "agent:CODER": 1, "agent:x": 0, `agent:""`: 1, "flow:b*": 1, "step:code": 1, "status:verified": 1, "outcome:succeeded": 1,
		"engine:claude": 1, "model:a": 1, "model:a,mystery": 2, "model:myst*": 1, "format:awf": 2, "format:chibi": 0, "run:" + id: 1, "run:" + id[:6]: 1, "run:r2": 1,
		"source:src": 2, "path:*r2*": 1, "attr:phase=work": 1, "attr:phase": 1, "cost>0.0001": 1, "cost<1": 1, "tokens>=1000": 1, "input>100": 1, "output=20": 1,
		"has:cost": 1, "has:usage": 2, "-has:cost": 1, "after:2026-03-02": 1, "before:2026-03-02 model:a": 1, "during:2026-03": 2, "agent:coder OR model:mystery": 2,
		"-agent:coder": 1, "is:stub": 0, "is:child": 0, "-is:child": 2, "after:2026-03-01T10:00:01": 1, "tool:Bash": 0, "events>3": 0,
	} {
		if got := run(t, db, cost.Options{Query: parse(t, text)}).Totals.Requests; got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
	for _, text := range []string{"timeout", `"a b"`, "role:user", "duration>3s", "kind:message"} {
		var unsupported *index.UnsupportedError
		if _, err := cost.Run(t.Context(), db, cost.Options{Query: parse(t, text)}); !errors.As(err, &unsupported) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, o := range []cost.Options{{By: []string{"colour"}}, {By: []string{"day", "day"}}, {Mode: "free"}} {
		var wrong *cost.OptionError
		if _, err := cost.Run(t.Context(), db, o); !errors.As(err, &wrong) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func TestTools(t *testing.T) {
	call := func(names ...string) *transcript.Event {
		e := &transcript.Event{Kind: transcript.KindMessage}
		for i, n := range names {
			e.Parts = append(e.Parts, transcript.Part{Kind: transcript.KindToolCall, Text: n, Call: &transcript.Call{ID: fmt.Sprint(n, i), Name: n}})
		}
		return e
	}
	db := fill(t, file("r1", "r1", call("Read"), call("Bash", "Read"), spent("2026-03-01T10:00:00Z", "a", 1, 0),
		call("Edit"), spent("2026-03-01T10:01:00Z", "a", 10, 0), spent("2026-03-01T10:02:00Z", "a", 100, 0)))
	r := run(t, db, cost.Options{By: []string{"tool"}})
	if got := table(r); !maps.Equal(got, map[string]int64{"Bash, Read": 1, "Edit": 10, "-": 100}) {
		t.Errorf("by tool: %v", got)
	}
	if r := run(t, db, cost.Options{Query: parse(t, "tool:bash,edit")}); r.Totals.Input != 11 {
		t.Errorf("of tools: %+v", r.Totals)
	}
}

func TestLimit(t *testing.T) {
	db := fill(t, file("r1", "r1", spent("2026-03-01T10:00:00Z", "b", 1, 0), spent("2026-03-02T10:00:00Z", "b", 1, 0), spent("2026-03-03T10:00:00Z", "b", 1, 0)))
	r := run(t, db, cost.Options{By: []string{"day"}, Limit: 1})
	// Three times 333 nano-USD is 0.999 micro-USD: the rows show it once.
	if len(r.Rows) != 1 || r.LeftOut.Rows != 2 || *r.Totals.Cost != 1 || *r.Rows[0].Cost+*r.LeftOut.Cost != 1 || *r.LeftOut.Nano != 666 {
		t.Errorf("%+v", r)
	}
	var days []string
	for _, row := range run(t, db, cost.Options{By: []string{"day"}}).Rows {
		days = append(days, *row.Keys[0].Value)
	}
	if !slices.IsSorted(days) {
		t.Errorf("days %v", days)
	}
	if !reflect.DeepEqual(r.By, []string{"day"}) || !strings.Contains(r.TimeZone, "UTC") {
		t.Errorf("%v %v", r.By, r.TimeZone)
	}
}
