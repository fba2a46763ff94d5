package policy

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/transcript"
)

var update = flag.Bool("update", false, "write the golden files")

var now = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

// testRun is a run as the golden cases write it: ages instead of times, and a row of runs by Repeat.
type testRun struct {
	Run
	Age    string `json:"age"`    // since Started
	Idle   string `json:"idle"`   // since LastActivity; Age when absent
	Cost   *int64 `json:"nano"`   // nano-USD
	Repeat int    `json:"repeat"` // so many runs, each Every older than the one before, %d in id is the number
	Every  string `json:"every"`
}

func before(t *testing.T, s string) time.Time {
	t.Helper()
	n, err := ParseDuration(s)
	if err != nil {
		t.Fatal(err)
	}
	return now.Add(-n)
}

func readRuns(t *testing.T, file string) (runs []Run, quiet []bool) {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var in []testRun
	dec := json.NewDecoder(bytes.NewReader(src))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	for _, c := range in {
		var step time.Duration
		if c.Every != "" {
			step = now.Sub(before(t, c.Every))
		}
		for n := range max(1, c.Repeat) {
			r := c.Run
			if c.Age != "" {
				r.Started = before(t, c.Age).Add(-time.Duration(n) * step)
				r.LastActivity, r.Ended = r.Started, r.Started
			}
			if c.Idle != "" {
				r.LastActivity = before(t, c.Idle)
			}
			if c.Cost != nil {
				r.CostNanoUSD = transcript.Known(*c.Cost)
			}
			if c.Repeat > 0 {
				r.ID = fmt.Sprintf(r.ID, n+1)
			}
			runs = append(runs, r)
			quiet = append(quiet, n > 0 && n < c.Repeat-1)
		}
	}
	return runs, quiet
}

// The golden cases: testdata/<case>/ has runs.json and either policy.yaml or the name of a shipped example. Of a
// row of like runs want.txt has the first, the last and those around a change.
func TestGolden(t *testing.T) {
	dirs, err := filepath.Glob("testdata/*/runs.json")
	if err != nil || len(dirs) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range dirs {
		dir := filepath.Dir(file)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			src, err := os.ReadFile(filepath.Join(dir, "policy.yaml"))
			if err != nil {
				src, err = Example(filepath.Base(dir))
			}
			if err != nil {
				t.Fatal(err)
			}
			p, err := Parse(src)
			if err != nil {
				t.Fatal(err)
			}
			runs, quiet := readRuns(t, file)
			got := render(apply(p, runs, now), quiet)
			want := filepath.Join(dir, "want.txt")
			if *update {
				if err := os.WriteFile(want, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			b, err := os.ReadFile(want)
			if err != nil {
				t.Fatal(err)
			}
			if string(b) != got {
				t.Errorf("got:\n%s\nwant:\n%s", got, b)
			}
		})
	}
}

func render(ds []Decision, quiet []bool) string {
	var b strings.Builder
	for i, d := range ds {
		changes := i > 0 && ds[i-1].Action != d.Action || i+1 < len(ds) && ds[i+1].Action != d.Action
		if quiet[i] && !changes {
			continue
		}
		what := string(d.Action)
		if d.Tier != "" {
			what += " " + string(d.Tier)
		}
		if d.Over > 0 {
			what += fmt.Sprintf(" over %d", d.Over)
		}
		fmt.Fprintf(&b, "%-14s %-22s", d.RunID, what)
		if d.Action != Keep {
			fmt.Fprintf(&b, " %d bytes", d.Bytes)
		}
		if !d.Ledger {
			b.WriteString(" without ledger")
		}
		b.WriteByte('\n')
		for _, r := range d.Reasons {
			fmt.Fprintf(&b, "    %s\n", r)
		}
		if !d.Until.IsZero() {
			fmt.Fprintf(&b, "    until %s\n", d.Until.Format(time.DateTime))
		}
	}
	groups := Groups{}
	for i := range ds {
		groups.Add(&ds[i])
	}
	for _, g := range groups.Emptied() {
		fmt.Fprintf(&b, "emptied: %s\n", g)
	}
	return b.String()
}
