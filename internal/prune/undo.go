package prune

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/prune/gc"
)

// Undone is what an undo restored.
type Undone struct {
	Runs      []string `json:"run_ids"`
	Gone      []string `json:"gone_run_ids"` // runs of the plans that stay pruned: gc has removed their bytes
	Resumed   []string `json:"resumed"`      // plans and runs whose undo was interrupted, and is finished now
	Originals int      `json:"originals"`
	Marked    int      `json:"marked"` // originals that keep their marks: gc has removed the payloads, or other runs lost them, too
	Rivals    int      `json:"rivals"` // originals that have another one beside them: of the two, the index has one
}

// undoKey is the key under which the index keeps which plans and runs an undo restores, until EndUndo.
const undoKey = "undo begun"

// Undo reverts plans, or what was done to runs: names contains ids of plans, of runs, or both; if it is empty, Undo
// finishes an undo that was interrupted, or else reverts the newest plan. The caller must parse the versions again to
// restore the rows of the index, and then call EndUndo. After a crash some originals may not be restored yet: repeating
// the call continues. Errors: ErrNothing; ErrGone, if gc has removed bytes of a run that names contains, or of all runs.
// Another run is left out: an earlier plan may have thinned it to its ledger, long before the plan.
func (p *Pruner) Undo(ctx context.Context, names []string) (*Undone, error) {
	rivals, err := p.displaced(ctx)
	if err != nil {
		return nil, err
	}
	out := &Undone{Runs: []string{}, Gone: []string{}, Resumed: []string{}}
	if len(names) == 0 {
		if names, err = p.interrupted(ctx); err != nil {
			return nil, err
		}
		out.Resumed = append(out.Resumed, names...)
	}
	if len(names) == 0 {
		newest, err := p.newest(ctx, rivals)
		if err != nil {
			return nil, err
		}
		names = []string{newest}
	}
	back, err := p.runsToRestore(ctx, names, rivals, len(out.Resumed) > 0)
	if errors.Is(err, ErrNothing) && len(out.Resumed) > 0 { // only the index was behind
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	if out.Gone, err = p.leaveGone(ctx, back, names, rivals); err != nil {
		return nil, err
	}
	out.Runs = slices.AppendSeq(make([]string, 0, len(back)), maps.Keys(back))
	slices.Sort(out.Runs)
	if err := p.Index.Remember(ctx, undoKey, strings.Join(names, " ")); err != nil {
		return nil, err
	}
	done, err := p.unmark(ctx, back, out)
	if err != nil {
		return nil, err
	}
	if out.Rivals, err = p.restoreDisplaced(ctx, rivals, back, names); err != nil {
		return nil, err
	}
	out.Originals = len(done) + out.Rivals
	return out, p.restore(ctx, back, done, out)
}

// interrupted returns the plans and runs of an undo that has not ended.
func (p *Pruner) interrupted(ctx context.Context) ([]string, error) {
	begun, err := p.Index.Recall(ctx, undoKey)
	return strings.Fields(begun), err
}

// EndUndo notes that what an undo has restored is in the index, or that it is of no concern any more.
func (p *Pruner) EndUndo(ctx context.Context) error {
	begun, err := p.interrupted(ctx)
	if err != nil || len(begun) == 0 {
		return err
	}
	return p.Index.Remember(ctx, undoKey, "")
}

// leaveGone removes from back the runs whose bytes gc has removed, and returns them, sorted.
func (p *Pruner) leaveGone(ctx context.Context, back map[string]bool, names []string, rivals []displaced) ([]string, error) {
	gone := map[string]bool{}
	for g, err := range p.pruned(ctx) {
		if err != nil {
			return nil, err
		}
		if back[g.Run] && isGone(&g) {
			gone[g.Run] = true
		}
	}
	all := slices.AppendSeq(make([]string, 0, len(gone)), maps.Keys(gone))
	slices.Sort(all)
	nothing := len(all) == len(back) && !slices.ContainsFunc(rivals, func(d displaced) bool { return d.isNamed(names) })
	for _, run := range all {
		if nothing || slices.Contains(names, run) {
			return nil, fmt.Errorf("run %s cannot be restored: %w", run, ErrGone)
		}
	}
	maps.DeleteFunc(back, func(run string, _ bool) bool { return gone[run] })
	return all, nil
}

// pruned yields the pruned versions that have not been archived again: those that have need no undo, and their bytes
// cannot be missing. It leaves out the earlier versions whose bytes are gone: their runs can do without.
func (p *Pruner) pruned(ctx context.Context) iter.Seq2[index.PrunedVersion, error] {
	return func(yield func(index.PrunedVersion, error) bool) {
		for g, err := range p.Index.PrunedVersions(ctx, "") {
			if !g.Ended && !(g.Tier == index.LedgerVersions && isGone(&g)) && !yield(g, err) {
				return
			}
		}
	}
}

// isGone reports whether gc has removed bytes of a pruned version.
func isGone(g *index.PrunedVersion) bool { return g.Tombstone != "" && g.Bytes < g.Size }

// runsToRestore returns the runs to restore. There are none if only originals that are displaced now are left of a plan or a run.
// resumed says that some of the names may be undone already.
func (p *Pruner) runsToRestore(ctx context.Context, names []string, rivals []displaced, resumed bool) (map[string]bool, error) {
	back, known := map[string]bool{}, map[string]error{}
	for _, name := range names {
		if known[name] = ErrNothing; slices.ContainsFunc(rivals, func(d displaced) bool { return d.isNamed([]string{name}) }) {
			known[name] = nil
		}
	}
	for g, err := range p.Index.PrunedVersions(ctx, "") {
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			switch {
			case g.Ended || name != g.Plan && name != g.Run:
			case g.Tier != index.LedgerVersions || !isGone(&g):
				back[g.Run], known[name] = true, nil
			case known[name] != nil:
				known[name] = ErrGone
			}
		}
	}
	if resumed && slices.ContainsFunc(names, func(name string) bool { return known[name] == nil }) {
		return back, nil
	}
	for _, name := range names {
		if err := known[name]; err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return back, nil
}

// newest returns the plan that began last. If a later plan removes more of an original, it records again what earlier
// plans removed, with their time; so if two plans have the same time, the one with more versions is later.
func (p *Pruner) newest(ctx context.Context, rivals []displaced) (string, error) {
	type progress struct {
		began          int64
		versions, open int // open: not archived again
	}
	plans := map[string]progress{}
	add := func(plan string, at int64, ended bool) {
		w, known := plans[plan]
		if !known || at < w.began {
			w.began = at
		}
		if w.versions++; !ended {
			w.open++
		}
		plans[plan] = w
	}
	for g, err := range p.Index.PrunedVersions(ctx, "") {
		if err != nil {
			return "", err
		}
		add(g.Plan, g.Time, g.Ended)
	}
	for _, d := range rivals {
		add(d.Plan, d.Time, false)
	}
	maps.DeleteFunc(plans, func(plan string, w progress) bool { return plan == "" || w.open == 0 })
	if len(plans) == 0 {
		return "", ErrNothing
	}
	return slices.MaxFunc(slices.Sorted(maps.Keys(plans)), func(a, b string) int {
		return cmp.Or(cmp.Compare(plans[a].began, plans[b].began), cmp.Compare(plans[a].versions, plans[b].versions))
	}), nil
}

// restore restores the originals of runs, except those that are done. What their other runs have lost stays lost. It
// writes in batches, but all facts of an original at once, so that what is left to do is always visible.
func (p *Pruner) restore(ctx context.Context, back map[string]bool, done map[index.VersionKey]bool, out *Undone) error {
	t := &restoration{Pruner: p, back: back, now: p.now()}
	all, err := t.originals(ctx, done)
	if err != nil {
		return err
	}
	out.Originals += len(all)
	for i := range all {
		if err := t.add(ctx, &all[i]); err != nil {
			return err
		}
	}
	return t.write(ctx)
}

// restoring is an original to restore. There may be a million.
type restoring struct {
	version   int64
	tombstone [16]byte // key of its tombstone
	ledger    [8]byte  // key of its ledger fact
	more      bool     // taking.extras has an entry for it
}

// extra is what only a few of the originals have.
type extra struct {
	keys              bool // use these keys, which are not hexadecimal hashes; "" means no tombstone
	tombstone, ledger string
	shared            bool // a run that is not restored has lost it, too
}

// originals returns the originals of the runs, each once even if several runs have lost it. They are all collected
// before the first fact is written: while a reader is open, the WAL of the index grows with everything that is
// written.
func (t *restoration) originals(ctx context.Context, done map[index.VersionKey]bool) (all []restoring, err error) {
	t.extras = map[int64]extra{}
	var stays []int64 // versions that were lost by runs that are not restored
	for g, err := range t.pruned(ctx) {
		if err != nil {
			return nil, err
		}
		switch {
		case !t.back[g.Run]:
			stays = append(stays, g.Version)
		case !done[g.Key]:
			x := restoring{version: g.Version}
			if !unhex(x.tombstone[:], g.Tombstone) || !unhex(x.ledger[:], g.Fact) {
				x.more, t.extras[g.Version] = true, extra{keys: true, tombstone: g.Tombstone, ledger: g.Fact}
			}
			all = append(all, x)
		}
	}
	slices.SortFunc(all, func(a, b restoring) int { return cmp.Compare(a.version, b.version) })
	all = slices.CompactFunc(all, func(a, b restoring) bool { return a.version == b.version })
	for _, version := range stays {
		if i, ok := slices.BinarySearchFunc(all, version, func(x restoring, version int64) int { return cmp.Compare(x.version, version) }); ok {
			x := t.extras[version]
			x.shared = true
			all[i].more, t.extras[version] = true, x
		}
	}
	return all, nil
}

// unhex decodes s and reports whether it is exactly len(to) bytes in hexadecimal, as keys that are hashes are.
func unhex(to []byte, s string) bool {
	n, err := hex.Decode(to, []byte(s[:min(len(s), 2*len(to))]))
	return err == nil && n == len(to) && hex.EncodeToString(to) == s
}

// restoration collects the facts that restore originals.
type restoration struct {
	*Pruner
	back   map[string]bool
	extras map[int64]extra
	now    time.Time
	orders []index.LedgerOrder // for originals that other runs have lost and do not get back
	facts  []blob.Fact
	size   int
}

// add adds the facts of an original. The index is queried only if some run's loss remains.
func (t *restoration) add(ctx context.Context, o *restoring) error {
	x := extra{tombstone: hex.EncodeToString(o.tombstone[:]), ledger: hex.EncodeToString(o.ledger[:])}
	if o.more {
		more := t.extras[o.version]
		if x.shared = more.shared; more.keys {
			x.tombstone, x.ledger = more.tombstone, more.ledger
		}
	}
	if x.shared {
		t.orders = append(t.orders, index.LedgerOrder{Version: o.version, Undo: t.back})
	} else {
		t.retract(index.FactLedger, x.ledger)
	}
	if x.tombstone != "" {
		t.retract(blob.FactTombstone, x.tombstone)
	}
	limit, batch := t.factsBudget()
	if len(t.orders) < batch && t.size < limit {
		return nil
	}
	if err := t.addLedgers(ctx); err != nil || t.size < limit {
		return err
	}
	return t.write(ctx)
}

func (t *restoration) retract(kind, key string) {
	t.facts, t.size = append(t.facts, blob.Retraction(kind, key, t.now)), t.size+gc.ManifestLine
}

// addLedgers adds the ledgers of originals for which some run's loss remains.
func (t *restoration) addLedgers(ctx context.Context) error {
	if len(t.orders) == 0 {
		return nil
	}
	ledgers, err := t.Index.Ledgers(ctx, t.orders)
	if err != nil {
		return err
	}
	for i := range ledgers {
		f, err := ledgers[i].Fact(t.now)
		if err != nil {
			return err
		}
		t.facts, t.size = append(t.facts, f), t.size+len(f.Value)+gc.ManifestLine
	}
	t.orders = t.orders[:0]
	return nil
}

func (t *restoration) write(ctx context.Context) error {
	if err := t.addLedgers(ctx); err != nil || len(t.facts) == 0 {
		return err
	}
	err := t.Write(ctx, t.facts)
	t.facts, t.size = nil, 0
	return err
}
