package policy

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/seedtest"
	"github.com/txarchive/txarchive/internal/transcript"
)

const mixed = `
rules:
  - {name: keepers, match: {tag: [golden, "keep-*"]}, action: keep}
  - {name: stubs, match: {model: "*-stub", older_than: 3d}, action: prune, children: stay}
  - {name: threads, match: {format: leslie}, per: thread, keep_last: 5, action: prune}
  - name: flows
    match: {format: flow-studio, not: {flow: "x*"}}
    per: flow
    keep_within: 5d
    max_age: 60d
    max_count: 40
    max_bytes: 1MB
    except: [{match: {agent: "a1*"}, max_age: 90d}]
    action: thin
    tier: payloads
  - name: rest
    keep_last: 3
    per: project
    tiers:
      - {after: 10d, action: thin, tier: search}
      - {after: 40d, action: thin, tier: ledger}
      - {after: 80d, action: prune}
`

func randomRuns(rng *rand.Rand, n int) []Run {
	pick := func(words ...string) string { return words[rng.IntN(len(words))] }
	runs := make([]Run, n)
	for i := range runs {
		r := &runs[i]
		*r = Run{
			ID: fmt.Sprintf("run-%06d", i), Native: fmt.Sprintf("%s-%d", pick("stepwise", "baseline", "run"), i),
			Format: pick("leslie", "flow-studio", "devflow", "claude-code"), Source: pick("s1", "s2"),
			Group: fmt.Sprintf("T-%d", rng.IntN(1+n/20)), Project: fmt.Sprintf("/src/p%d/app", rng.IntN(30)),
			Flow: pick("build", "plan", "xray", ""), Agent: fmt.Sprintf("a%d", rng.IntN(20)),
			Outcome: transcript.Outcome(pick("succeeded", "failed", "running", "")), Model: pick("claude-stub", "openai/gpt-5", "m"),
			Title: pick("Fix the login", "WIP", "Überarbeiten von a/b"), Bytes: rng.Int64N(100_000),
			Thinned: Tier(pick("", "", "", "search", "ledger")), Pinned: rng.IntN(50) == 0,
		}
		if rng.IntN(20) > 0 {
			r.Started = now.Add(-time.Duration(rng.Int64N(int64(120 * day))))
			r.LastActivity = r.Started.Add(time.Duration(rng.Int64N(int64(day))))
		}
		if rng.IntN(10) == 0 {
			r.Tags = []string{pick("golden", "keep-1", "x")}
		}
		if rng.IntN(40) == 0 {
			r.Holds = []Hold{{Owner: "o", Expires: now.Add(time.Duration(rng.Int64N(int64(20*day))) - 10*day)}}
		}
		if rng.IntN(4) == 0 {
			r.Parent = fmt.Sprintf("run-%06d", rng.IntN(n)) // circles and selves too
		}
	}
	return runs
}

// On random runs: one decision each, pins and holds win, nothing depends on the order of the runs, and Apply
// changes none of them.
func TestProperties(t *testing.T) {
	p, err := Parse([]byte(mixed))
	if err != nil {
		t.Fatal(err)
	}
	for range 30 {
		rng := seedtest.Rand(t)
		runs := randomRuns(rng, 1+rng.IntN(400))
		before := slices.Clone(runs)
		ds := apply(p, runs, now)
		if !reflect.DeepEqual(runs, before) {
			t.Fatalf("Apply changed the runs")
		}
		byID := map[string]Decision{}
		for i, d := range ds {
			checkDecision(t, &runs[i], d)
			byID[d.RunID] = d
		}
		rng.Shuffle(len(runs), func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
		for _, d := range apply(p, runs, now) {
			if !reflect.DeepEqual(d, byID[d.RunID]) {
				t.Fatalf("another order of runs, another decision:\n%+v\n%+v", byID[d.RunID], d)
			}
		}
	}
}

func checkDecision(t *testing.T, r *Run, d Decision) {
	t.Helper()
	held := r.Pinned
	for _, h := range r.Holds {
		held = held || h.Expires.After(now)
	}
	switch {
	case d.RunID != r.ID || len(d.Reasons) == 0:
		t.Fatalf("%+v for %s", d, r.ID)
	case held && d.Action != Keep:
		t.Fatalf("a pinned or held run goes: %+v", d)
	case d.Action != Keep && d.Rule == "":
		t.Fatalf("no rule: %+v", d)
	case (d.Action == Thin) != (d.Tier != "") || d.Action == Keep && d.Bytes != 0:
		t.Fatalf("inconsistent: %+v", d)
	case d.Action == Prune && d.Bytes != r.Bytes:
		t.Fatalf("%d bytes of %d go: %+v", d.Bytes, r.Bytes, d)
	case !d.Until.IsZero() && !d.Until.After(now):
		t.Fatalf("until is past: %+v", d)
	}
}

// Until is when the decision changes, not sooner: just before it the decision is the same.
func TestUntil(t *testing.T) {
	p, err := Parse([]byte(`rules: [{name: a, match: {tag: x}, max_age: 10d, action: prune}, {name: b, match: {older_than: 20d}, action: prune},
		{name: c, match: {format: f}, except: [{match: {}, keep_within: 9d}], tiers: [{after: 3d, action: thin, tier: search}, {after: 12d, action: prune}]}]`))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []Run{
		{ID: "limit", Tags: []string{"x"}, Started: now.Add(-8 * day)},
		{ID: "match", Started: now.Add(-8 * day)},
		{ID: "within", Format: "f", Started: now.Add(-8 * day)},
		{ID: "tier", Format: "f", Started: now.Add(-10 * day)},
		{ID: "hold", Started: now.Add(-100 * day), Holds: []Hold{{Expires: now.Add(5 * day)}}},
	} {
		d := apply(p, []Run{r}, now)[0]
		if d.Until.IsZero() {
			t.Errorf("%s: no time", r.ID)
			continue
		}
		before := apply(p, []Run{r}, d.Until.Add(-1))[0]
		after := apply(p, []Run{r}, d.Until.Time)[0]
		if before.Action != d.Action || before.Tier != d.Tier {
			t.Errorf("%s: changes before %v: %+v", r.ID, d.Until, before)
		}
		if after.Action == d.Action && after.Tier == d.Tier {
			t.Errorf("%s: does not change at %v: %+v", r.ID, d.Until, after)
		}
	}
}

func TestEmptied(t *testing.T) {
	p, err := Parse([]byte(`rules: [{name: a, match: {format: leslie}, per: thread, max_age: 10d, max_count: 9, action: prune}]`))
	if err != nil {
		t.Fatal(err)
	}
	old, young := now.Add(-30*day), now.Add(-day)
	groups := Groups{}
	for _, d := range apply(p, []Run{
		{ID: "1", Format: "leslie", Group: "A", Started: old}, {ID: "2", Format: "leslie", Group: "A", Started: old},
		{ID: "3", Format: "leslie", Group: "B", Started: old}, {ID: "4", Format: "leslie", Group: "B", Started: young},
		{ID: "5", Format: "leslie", Group: "C", Started: old}, {ID: "6", Format: "leslie", Group: "C", Started: old, Pinned: true},
	}, now) {
		groups.Add(&d)
	}
	got := groups.Emptied()
	if s := strings.Join(got, "; "); s != "leslie thread A" {
		t.Errorf("got %q", s)
	}
}

// A hundred thousand runs are decided on within a fraction of the two seconds that a plan may take.
func BenchmarkApply(b *testing.B) {
	p, err := Parse([]byte(mixed))
	if err != nil {
		b.Fatal(err)
	}
	runs := randomRuns(rand.New(rand.NewPCG(1, 1)), 100_000)
	for b.Loop() {
		if ds := apply(p, runs, now); len(ds) != len(runs) {
			b.Fatal(len(ds))
		}
	}
}

// apply decides on every run, in the order of runs.
func apply(p *Policy, runs []Run, now time.Time) []Decision {
	all := newListed(runs)
	out := make([]Decision, len(runs))
	_ = p.Decide(all, now, func(i int, _ *Run, d *Decision) error { // which ends in no error, for neither of these does
		out[all.order[i]] = *d
		return nil
	})
	return out
}

// listed are Runs in memory.
type listed struct {
	runs  []Run
	order []int // places in runs, by id
	byID  map[string]int
}

func newListed(runs []Run) *listed {
	l := &listed{runs: runs, order: make([]int, len(runs)), byID: make(map[string]int, len(runs))}
	for i := range l.order {
		l.order[i] = i
	}
	slices.SortStableFunc(l.order, func(i, j int) int { return strings.Compare(runs[i].ID, runs[j].ID) })
	for number, i := range l.order {
		l.byID[runs[i].ID] = number
	}
	return l
}

func (l *listed) Len() int { return len(l.runs) }

func (l *listed) Each(do func(i, parent int, r *Run) error) error {
	for number, i := range l.order {
		r, parent := &l.runs[i], -1
		if up, ok := l.byID[r.Parent]; ok && r.Parent != "" {
			parent = up
		}
		if err := do(number, parent, r); err != nil {
			return err
		}
	}
	return nil
}
