package prune

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
)

// Undone is what came back.
type Undone struct {
	Runs      []string `json:"run_ids"`
	Originals int      `json:"originals"`
	Marked    int      `json:"marked"` // originals that keep the marks where payloads were: gc has taken these, or other runs lost them, too
}

// Undo takes back what plans did, or what was done to runs: names holds ids of plans, of runs, or both; none means the
// newest plan. The rows of the index come back when the versions are parsed again, which is left to the caller. A crash
// may leave a part of them as they were: the same call goes on.
// Errors: ErrNothing; ErrGone, when gc has taken some of the bytes.
func (p *Pruner) Undo(ctx context.Context, names []string) (*Undone, error) {
	back, err := p.coming(ctx, names)
	if err != nil {
		return nil, err
	}
	out := &Undone{Runs: []string{}}
	for g, err := range p.graves(ctx) {
		switch {
		case err != nil:
			return nil, err
		case back[g.Run] && g.Tombstone != "" && g.Bytes < g.Size:
			return nil, fmt.Errorf("run %s cannot come back: %w", g.Run, ErrGone)
		}
	}
	out.Runs = slices.AppendSeq(make([]string, 0, len(back)), maps.Keys(back))
	slices.Sort(out.Runs)
	done, err := p.unmark(ctx, back, out)
	if err != nil {
		return nil, err
	}
	out.Originals = len(done)
	return out, p.takeBack(ctx, back, done, out)
}

// graves are those in which somebody lies: what has come again since needs no undo, and its bytes cannot be missed.
func (p *Pruner) graves(ctx context.Context) iter.Seq2[index.PrunedVersion, error] {
	return func(yield func(index.PrunedVersion, error) bool) {
		for g, err := range p.Index.PrunedVersions(ctx, "") {
			if !g.Ended && !yield(g, err) {
				return
			}
		}
	}
}

// coming finds the runs that come back.
func (p *Pruner) coming(ctx context.Context, names []string) (map[string]bool, error) {
	if len(names) == 0 {
		newest, err := p.newest(ctx)
		if err != nil {
			return nil, err
		}
		names = []string{newest}
	}
	back, known := map[string]bool{}, map[string]bool{}
	for g, err := range p.graves(ctx) {
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if name == g.Plan || name == g.Run {
				back[g.Run], known[name] = true, true
			}
		}
	}
	for _, name := range names {
		if !known[name] {
			return nil, fmt.Errorf("%s: %w", name, ErrNothing)
		}
	}
	return back, nil
}

// newest is the plan that began last. What a plan has taken of an original is said again by later ones that take more of it, with
// their time: where nothing else is left of it, the one that has taken more is later.
func (p *Pruner) newest(ctx context.Context) (string, error) {
	type work struct {
		began        int64
		graves, open int // open: that have not ended
	}
	plans := map[string]work{}
	for g, err := range p.Index.PrunedVersions(ctx, "") {
		if err != nil {
			return "", err
		}
		w, known := plans[g.Plan]
		if !known || g.Time < w.began {
			w.began = g.Time
		}
		if w.graves++; !g.Ended {
			w.open++
		}
		plans[g.Plan] = w
	}
	maps.DeleteFunc(plans, func(plan string, w work) bool { return plan == "" || w.open == 0 })
	if len(plans) == 0 {
		return "", ErrNothing
	}
	return slices.MaxFunc(slices.Sorted(maps.Keys(plans)), func(a, b string) int {
		return cmp.Or(cmp.Compare(plans[a].began, plans[b].began), cmp.Compare(plans[a].graves, plans[b].graves))
	}), nil
}

// takeBack digs up the originals of runs but for those that are done. What other runs of theirs have lost stays lost. It
// writes when it has gathered much: of an original all at once, so that what is left to do can always be seen.
func (p *Pruner) takeBack(ctx context.Context, back map[string]bool, done map[index.VersionKey]bool, out *Undone) error {
	t := &taking{Pruner: p, back: back, now: p.now()}
	all, err := t.buried(ctx, done)
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

// lying is an original that comes back. There may be a million.
type lying struct {
	version int64
	grave   [16]byte // key of the tombstone that lies on it
	ledger  [8]byte  // key of the fact that says what stays of it
	more    bool     // what it is besides stands in the extra of the version
}

// extra is what few originals have that come back.
type extra struct {
	keys          bool   // the keys are these, which are no hashes in hex; no tombstone: ""
	grave, ledger string //
	shared        bool   // a run that stays as it is has lost it, too
}

// buried finds the originals of runs, once each: several runs may have lost the same. They are all known before the first is written:
// as long as somebody reads, the log of the index grows with all that is written.
func (t *taking) buried(ctx context.Context, done map[index.VersionKey]bool) (all []lying, err error) {
	t.extras = map[int64]extra{}
	var stays []int64 // versions that runs have lost which stay as they are
	for g, err := range t.graves(ctx) {
		if err != nil {
			return nil, err
		}
		switch {
		case !t.back[g.Run]:
			stays = append(stays, g.Version)
		case !done[g.Key]:
			x := lying{version: g.Version}
			if !unhex(x.grave[:], g.Tombstone) || !unhex(x.ledger[:], g.Fact) {
				x.more, t.extras[g.Version] = true, extra{keys: true, grave: g.Tombstone, ledger: g.Fact}
			}
			all = append(all, x)
		}
	}
	slices.SortFunc(all, func(a, b lying) int { return cmp.Compare(a.version, b.version) })
	all = slices.CompactFunc(all, func(a, b lying) bool { return a.version == b.version })
	for _, version := range stays {
		if i, ok := slices.BinarySearchFunc(all, version, func(x lying, version int64) int { return cmp.Compare(x.version, version) }); ok {
			x := t.extras[version]
			x.shared = true
			all[i].more, t.extras[version] = true, x
		}
	}
	return all, nil
}

// unhex says whether s is so many bytes in hex, as keys are that are hashes.
func unhex(to []byte, s string) bool {
	n, err := hex.Decode(to, []byte(s[:min(len(s), 2*len(to))]))
	return err == nil && n == len(to) && hex.EncodeToString(to) == s
}

// taking gathers the facts that dig originals up.
type taking struct {
	*Pruner
	back   map[string]bool
	extras map[int64]extra
	now    time.Time
	orders []index.LedgerOrder // of originals of which other runs stay lost
	facts  []blob.Fact
	size   int
}

// add makes the facts of an original. The index need only be asked what stays when something does.
func (t *taking) add(ctx context.Context, o *lying) error {
	x := extra{grave: hex.EncodeToString(o.grave[:]), ledger: hex.EncodeToString(o.ledger[:])}
	if o.more {
		more := t.extras[o.version]
		if x.shared = more.shared; more.keys {
			x.grave, x.ledger = more.grave, more.ledger
		}
	}
	if x.shared {
		t.orders = append(t.orders, index.LedgerOrder{Version: o.version, Undo: t.back})
	} else {
		t.retract(index.FactLedger, x.ledger)
	}
	if x.grave != "" {
		t.retract(blob.FactTombstone, x.grave)
	}
	room, some := t.factsRoom()
	if len(t.orders) < some && t.size < room {
		return nil
	}
	if err := t.take(ctx); err != nil || t.size < room {
		return err
	}
	return t.write(ctx)
}

func (t *taking) retract(kind, key string) {
	t.facts, t.size = append(t.facts, blob.Fact{Kind: kind, Key: key, Time: t.now, Value: []byte("null")}), t.size+line
}

// take makes the facts of originals of which something stays.
func (t *taking) take(ctx context.Context) error {
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
		t.facts, t.size = append(t.facts, f), t.size+len(f.Value)+line
	}
	t.orders = t.orders[:0]
	return nil
}

func (t *taking) write(ctx context.Context) error {
	if err := t.take(ctx); err != nil || len(t.facts) == 0 {
		return err
	}
	err := t.Write(ctx, t.facts)
	t.facts, t.size = nil, 0
	return err
}
