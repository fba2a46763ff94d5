package prune

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/index"
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
	if err := w.writeFacts(ctx, marked); err != nil || p.Adopt == nil {
		return out, err
	}
	return out, p.Adopt(ctx) // a copy may have left its rows to what is gone now: they are made from its pack
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
