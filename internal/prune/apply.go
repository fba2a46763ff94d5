package prune

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/policy"
	"github.com/txarchive/txarchive/internal/prune/gc"
)

// Applied is what a prune did.
type Applied struct {
	Plan      string `json:"plan_id"`
	Pruned    int    `json:"pruned_runs"`
	Thinned   int    `json:"thinned_runs"`
	Originals int    `json:"originals"` // that were removed
	Shared    int    `json:"shared"`    // that other runs keep
	Marked    int    `json:"marked"`    // that now have marks in place of payloads
	Left      int    `json:"left"`      // that keep payloads, because they cannot be marked
}

// Apply does exactly what a plan says. Applying it again completes what a crash has left undone. Errors:
// *ChangedError.
func (p *Pruner) Apply(ctx context.Context, plan *Plan) (out *Applied, err error) {
	w := &work{Pruner: p, plan: plan, now: p.now()}
	defer func() { err = errors.Join(err, w.versions.close()) }()
	if err := w.compare(ctx); err != nil {
		return nil, err
	}
	if err := p.EndUndo(ctx); err != nil {
		return nil, err
	}
	if out, err = w.applied(); err != nil {
		return nil, err
	}
	orders, err := w.toMark()
	if err != nil {
		return nil, err
	}
	marked, err := p.mark(ctx, orders, out, w.now)
	if err != nil {
		return nil, err
	}
	return out, w.writeFacts(ctx, marked)
}

// work is a plan being applied, with its originals in their present state.
type work struct {
	*Pruner
	plan     *Plan
	now      time.Time
	versions List[PlannedVersion]
	held     []heldVersion
	earlier  map[index.VersionKey]bool // versions that the plan removes as earlier ones of runs that stay; nil if there are none
	families []int32                   // by position of a run (see held.run): the position of the first run of its family
	position []int32                   // of the plan's runs, for families; -1 if a run is gone
	done     progress
}

// maxFamilyFacts is the size of facts beyond which families are split.
const maxFamilyFacts = 4 * gc.FactsBytes

// writeFacts writes the ledgers and tombstones of originals, except those that are done, in batches of whole
// families. What is known of an original may be stated in another original of its run, such as the model of a receipt
// in a transcript, or in one of a run that it was forked from, such as which lines are copies. That would be lost if
// the other original were removed first.
func (w *work) writeFacts(ctx context.Context, done map[int64]bool) error {
	facts, err := w.policyFact(ctx, string(w.plan.Policy))
	if err != nil {
		return err
	}
	size, run := 0, int32(-1)
	limit, batch := w.factsBudget()
	var orders []index.LedgerOrder
	ledgers := func() error {
		more, err := w.facts(ctx, orders, w.plan.ID, w.now)
		for _, f := range more {
			size += len(f.Key) + len(f.Value) + gc.FactBytes
		}
		facts, orders = append(facts, more...), orders[:0]
		return err
	}
	flush := func() error {
		if err := ledgers(); err != nil || len(facts) == 0 {
			return err
		}
		err := w.Write(ctx, facts)
		facts, size = nil, 0
		return err
	}
	order, err := w.indexOrder()
	if err != nil {
		return err
	}
	if err := w.todoIn(order, func(v *PlannedVersion, h heldVersion) error {
		if done[h.id] {
			return nil
		}
		if run >= 0 && size >= limit && (w.families[run] != w.families[h.run] || run != h.run && size >= maxFamilyFacts) {
			if err := flush(); err != nil {
				return err
			}
		}
		run = h.run
		o, err := w.plan.order(v, h)
		if orders = append(orders, o); err != nil || len(orders) < batch {
			return err
		}
		return ledgers()
	}); err != nil {
		return err
	}
	return flush()
}

// facts returns the ledgers of originals, and the tombstones of those that are removed.
func (p *Pruner) facts(ctx context.Context, orders []index.LedgerOrder, plan string, now time.Time) ([]blob.Fact, error) {
	ledgers, err := p.Index.Ledgers(ctx, orders)
	if err != nil {
		return nil, err
	}
	return factsOf(ledgers, orders, plan, now)
}

// factsOf returns the facts for ledgers, which are parallel to orders. A version that had a tombstone before gets no
// second one: if that tombstone was retracted, the same content is in a later version.
func factsOf(ledgers []index.Ledger, orders []index.LedgerOrder, plan string, now time.Time) (facts []blob.Fact, err error) {
	for i := range ledgers {
		l := &ledgers[i]
		f, err := l.Fact(now)
		if err != nil {
			return nil, err
		}
		facts = append(facts, f)
		if l.Tombstoned && !orders[i].Tombstoned {
			t := blob.NewTombstone(&l.Version, plan)
			if slices.ContainsFunc(orders[i].Runs, func(r index.LedgerRun) bool { return r.Tier == index.LedgerVersions }) {
				t.Superseded = l.Newest
			}
			facts = append(facts, t.Fact(now))
		}
	}
	return facts, nil
}

// FactPolicy is the kind of the fact that records the policy by which an archive was last pruned. Key: "policy".
// Value: {"text": YAML}.
const FactPolicy = "policy"

// policyFact returns the fact that records a policy, if it differs from the recorded one.
func (p *Pruner) policyFact(ctx context.Context, text string) ([]blob.Fact, error) {
	last, err := p.LastPolicy(ctx)
	if err != nil || text == "" || text == last {
		return nil, err
	}
	value, err := json.Marshal(map[string]string{"text": text})
	return []blob.Fact{{Kind: FactPolicy, Key: FactPolicy, Time: p.now(), Value: value}}, err
}

// LastPolicy returns the text of the policy that was applied last, "" for none.
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

// progress is what of a plan has been done already.
type progress struct {
	begun []bool              // parallel to the plan's runs
	parts map[uint64]struct{} // hashes of pairs of run and version
}

func (d *progress) add(run string, key index.VersionKey) {
	d.parts[d.hash(run, key)] = struct{}{}
}

func (d *progress) has(run string, key index.VersionKey) bool {
	_, ok := d.parts[d.hash(run, key)]
	return ok
}

func (*progress) hash(run string, key index.VersionKey) uint64 {
	return maphash.Comparable(hashSeed, struct {
		run string
		key index.VersionKey
	}{run, key})
}

func (w *work) readDone(ctx context.Context) error {
	w.done = progress{make([]bool, len(w.plan.runs)), map[uint64]struct{}{}}
	for g, err := range w.Index.PrunedVersions(ctx, "") {
		if err != nil {
			return err
		}
		if g.Plan != w.plan.ID {
			continue
		}
		w.done.add(g.Run, g.Key)
		if i, ok := w.plan.find(g.Run); ok {
			w.done.begun[i] = true
		}
	}
	return nil
}

// compare compares what the plan names with the present state. Runs that the plan has begun to prune are not
// compared; of the others, only what pruning these cannot have changed.
func (w *work) compare(ctx context.Context) (err error) {
	s, err := w.snapshot(ctx, index.InventoryOptions{Costs: w.plan.Costs, Superseded: w.plan.thinsVersions()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := w.readDone(ctx); err != nil {
		return err
	}
	e := &ChangedError{}
	runs, err := w.currentRuns(s, e)
	if err != nil {
		return err
	}
	w.versions.limit = w.BufferSize
	if w.held, err = s.versions(runs, &w.versions); err != nil {
		return err
	}
	for i := range runs {
		r := &runs[i]
		if at, _ := w.plan.find(r.id); !w.done.begun[at] && !r.matches(&w.plan.runs[at], len(w.done.parts) > 0) {
			e.add("run " + r.id + " has changed")
		}
	}
	if err := w.readEarlier(); err != nil {
		return err
	}
	if len(e.What) == 0 && len(w.done.parts) == 0 {
		if err := compareVersions(&w.versions, &w.plan.Versions, e); err != nil {
			return err
		}
	}
	if len(e.What) > 0 {
		return e
	}
	return nil
}

// readEarlier reads which versions the plan removes as earlier ones of runs that stay. Such a run may have got others since it was begun.
func (w *work) readEarlier() error {
	if !w.plan.thinsVersions() {
		return nil
	}
	w.earlier = map[index.VersionKey]bool{}
	for v, err := range w.plan.Versions.All() {
		if err != nil {
			return err
		}
		if v.Goes && w.plan.thinsTo(v, func(r *runState) bool { return r.versions }) {
			w.earlier[index.VersionKey{Source: v.Source, Path: v.name(), Number: v.Number}] = true
		}
	}
	return nil
}

// currentRuns returns the runs of the plan in their present state, and records in e what prevents the plan from being
// applied.
func (w *work) currentRuns(s *snapshot, e *ChangedError) ([]runState, error) {
	now := make([]runState, 0, len(w.plan.runs))
	w.position = slices.Repeat([]int32{-1}, len(w.plan.runs))
	first := make([]int32, s.Len()) // by family: the position in now of its first run, plus 1
	if err := s.Each(func(number, _ int, r *policy.Run) error {
		at, ok := w.plan.find(r.ID)
		if !ok {
			return nil
		}
		was, family := &w.plan.runs[at], s.current.Family
		if first[family] == 0 {
			first[family] = int32(len(now) + 1)
		}
		w.families = append(w.families, first[family]-1)
		w.position[at] = int32(len(now))
		now = append(now, runState{id: was.id, hash: stateOf(r), number: int32(number), ends: was.ends, versions: was.versions})
		if why := protection(r, w.now); why != "" && !w.done.begun[at] {
			e.add("run " + r.ID + " is now " + why)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	for at, position := range w.position {
		if position < 0 && !w.done.begun[at] {
			e.add("run " + w.plan.runs[at].id + " no longer exists")
		}
	}
	return now, nil
}

// compareVersions finds originals that are now held by a different set of runs.
func compareVersions(now, was *List[PlannedVersion], e *ChangedError) error {
	if now.Len() != was.Len() {
		e.add(fmt.Sprintf("the runs have %d originals, the plan names %d", now.Len(), was.Len()))
	}
	for i := range min(now.Len(), was.Len()) {
		a, err := now.get(i)
		if err != nil {
			return err
		}
		b, err := was.get(i)
		if err != nil {
			return err
		}
		if !a.same(b) {
			e.add(fmt.Sprintf("%s/%s no longer belongs to the same runs", a.Source, a.Path))
			return nil
		}
	}
	return nil
}

func (v *PlannedVersion) same(w *PlannedVersion) bool {
	return v.Source == w.Source && v.Path == w.Path && string(v.PathRaw) == string(w.PathRaw) && v.Number == w.Number && v.SHA256 == w.SHA256 &&
		v.Goes == w.Goes && slices.Equal(v.Runs, w.Runs)
}

// applied counts what the plan does to runs, and to the originals that are not completely done yet.
func (w *work) applied() (*Applied, error) {
	out := &Applied{Plan: w.plan.ID, Pruned: w.plan.Pruned()}
	out.Thinned = w.plan.Runs.Len() - out.Pruned
	return out, w.todo(func(v *PlannedVersion, h heldVersion) error {
		if v.Goes && !h.tombstoned {
			out.Originals++
		} else if !v.Goes {
			out.Shared++
		}
		return nil
	})
}

// indexOrder returns the positions of the originals, which the plan has ordered by name, in the order family by
// family, run by run, and by index id. What is written together is then close together in the index. In the order of
// names, each original would load and write other pages of the index.
func (w *work) indexOrder() ([]int32, error) {
	all, first := make([]int32, len(w.held)), make([]int64, len(w.families))
	for i, h := range w.held {
		all[i] = int32(i)
		if at := &first[w.families[h.run]]; *at == 0 || h.id < *at {
			*at = h.id
		}
	}
	compare := func(a, b int32) int { // runs
		f, g := w.families[a], w.families[b]
		return cmp.Or(cmp.Compare(first[f], first[g]), cmp.Compare(f, g), cmp.Compare(a, b))
	}
	if err := w.giveShared(compare); err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b int32) int {
		x, y := w.held[a], w.held[b]
		return cmp.Or(compare(x.run, y.run), cmp.Compare(x.id, y.id))
	})
	return all, nil
}

// giveShared assigns what several runs of the plan have to the first of them to go. If the plan is interrupted then, those that are left
// still have originals of their own. A run that is gone without a ledger would not be found in what it shares.
func (w *work) giveShared(compare func(a, b int32) int) error {
	for i := range w.held {
		v, err := w.versions.get(i)
		if err != nil {
			return err
		}
		for _, id := range v.Runs {
			at, _ := w.plan.find(id)
			if run := w.position[at]; compare(run, w.held[i].run) < 0 {
				w.held[i].run = run
			}
		}
	}
	return nil
}

// todo calls do for the originals that are not completely done yet.
func (w *work) todo(do func(*PlannedVersion, heldVersion) error) error { return w.todoIn(nil, do) }

// todoIn is todo in a given order of positions; nil means by name.
func (w *work) todoIn(order []int32, do func(*PlannedVersion, heldVersion) error) error {
	for n := range w.versions.Len() {
		i := n
		if order != nil {
			i = int(order[n])
		}
		v, err := w.versions.get(i)
		if err != nil {
			return err
		}
		key := index.VersionKey{Source: v.Source, Path: v.name(), Number: v.Number}
		if w.earlier != nil && !w.earlier[key] && w.plan.thinsTo(v, func(r *runState) bool { return r.versions }) {
			continue
		}
		if slices.ContainsFunc(v.Runs, func(id string) bool { return !w.done.has(id, key) }) {
			if err := do(v, w.held[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// toMark returns the orders for originals that lose payloads.
func (w *work) toMark() (orders []index.LedgerOrder, err error) {
	if !w.plan.dropsPayloads() {
		return nil, nil
	}
	err = w.todo(func(v *PlannedVersion, h heldVersion) error {
		if !w.plan.marks(v) {
			return nil
		}
		o, err := w.plan.order(v, h)
		orders = append(orders, o)
		return err
	})
	return orders, err
}

// find returns the position of a run of the plan.
func (p *Plan) find(id string) (int, bool) {
	return slices.BinarySearchFunc(p.runs, id, func(r runState, id string) int { return strings.Compare(r.id, id) })
}

// thinsVersions reports whether any run of the plan loses its earlier versions.
func (p *Plan) thinsVersions() bool {
	return slices.ContainsFunc(p.runs, func(r runState) bool { return r.versions })
}

// dropsPayloads reports whether any run of the plan loses its payloads.
func (p *Plan) dropsPayloads() bool {
	return slices.ContainsFunc(p.runs, func(r runState) bool { return r.payloads })
}

// marks reports whether the original is held by a run that loses its payloads.
func (p *Plan) marks(v *PlannedVersion) bool {
	return p.thinsTo(v, func(r *runState) bool { return r.payloads })
}

// thinsTo reports whether the original is held by a run of the plan that is thinned in some way.
func (p *Plan) thinsTo(v *PlannedVersion, how func(*runState) bool) bool {
	return slices.ContainsFunc(v.Runs, func(id string) bool {
		at, ok := p.find(id)
		return ok && how(&p.runs[at])
	})
}

// order returns what is to be done to one original.
func (p *Plan) order(v *PlannedVersion, h heldVersion) (index.LedgerOrder, error) {
	o := index.LedgerOrder{Version: h.id, Tombstone: v.Goes || h.tombstoned, Tombstoned: h.tombstoned, Drop: map[string]bool{}}
	for _, id := range v.Runs {
		at, _ := p.find(id)
		r, err := p.Runs.get(at)
		if err != nil {
			return o, err
		}
		o.Drop[id] = !r.Ledger
		o.Runs = append(o.Runs, index.LedgerRun{Run: id, Action: string(r.Action), Tier: string(r.Tier), Over: r.Over, Plan: p.ID, Rule: string(r.Rule), Reason: reasonOf(r)})
	}
	return o, nil
}

func reasonOf(r *PlannedRun) string {
	if len(r.Reasons) == 0 {
		return ""
	}
	return r.Reasons[0]
}
