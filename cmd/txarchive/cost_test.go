package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/cost"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/printer"
)

// example is an archive of all example runs, each system a source.
func example(t *testing.T) string {
	t.Helper()
	exampled.once.Do(func() {
		root, err := os.MkdirTemp("", "txarchive-example")
		must(t, err)
		exampled.root = root
		dirs, err := filepath.Glob(runs + "/*")
		if err != nil || len(dirs) < 5 {
			t.Fatal(dirs, err)
		}
		call(t, filepath.Join(root, "archive"), append([]string{"ingest"}, dirs...)...)
	})
	return copyArchive(t, filepath.Join(exampled.root, "archive"))
}

// exampled is the archive of which example gives copies; TestMain removes it.
var exampled struct {
	once sync.Once
	root string
}

// shownReport is the contract of cost --json: the rows with their keys beside the figures.
type shownReport struct {
	Rows     []map[string]any
	Totals   cost.Figures
	Unpriced []struct{ Requests int64 }
}

// TestCostTotals: the tokens are those of stats, and every grouping adds up to the same total.
func TestCostTotals(t *testing.T) {
	dir := example(t)
	stats := decode[index.Stats](t, call(t, dir, "stats", "--json"))
	n := func(p *int64) int64 {
		if p == nil {
			return 0
		}
		return *p
	}
	groups := append([]string{"", "model,flow", "flow,model", "day,model,step,tool", "format,status,run,conversation"}, cost.Keys...)
	for _, by := range groups {
		for _, mode := range []string{"auto", "reported", "calculated"} {
			r := decode[shownReport](t, call(t, dir, "cost", "--by", by, "--mode", mode, "--json"))
			s := stats.Totals
			if r.Totals.Input != n(s.Input) || r.Totals.Output != n(s.Output) || r.Totals.CacheRead != n(s.CacheRead) || r.Totals.CacheCreation != n(s.CacheCreation) {
				t.Errorf("--by %s: tokens %+v, stats says %+v", by, r.Totals.Tokens, s)
			}
			if mode != "calculated" && n(r.Totals.Reported) != n(s.ReportedCost) {
				t.Errorf("--by %s: reported %d, stats says %d", by, n(r.Totals.Reported), n(s.ReportedCost))
			}
			want := map[string]int64{"requests": r.Totals.Requests, "input_tokens": r.Totals.Input, "output_tokens": r.Totals.Output,
				"cost_microusd": n(r.Totals.Cost), "cost_nanousd": n(r.Totals.Nano), "unpriced_requests": r.Totals.Unpriced, "stub_requests": r.Totals.Stub}
			for key, total := range want {
				sum := int64(0)
				for _, row := range r.Rows {
					if v, ok := row[key].(float64); ok {
						sum += int64(v)
					}
				}
				if sum != total {
					t.Errorf("--by %q --mode %s: rows add up to %d %s, the total is %d", by, mode, sum, key, total)
				}
			}
			unpriced := int64(0)
			for _, u := range r.Unpriced {
				unpriced += u.Requests
			}
			if unpriced != r.Totals.Unpriced {
				t.Errorf("--by %q --mode %s: %d unpriced requests are named, the total has %d", by, mode, unpriced, r.Totals.Unpriced)
			}
			for _, row := range r.Rows {
				for _, key := range strings.FieldsFunc(by, func(c rune) bool { return c == ',' }) {
					if _, ok := row[key]; !ok {
						t.Errorf("--by %s: row %v has no %s", by, row, key)
					}
				}
			}
		}
	}
}

// TestExplainAddsUp: the costs of the records that --explain lists are the cost of the row that it explains.
func TestExplainAddsUp(t *testing.T) {
	dir := example(t)
	r := decode[shownReport](t, call(t, dir, "cost", "--by", "model,flow", "--json"))
	for _, row := range r.Rows {
		text := func(key string) string {
			s, _ := row[key].(string)
			return s
		}
		subject := "model=" + text("model") + ",flow=" + text("flow")
		x := decode[cost.Explanation](t, call(t, dir, "cost", "--explain", subject, "--json"))
		sum, any := int64(0), false
		for _, record := range x.Records {
			if record.Cost != nil {
				sum, any = sum+*record.Cost, true
			}
		}
		want, known := row["cost_nanousd"].(float64)
		if known != any || sum != int64(want) {
			t.Errorf("%s: records add up to %d (%v), the row has %v", subject, sum, any, row["cost_nanousd"])
		}
	}
}

// TestBudget: what is over a limit ends in exit code 6, what only will be does not.
func TestBudget(t *testing.T) {
	dir := example(t)
	for _, c := range []struct {
		now    string
		budget string
		code   int
		says   string
	}{
		{"2026-11-21T12:00:00Z", "1000", 0, "$2.0266"},
		{"2026-11-21T12:00:00Z", "2.5", 0, "over the budget"},
		{"2026-11-21T12:00:00Z", "$2", 6, "$2.0266  101.3%"},
		{"2026-11-21T12:00:00Z", "0", 6, "$0.0000"},
		{"2026-12-05T00:00:00Z", "0", 0, "December 2026"},
		{"2026-02-10T00:00:00Z", "0.5", 6, "February 2026"},
	} {
		now, err := time.Parse(time.RFC3339, c.now)
		must(t, err)
		for _, format := range []string{"table", "json"} {
			var out, errs bytes.Buffer
			a := &app{Printer: printer.Printer{Out: &out, Err: &errs, Now: func() time.Time { return now }, Getenv: func(key string) string {
				return map[string]string{"TXARCHIVE_DIR": dir, "HOME": "/nonexistent"}[key]
			}}, in: strings.NewReader(""), log: slog.New(slog.DiscardHandler)}
			code := execute(t.Context(), a, []string{"--utc", "cost", "--budget", c.budget, "--format", format})
			if code != c.code || code == failure.ExitLimit && !strings.Contains(errs.String(), "budget exceeded") {
				t.Errorf("%s, %s: exit %d, want %d\n%s%s", c.now, c.budget, code, c.code, out.String(), errs.String())
			}
			if format == "table" {
				if !strings.Contains(out.String(), c.says) {
					t.Errorf("%s, %s: no %q in\n%s", c.now, c.budget, c.says, out.String())
				}
				continue
			}
			var b cost.Budget
			if err := json.Unmarshal(out.Bytes(), &b); err != nil || b.Over != (c.code == failure.ExitLimit) {
				t.Errorf("%s, %s: %v in %s", c.now, c.budget, err, out.String())
			}
		}
	}
}

func TestCostArguments(t *testing.T) {
	full, none := filled(t), filepath.Join(t.TempDir(), "none")
	for _, c := range []struct {
		archive, line string
		code          int
	}{
		{full, "cost", 0}, {full, "cost --by nope", 2}, {full, "cost --mode dear", 2}, {full, "cost --explain zzz", 4},
		{full, "cost --explain day=2001-01-01", 4}, {full, "cost --tree nobody", 4}, {full, "cost --run nobody", 4}, {full, "cost --blocks --tree r", 2},
		{full, "cost --tree r --format csv", 2}, {full, "cost --blocks --by day", 2}, {full, "cost --budget 5 --since 7d", 2}, {full, "cost --since 1..2", 2},
		{full, "prices show nosuchmodel", 4}, {full, "prices list nosuchmodel", 4}, {full, "prices show", 2},
		{none, "cost", 10}, {none, "cost --budget 5", 10}, {none, "prices list", 0}, {none, "prices show gpt-5", 0},
	} {
		for _, more := range []string{"", " --json"} {
			code, _, stderr := inside(t.Context(), c.archive, "", strings.Fields(c.line+more)...)
			if code != c.code {
				t.Errorf("%s%s: exit %d, want %d\n%s", c.line, more, code, c.code, stderr)
			}
		}
	}
}

// TestOutdatedPrices: an index whose costs are by other prices than the program's says so until something has written.
func TestOutdatedPrices(t *testing.T) {
	dir := t.TempDir()
	call(t, dir, "ingest", runs+"/chibi")
	outdated := func() bool {
		_, _, stderr := inside(t.Context(), dir, "", "cost")
		return strings.Contains(stderr, "use older prices")
	}
	if outdated() {
		t.Error("said of costs just made")
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "index.db"))
	must(t, err)
	_, err = db.Exec("UPDATE local_state SET value = 'of an older program' WHERE key = 'prices'")
	must(t, err)
	must(t, db.Close())
	if !outdated() {
		t.Error("not said")
	}
	call(t, dir, "ingest")
	if outdated() {
		t.Error("said after an ingest")
	}
}

// TestThisWeek: the words for weeks follow --week-start, in flags and in queries.
func TestThisWeek(t *testing.T) {
	dir := filled(t)
	sunday := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC) // the usage of awf is of the Friday before
	for _, c := range []struct {
		line string
		none bool
	}{
		{"--since this-week", false},
		{"--since this-week --week-start sunday", true},
		{"--since last-week --until last-week --week-start sunday", false},
		{"--since this-week --week-start saturday", true},
		{"during:this-week", false},
		{"during:this-week --week-start sunday", true},
	} {
		out := runAt(t, sunday, dir, 0, append([]string{"cost", "--utc", "--json", "format:awf"}, strings.Fields(c.line)...)...)
		if none := strings.Contains(out, `"rows":[]`); none != c.none {
			t.Errorf("%s: %s", c.line, out)
		}
	}
}
