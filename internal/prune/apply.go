package prune

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/policy"
)

// factsBytes is how much memory the facts of one pack take while they are gathered, and factBytes one of them besides its text.
const (
	factsBytes = 24 << 20
	factBytes  = 200
)

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
	versions, done, err := p.compare(ctx, plan)
	if err != nil {
		return nil, err
	}
	out := plan.applied()
	todo := plan.todo(versions, done, out)
	now := p.now()
	planned := plan.byID()
	marked, err := p.mark(ctx, plan.toMark(planned, todo), out, now)
	if err != nil {
		return nil, err
	}
	todo = slices.DeleteFunc(todo, func(v *PlannedVersion) bool { return marked[v.id] })
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
	for some := range slices.Chunk(todo, some) {
		more, err := p.facts(ctx, plan.orders(planned, some), plan.ID, now)
		if err != nil {
			return nil, err
		}
		facts = append(facts, more...)
		for _, f := range more {
			size += len(f.Key) + len(f.Value) + factBytes
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

// compare compares what a plan names with what is there now. Runs that the plan has begun to prune are not compared. It gives the
// originals as they are now, and what of them is done.
func (p *Pruner) compare(ctx context.Context, plan *Plan) (now []PlannedVersion, done doneParts, err error) {
	s, err := p.survey(ctx, plan.Costs)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if done, err = p.done(ctx, plan.ID); err != nil {
		return nil, nil, err
	}
	e := &ChangedError{}
	runs, err := s.again(plan, done, p.now(), e)
	if err != nil {
		return nil, nil, err
	}
	if now, err = s.versions(runs); err != nil {
		return nil, nil, err
	}
	was := plan.byID()
	for i := range runs {
		if r := &runs[i]; done[r.RunID] == nil && hex.EncodeToString(r.said[:8]) != was[r.RunID].State {
			e.What = append(e.What, "run "+r.RunID+" is not what it was")
		}
	}
	if len(e.What) == 0 && len(done) == 0 {
		compareVersions(now, plan, e)
	}
	if len(e.What) > 0 {
		return nil, nil, e
	}
	return now, done, nil
}

// again finds the runs of a plan as they are now, and what of them keeps it from being applied.
func (s *stand) again(plan *Plan, done doneParts, now time.Time, e *ChangedError) ([]PlannedRun, error) {
	was := plan.byID()
	runs := make([]PlannedRun, 0, len(plan.Runs))
	if err := s.Each(func(number, _ int, r *policy.Run) error {
		if x := was[r.ID]; x != nil {
			runs = append(runs, s.planned(number, r, &x.Decision))
			if why := protection(r, now); why != "" && done[r.ID] == nil {
				e.What = append(e.What, "run "+r.ID+" is now "+why)
			}
		}
		return nil
	}); err != nil {
		return nil, err
	}
	if len(runs) == len(plan.Runs) {
		return runs, nil
	}
	there := map[string]bool{}
	for i := range runs {
		there[runs[i].RunID] = true
	}
	for i := range plan.Runs {
		if id := plan.Runs[i].RunID; !there[id] && done[id] == nil {
			e.What = append(e.What, "run "+id+" is not there any more")
		}
	}
	return runs, nil
}

// compareVersions finds originals that another set of runs holds now.
func compareVersions(now []PlannedVersion, plan *Plan, e *ChangedError) {
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

// applied is what a plan does to runs.
func (p *Plan) applied() *Applied {
	out := &Applied{Plan: p.ID}
	for i := range p.Runs {
		if p.Runs[i].Action == policy.Prune {
			out.Pruned++
		} else {
			out.Thinned++
		}
	}
	return out
}

// todo is the originals of which not all is done yet. It counts them.
func (p *Plan) todo(versions []PlannedVersion, done doneParts, out *Applied) (todo []*PlannedVersion) {
	for i := range versions {
		v := &versions[i]
		key := index.VersionKey{Source: v.Source, Path: v.name(), Number: v.Number}
		if !slices.ContainsFunc(v.Runs, func(id string) bool { return !done[id][key] }) {
			continue
		}
		todo = append(todo, v)
		if v.Goes && !v.buried {
			out.Originals++
		} else if !v.Goes {
			out.Shared++
		}
	}
	return todo
}

// toMark is what is to happen to originals of which payloads go.
func (p *Plan) toMark(planned map[string]*PlannedRun, versions []*PlannedVersion) []index.LedgerOrder {
	return p.orders(planned, slices.DeleteFunc(slices.Clone(versions), func(v *PlannedVersion) bool {
		return !slices.ContainsFunc(v.Runs, func(id string) bool { return planned[id].Tier == policy.TierPayloads })
	}))
}

func (p *Plan) orders(planned map[string]*PlannedRun, versions []*PlannedVersion) (all []index.LedgerOrder) {
	for _, v := range versions {
		all = append(all, p.order(planned, v))
	}
	return all
}

func (p *Plan) byID() map[string]*PlannedRun {
	all := make(map[string]*PlannedRun, len(p.Runs))
	for i := range p.Runs {
		all[p.Runs[i].RunID] = &p.Runs[i]
	}
	return all
}

// order says what is to happen to one original.
func (p *Plan) order(planned map[string]*PlannedRun, v *PlannedVersion) index.LedgerOrder {
	o := index.LedgerOrder{Version: v.id, Bury: v.Goes || v.buried, Drop: map[string]bool{}}
	for _, id := range v.Runs {
		r := planned[id]
		o.Drop[id] = !r.Ledger
		o.Runs = append(o.Runs, index.LedgerRun{Run: id, Action: string(r.Action), Tier: string(r.Tier), Over: r.Over, Plan: p.ID, Rule: r.Rule, Reason: reasonOf(r)})
	}
	return o
}

func reasonOf(r *PlannedRun) string {
	if len(r.Reasons) == 0 {
		return ""
	}
	return r.Reasons[0]
}
