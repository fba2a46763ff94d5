package prune

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/policy"
)

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
