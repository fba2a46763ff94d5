package sqlite

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/indextest"
	"github.com/txarchive/txarchive/internal/index/sqlite/usage"
	"github.com/txarchive/txarchive/internal/index/sqlite/write"
	"github.com/txarchive/txarchive/internal/index/sqlite/writetest"
	"github.com/txarchive/txarchive/internal/price"
	"github.com/txarchive/txarchive/internal/seedtest"
	"github.com/txarchive/txarchive/internal/transcript"
)

// usageFile is an original of one run with usage, a record every 100 bytes.
func usageFile(name string, usage ...*transcript.Usage) indextest.Original {
	o := indextest.Original{Source: "src", Path: name, Format: "awf", Claim: ".", Size: int64(len(usage)+1) * 100,
		Records: []transcript.Record{&transcript.Run{ID: name}, &transcript.Conversation{Run: name}}}
	for i, u := range usage {
		u.Run, u.Origin = name, indextest.Place(i)
		o.Records = append(o.Records, u)
	}
	return o
}

func addUsage(t *testing.T, db *DB, o indextest.Original) {
	t.Helper()
	b := indextest.Batch(o.Path, o)
	b.Prices = price.Default()
	if err := db.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

// bury commits the tombstone of an original that is in the index.
func bury(t *testing.T, db *DB, o indextest.Original) {
	t.Helper()
	b := indextest.Batch("tombstone of "+o.Path, o)
	b.Pack.Versions, b.Parsed = nil, nil
	tombstone := blob.NewTombstone(&indextest.Batch(o.Path, o).Pack.Versions[0], "")
	b.Facts = append(b.Facts, index.FactRow{Fact: tombstone.Fact(b.Pack.Created), Pack: b.Pack.Name})
	if err := db.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

// rollupRows are the rows that the rollup has, and those that it should have.
func rollupRows(t *testing.T, db *DB) (have, want []string) {
	t.Helper()
	const columns = "model || '|' || format || '|' || reason || '|' || has_reported || '|' || day || '|' || hour || '|' || "
	numbers := func(sum string) (s string) {
		for i, m := range usage.Measures() {
			if i > 0 {
				s += " || '|' || "
			}
			s += sum + "(" + m.Name + ")"
		}
		return s
	}
	if err := db.r.Select(&have, "SELECT "+columns+numbers("")+" FROM usage_days d JOIN usage_series s ON s.id = d.series ORDER BY 1"); err != nil {
		t.Fatal(err)
	}
	if err := db.r.Select(&want, "SELECT "+columns+numbers("sum")+" FROM "+usage.Spent+" GROUP BY model, format, reason, has_reported, day, hour ORDER BY 1"); err != nil {
		t.Fatal(err)
	}
	return have, want
}

func TestRollupFollowsUsage(t *testing.T) {
	r := seedtest.Rand(t)
	db := newDB(t)
	for i := range 8 {
		var usage []*transcript.Usage
		for range r.IntN(10) {
			u := &transcript.Usage{Model: []string{"", "claude-sonnet-4-5", "nobody's"}[r.IntN(3)], Input: transcript.Known(r.Int64N(100)), Output: transcript.Known(1)}
			if r.IntN(5) > 0 {
				u.Time = indextest.At(r.Int64N(20*86400) - 10*86400)
			}
			if r.IntN(4) == 0 {
				u.Time.UnixMicro = -r.Int64N(1e14) // before 1970
			}
			if r.IntN(3) == 0 {
				u.Cost = transcript.Known(r.Int64N(1e9))
			}
			if r.IntN(2) == 0 {
				u.Key = fmt.Sprint(r.IntN(20))
			}
			some := func(words ...string) string { return words[r.IntN(len(words))] }
			u.Agent, u.Flow, u.Step, u.Status = some("", "coder", "critic"), some("", "build"), some("", "test", "fix"), some("", "failed")
			usage = append(usage, u)
		}
		addUsage(t, db, usageFile(fmt.Sprint("file-", i), usage...))
		for _, change := range []string{
			"UPDATE usage SET verdict = 1 WHERE id % 13 = ?", "UPDATE usage SET verdict = 0 WHERE id % 11 = ?", "UPDATE usage SET texts = (SELECT min(texts) FROM usage) WHERE id % 17 = ?",
			"UPDATE usage SET calculated = NULL, texts = (SELECT max(texts) FROM usage) WHERE id % 19 = ?", "DELETE FROM usage WHERE id % 7 = ?", "UPDATE usage SET texts = 1 + id % (SELECT max(id) FROM usage_texts) WHERE id % 3 = ?",
		} {
			x, err := db.w.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := x.Exec(change, r.IntN(20)); err != nil {
				t.Fatal(err)
			}
			if err := x.Commit(); err != nil {
				t.Fatal(err)
			}
		}
		if have, want := rollupRows(t, db); !slices.Equal(have, want) {
			t.Fatalf("after %d files the rollup has\n%q, not\n%q", i+1, have, want)
		}
		if i%7 == 6 {
			sameAsScan(t, db)
		}
	}
}

// TestFreshSums compares the sums that a commit makes of what it adds with those that SQL makes of the records: of runs that are
// new, that spend again, and of which some requests are told twice.
func TestFreshSums(t *testing.T) {
	r := seedtest.Rand(t)
	db := newDB(t)
	const threads = "SELECT t.run_name, t.native_conversation, t.version, t.texts, s.model, s.format, s.reason, s.has_reported, t.day, t.hour, t.rows, t.requests, t.input, t.output, " +
		"t.cache_read, t.cache_write, t.cache_write_1h, t.reasoning, t.reported, t.calculated FROM usage_threads t JOIN usage_series s ON s.id = t.series ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10"
	for i := range 5 {
		var all []indextest.Original
		for n := range 4 {
			var usage []*transcript.Usage
			for range 100 { // with four originals more than SQL sums
				count := func() transcript.Count {
					return transcript.Count{N: []int64{r.Int64N(1e6), -r.Int64N(100), math.MaxInt64, math.MinInt64}[min(r.IntN(40), 3)], Known: r.IntN(3) > 0}
				}
				u := &transcript.Usage{Model: []string{"", "claude-sonnet-4-5", "nobody's"}[r.IntN(3)], Conversation: []string{"", "aside"}[r.IntN(2)], Step: []string{"", "fix"}[r.IntN(2)],
					Input: count(), Output: count(), CacheRead: count(), CacheWrite: count(), CacheWrite1h: count(), Reasoning: count(), Requests: count(), Cost: count()}
				if r.IntN(5) > 0 {
					u.Time = indextest.At(r.Int64N(4e6) - 2e6)
				}
				if r.IntN(4) == 0 {
					u.Time.UnixMicro = -r.Int64N(1e14)
				}
				if r.IntN(3) == 0 && n > 1 {
					u.Key = fmt.Sprint(r.IntN(500))
				}
				usage = append(usage, u)
			}
			name := fmt.Sprintf("run-%d-%d", i*(n%2), n) // half of them in each round again
			o := usageFile(name, usage...)
			o.Path = fmt.Sprintf("%s-%d", name, i)
			all = append(all, o)
		}
		b := indextest.Batch(fmt.Sprint("batch-", i), all...)
		b.Prices = price.Default()
		if err := db.Commit(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		have, days := writetest.Dump(t, db.r, threads), writetest.Dump(t, db.r, "SELECT * FROM usage_days")
		inTx(t, db, func(x *write.Tx) error {
			return x.Exec("INSERT INTO usage_touched SELECT DISTINCT run_name FROM usage")
		})
		writetest.Same(t, fmt.Sprintf("sums of conversations after %d commits", i+1), have, writetest.Dump(t, db.r, threads))
		writetest.Same(t, fmt.Sprintf("sums of days after %d commits", i+1), days, writetest.Dump(t, db.r, "SELECT * FROM usage_days"))
	}
}

// sameAsScan asks for sums in many ways: of the rollup, and of the records themselves, which Sum reads while the sums of any run are
// behind.
func sameAsScan(t *testing.T, db *DB) {
	t.Helper()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	sum := func(q index.SumQuery) map[string]index.Spent {
		all := map[string]index.Spent{}
		for s, err := range db.Sum(t.Context(), q) {
			if err != nil {
				t.Fatal(err)
			}
			id := fmt.Sprint(s.Keys, s.Time, s.Model, s.Reason, s.HasReported, s.Twin)
			if all[id] = all[id].Plus(s.Spent); all[id] == (index.Spent{}) {
				delete(all, id)
			}
		}
		return all
	}
	var have, want []map[string]index.Spent
	questions := rollupQuestions(t, berlin)
	for _, q := range questions {
		have = append(have, sum(q))
	}
	mustExec(t, db, "INSERT INTO usage_touched (run_name) VALUES (-1)")
	for _, q := range questions {
		want = append(want, sum(q))
	}
	mustExec(t, db, "DELETE FROM usage_touched")
	for i, q := range questions {
		if !maps.Equal(have[i], want[i]) {
			t.Fatalf("%v by %v and unit %d:\n%v, not\n%v", q.Query, q.By, q.Unit, have[i], want[i])
		}
	}
}

// rollupQuestions are questions that a rollup answers: see TestRollupOf in package usage.
func rollupQuestions(t *testing.T, loc *time.Location) (all []index.SumQuery) {
	t.Helper()
	from := time.UnixMicro(indextest.At(-3 * 86400).UnixMicro).Add(17 * time.Minute)
	for _, text := range []string{"", "model:claude-sonnet-4-5", "agent:coder", "flow:build OR step:test", "-status:failed", "run:file-3"} {
		tree := indextest.Parse(t, text)
		for _, by := range [][]index.Dimension{nil, {index.ByModel}, {index.ByFormat, index.ByAgent}, {index.ByProject}, {index.ByRun}, {index.ByConversation},
			{index.ByStep, index.ByFlow}, {index.ByStatus, index.ByModel}, {index.BySource}} {
			for _, unit := range []index.Unit{index.NoTime, index.Day, index.Hour} {
				all = append(all, index.SumQuery{By: by, Unit: unit, Location: loc, UsageFilter: index.UsageFilter{Query: tree, From: from}})
			}
		}
	}
	return all
}

// Numbers that nothing can cost, and times of no calendar, in one original must not spoil the sums of others.
func TestSumsOfHostileNumbers(t *testing.T) {
	db := newDB(t)
	var usage []*transcript.Usage
	for i := range 200 {
		u := &transcript.Usage{Model: "m", Key: fmt.Sprint(i), Input: transcript.Known(math.MaxInt64), Output: transcript.Known(math.MinInt64),
			Cost: transcript.Known(math.MaxInt64), Time: transcript.Time{UnixMicro: math.MaxInt64 - int64(i%2)*1e12, Valid: i%3 > 0}}
		if i%5 == 0 {
			u.Time.UnixMicro = math.MinInt64 + 1
		}
		usage = append(usage, u)
	}
	addUsage(t, db, usageFile("hostile", usage...))
	addUsage(t, db, usageFile("honest", &transcript.Usage{Model: "n", Input: transcript.Known(5), Output: transcript.Known(5), Cost: transcript.Known(7), Time: indextest.At(0)}))
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, by := range [][]index.Dimension{{index.ByModel}, {index.ByModel, index.ByRun}} {
		for _, unit := range []index.Unit{index.NoTime, index.Day, index.Hour, index.Instant} {
			found := false
			for s, err := range db.Sum(t.Context(), index.SumQuery{By: by, Unit: unit, Location: berlin}) {
				if err != nil {
					t.Fatalf("by %v and unit %d: %v", by, unit, err)
				}
				found = found || s.Keys[0].Text == "n" && s.Reported == 7 && s.Input == 5
			}
			if !found {
				t.Errorf("by %v and unit %d: the honest record is lost", by, unit)
			}
		}
	}
	for _, q := range []string{"SELECT sum(reported_cost_microusd IS NULL), sum(cost_microusd IS NULL) FROM v_runs", "SELECT max(input_tokens) FROM v_runs",
		"SELECT max(cost_microusd), max(calculated_cost_microusd) FROM v_usage", "SELECT max(cost_microusd), sum(input_tokens) FROM v_cost_daily"} {
		if _, _, err := asked(t.Context(), db, index.Question{SQL: q}); err != nil {
			t.Errorf("%s: %v", q, err)
		}
	}
	const most = "SELECT sum(input_tokens), sum(output_tokens), sum(reported_cost_nanousd) FROM v_usage"
	want := fmt.Sprint(200*int64(index.MaxTokens)+5, 5, 200*int64(index.MaxNano)+7)
	if _, rows, err := asked(t.Context(), db, index.Question{SQL: most}); err != nil || rows[0] != want {
		t.Errorf("%s: %v, %v, want %s", most, rows, err, want)
	}
}

// Credits are amounts below zero: half up is towards zero there.
func TestViewsRoundHalfUp(t *testing.T) {
	db := newDB(t)
	nano := []int64{-1501, -1500, -1499, -1000, -501, -500, -499, -1, 0, 1, 499, 500, 501, 1499, 1500}
	micro := []int64{-2, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 2}
	for i, n := range nano {
		addUsage(t, db, usageFile(fmt.Sprintf("r%02d", i), &transcript.Usage{Model: fmt.Sprintf("m%02d", i), Cost: transcript.Known(n), Time: indextest.At(0)}))
	}
	for _, q := range []string{"SELECT reported_cost_microusd, cost_microusd FROM v_usage ORDER BY model", "SELECT reported_cost_microusd, cost_microusd FROM v_cost_daily ORDER BY model",
		"SELECT reported_cost_microusd, cost_microusd FROM v_runs ORDER BY native_id"} {
		_, rows, err := asked(t.Context(), db, index.Question{SQL: q})
		if err != nil || len(rows) != len(nano) {
			t.Fatalf("%s: %q, %v", q, rows, err)
		}
		for i, row := range rows {
			if want := fmt.Sprint(micro[i], " ", micro[i]); row != want {
				t.Errorf("%s: %d nano-USD are %s micro-USD, want %s", q, nano[i], row, want)
			}
		}
	}
}
