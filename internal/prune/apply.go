package prune

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/policy"
)

// factsBytes is how much of facts one pack takes: what is gathered in memory.
const factsBytes = 64 << 20

// Applied is what a prune did.
type Applied struct {
	Plan      string `json:"plan_id"`
	Pruned    int    `json:"pruned_runs"`
	Thinned   int    `json:"thinned_runs"`
	Originals int    `json:"originals"` // that went
	Shared    int    `json:"shared"`    // that other runs keep
	Marked    int    `json:"marked"`    // that have marks where payloads were
	Left      int    `json:"left"`      // that keep payloads, because they cannot be marked
}

// Apply does what a plan says and nothing else. What a crash has left undone of it is done by applying it again.
// Errors: *ChangedError.
func (p *Pruner) Apply(ctx context.Context, plan *Plan) (*Applied, error) {
	s, err := p.survey(ctx, plan.Costs)
	if err != nil {
		return nil, err
	}
	done, err := p.done(ctx, plan.ID)
	if err != nil {
		return nil, err
	}
	if err := s.unchanged(plan, done, p.now); err != nil {
		return nil, err
	}
	orders, out := s.orders(plan, s.versions(plan.Runs), done)
	now := p.now()
	marked, err := p.mark(ctx, orders, out, now)
	if err != nil {
		return nil, err
	}
	orders = slices.DeleteFunc(orders, func(o index.LedgerOrder) bool { return marked[o.Version] })
	facts, err := p.policyFact(ctx, plan.Policy)
	if err != nil {
		return nil, err
	}
	size := 0
	flush := func() error {
		err := p.Write(ctx, facts)
		facts, size = nil, 0
		return err
	}
	const some = 64 // ledgers that are made in one go
	for some := range slices.Chunk(orders, some) {
		more, err := p.facts(ctx, some, plan.ID, now)
		if err != nil {
			return nil, err
		}
		facts = append(facts, more...)
		for _, f := range more {
			size += len(f.Value)
		}
		if size >= factsBytes {
			if err := flush(); err != nil {
				return nil, err
			}
		}
	}
	if len(facts) > 0 {
		if err := flush(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// facts are what stays of originals, and the tombstones of those that go.
func (p *Pruner) facts(ctx context.Context, orders []index.LedgerOrder, plan string, now time.Time) ([]blob.Fact, error) {
	ledgers, err := p.Index.Ledgers(ctx, orders)
	if err != nil {
		return nil, err
	}
	return factsOf(ledgers, plan, now)
}

func factsOf(ledgers []index.Ledger, plan string, now time.Time) (facts []blob.Fact, err error) {
	for i := range ledgers {
		l := &ledgers[i]
		f, err := l.Fact(now)
		if err != nil {
			return nil, err
		}
		facts = append(facts, f)
		if l.Buried {
			facts = append(facts, blob.Bury(&l.Version, plan).Fact(now))
		}
	}
	return facts, nil
}

// FactPolicy is the policy by which an archive was pruned last. Key: "policy". Value: {"text": YAML}.
const FactPolicy = "policy"

// policyFact keeps a policy that is not the one that is kept.
func (p *Pruner) policyFact(ctx context.Context, text string) ([]blob.Fact, error) {
	last, err := p.LastPolicy(ctx)
	if err != nil || text == "" || text == last {
		return nil, err
	}
	value, err := json.Marshal(map[string]string{"text": text})
	return []blob.Fact{{Kind: FactPolicy, Key: FactPolicy, Time: p.now(), Value: value}}, err
}

// LastPolicy is the text of the policy that was applied last, "" for none.
func (p *Pruner) LastPolicy(ctx context.Context) (text string, err error) {
	for f, err := range p.Index.Facts(ctx, FactPolicy) {
		if err != nil {
			return "", err
		}
		var value struct {
			Text string `json:"text"`
		}
		if err := json.Unmarshal(f.Value, &value); err != nil {
			return "", fmt.Errorf("read the last policy: %w", err)
		}
		text = value.Text
	}
	return text, nil
}

// doneParts are the versions of which a plan has pruned runs already, by run.
type doneParts map[string]map[index.VersionKey]bool

func (p *Pruner) done(ctx context.Context, plan string) (doneParts, error) {
	done := doneParts{}
	for g, err := range p.Index.Graves(ctx, "") {
		if err != nil {
			return nil, err
		}
		if g.Plan != plan {
			continue
		}
		if done[g.Run] == nil {
			done[g.Run] = map[index.VersionKey]bool{}
		}
		done[g.Run][g.Key] = true
	}
	return done, nil
}

// unchanged compares what a plan names with what is there now. Runs that the plan has begun to prune are not compared.
func (s *stand) unchanged(plan *Plan, done doneParts, now func() time.Time) error {
	e := &ChangedError{}
	for i := range plan.Runs {
		r := &plan.Runs[i]
		if done[r.RunID] != nil {
			continue
		}
		at, ok := s.byID[r.RunID]
		switch {
		case !ok:
			e.What = append(e.What, "run "+r.RunID+" is not there any more")
		case protection(&s.runs[at], now()) != "":
			e.What = append(e.What, "run "+r.RunID+" is now "+protection(&s.runs[at], now()))
		case s.state(at) != r.State:
			e.What = append(e.What, "run "+r.RunID+" is not what it was")
		}
	}
	if len(e.What) == 0 && len(done) == 0 {
		s.compareVersions(plan, e)
	}
	if len(e.What) > 0 {
		return e
	}
	return nil
}

// compareVersions finds originals that another set of runs holds now.
func (s *stand) compareVersions(plan *Plan, e *ChangedError) {
	now := s.versions(plan.Runs)
	same := func(a, b PlannedVersion) bool {
		return a.Source == b.Source && a.Path == b.Path && string(a.PathRaw) == string(b.PathRaw) && a.Number == b.Number && a.SHA256 == b.SHA256 &&
			a.Goes == b.Goes && slices.Equal(a.Runs, b.Runs)
	}
	if len(now) != len(plan.Versions) {
		e.What = append(e.What, fmt.Sprintf("the runs have %d originals, the plan names %d", len(now), len(plan.Versions)))
	}
	for i := range min(len(now), len(plan.Versions)) {
		if !same(now[i], plan.Versions[i]) {
			e.What = append(e.What, fmt.Sprintf("%s/%s is not held by the same runs any more", now[i].Source, now[i].Path))
			return
		}
	}
}

// orders says what is to happen to originals, and counts it.
func (s *stand) orders(plan *Plan, versions []PlannedVersion, done doneParts) ([]index.LedgerOrder, *Applied) {
	out := &Applied{Plan: plan.ID}
	for i := range plan.Runs {
		if plan.Runs[i].Action == policy.Prune {
			out.Pruned++
		} else {
			out.Thinned++
		}
	}
	planned := plan.byID()
	var orders []index.LedgerOrder
	for i := range versions {
		v := &versions[i]
		at := &s.Versions[v.at]
		key := index.VersionKey{Source: at.Source, Path: at.Path, Number: at.Number}
		if !slices.ContainsFunc(v.Runs, func(id string) bool { return !done[id][key] }) {
			continue
		}
		orders = append(orders, s.order(plan, planned, v))
		if v.Goes && !at.Buried {
			out.Originals++
		} else if !v.Goes {
			out.Shared++
		}
	}
	return orders, out
}

func (p *Plan) byID() map[string]*PlannedRun {
	all := make(map[string]*PlannedRun, len(p.Runs))
	for i := range p.Runs {
		all[p.Runs[i].RunID] = &p.Runs[i]
	}
	return all
}

// order says what is to happen to one original.
func (s *stand) order(plan *Plan, planned map[string]*PlannedRun, v *PlannedVersion) index.LedgerOrder {
	at := &s.Versions[v.at]
	o := index.LedgerOrder{Version: at.ID, Bury: v.Goes || at.Buried, Drop: map[string]bool{}}
	for _, id := range v.Runs {
		r := planned[id]
		o.Drop[id] = !r.Ledger
		o.Runs = append(o.Runs, index.LedgerRun{Run: id, Action: string(r.Action), Tier: string(r.Tier), Over: r.Over, Plan: plan.ID, Rule: r.Rule, Reason: reasonOf(r)})
	}
	return o
}

func reasonOf(r *PlannedRun) string {
	if len(r.Reasons) == 0 {
		return ""
	}
	return r.Reasons[0]
}
