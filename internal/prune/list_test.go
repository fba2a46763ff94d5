//go:build unix

package prune

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index/sqlite"
	"github.com/txarchive/txarchive/internal/policy"
)

// TestPlanHoldsLittle makes, saves, reads and applies a plan with memory for all of its records, for some and for
// one: the plan and its effect are the same, and the limit is respected.
func TestPlanHoldsLittle(t *testing.T) {
	db, err := sqlite.Open(t.Context(), manyRuns(t, 400, 2), sqlite.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	choice := Choice{By: "policy", AllowEmpty: true}
	if choice.Policy, err = policy.Parse([]byte(strings.Replace(benchPolicy, "300d", "1d", 1))); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	var whole, facts string
	for _, room := range []int{1 << 30, 2000, 1} {
		var done []string
		p := &Pruner{Index: db, BufferSize: room, Now: func() time.Time { return time.UnixMicro(1700000000000000 + 400*600000000) },
			Write: func(_ context.Context, all []blob.Fact) error {
				for _, f := range all {
					done = append(done, f.Kind+f.Key+string(f.Value))
				}
				return nil
			}}
		plan, err := p.Make(t.Context(), choice)
		if err != nil {
			t.Fatal(err)
		}
		if n := plan.Runs.Len(); n < 100 || n > 390 || plan.Pruned() != n || plan.Kept != 400-n {
			t.Fatalf("%d of 400 runs go, %d are kept", n, plan.Kept)
		}
		if len(plan.Runs.tail) > room || len(plan.Versions.tail) > room || len(plan.Runs.read) > 2*listReadSize {
			t.Errorf("with room for %d bytes %d of runs are held, %d of originals, and %d read", room, len(plan.Runs.tail), len(plan.Versions.tail), len(plan.Runs.read))
		}
		plan.Frees = Frees{} // names of packs, which are random, are weighed, too
		text := written(t, plan)
		saved, err := p.ReadPlan(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if whole == "" {
			whole = text
			for _, edit := range [][2]string{{`"ledger":true`, `"ledger":false`}, {`"over":0`, `"over":1`}, {`"action":"prune"`, `"action":"thin"`}} {
				edited := strings.Replace(text, edit[0], edit[1], 1)
				if _, err := p.ReadPlan(strings.NewReader(edited)); err == nil || edited == text {
					t.Errorf("a plan with %s is taken for one with %s", edit[1], edit[0])
				}
			}
		}
		if again := written(t, saved); text != whole || again != text {
			t.Errorf("with room for %d bytes another plan is made or read", room)
		}
		if a, b := newest(t, plan, 100), newest(t, saved, 100); len(a) != 100 || !slices.IsSortedFunc(a, func(a, b time.Time) int { return b.Compare(a) }) || !slices.Equal(a, b) {
			t.Errorf("with room for %d bytes not the newest runs come first: %v, read %v", room, a, b)
		}
		if _, err := p.Apply(t.Context(), saved); err != nil {
			t.Fatal(err)
		}
		slices.Sort(done)
		if facts == "" {
			facts = strings.Join(done, "\n")
		}
		if len(done) < plan.Runs.Len() || strings.Join(done, "\n") != facts {
			t.Errorf("with room for %d bytes the plan writes %d other facts", room, len(done))
		}
		for _, x := range []*Plan{plan, saved} {
			if err := x.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("%d files are left, %v", len(left), err)
	}
}

// newest returns when the runs started that are shown first.
func newest(t *testing.T, plan *Plan, n int) (all []time.Time) {
	t.Helper()
	for r, err := range plan.NewestFirst(n) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, *r.Started)
	}
	return all
}

func written(t *testing.T, plan *Plan) string {
	t.Helper()
	var b bytes.Buffer
	if err := plan.Write(&b, func(x any) string {
		data, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}, "\n"); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestChangedPlan checks that plans which were edited, or are not plans, are refused.
func TestChangedPlan(t *testing.T) {
	db, err := sqlite.Open(t.Context(), manyRuns(t, 20, 1), sqlite.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	p := &Pruner{Index: db, Now: func() time.Time { return time.UnixMicro(1800000000000000) }}
	choice := Choice{By: "policy", AllowEmpty: true}
	if choice.Policy, err = policy.Parse([]byte("version: 1\nrules: [{name: all, action: prune}]")); err != nil {
		t.Fatal(err)
	}
	plan, err := p.Make(t.Context(), choice)
	if err != nil {
		t.Fatal(err)
	}
	text := written(t, plan)
	if err := plan.Close(); err != nil {
		t.Fatal(err)
	}
	for change, want := range map[string][2]string{
		"a run that is thinned":    {`"action":"prune","tier":null`, `"action":"thin","tier":"search"`},
		"another state":            {`"state":"`, `"state":"00`},
		"a state that is none":     {`"state":"`, `"state":"x`},
		"a newer format":           {`"format":1,`, `"format":2,`},
		"another time":             {`"created":"20`, `"created":"19`},
		"no plan":                  {text, `{}`},
		"a list that is an object": {`"runs":[`, `"runs":{`},
		"half a plan":              {text[len(text)/2:], ""},
		"two plans":                {text, text + text},
	} {
		changed, err := p.ReadPlan(strings.NewReader(strings.Replace(text, want[0], want[1], 1)))
		if err == nil {
			t.Errorf("%s: it is taken", change)
			_ = changed.Close() // it has failed already
		}
	}
}
