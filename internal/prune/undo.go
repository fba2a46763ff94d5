package prune

import (
	"cmp"
	"context"
	"fmt"
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
	for g, err := range p.Index.Graves(ctx, "") {
		switch n := len(out.Runs); {
		case err != nil:
			return nil, err
		case !back[g.Run]:
		case g.Tombstone != "" && g.Bytes < g.Size:
			return nil, fmt.Errorf("run %s cannot come back: %w", g.Run, ErrGone)
		case n == 0 || out.Runs[n-1] != g.Run: // they come in order
			out.Runs = append(out.Runs, g.Run)
		}
	}
	slices.Sort(out.Runs)
	done, err := p.unmark(ctx, back, out)
	if err != nil {
		return nil, err
	}
	out.Originals = len(done)
	return out, p.takeBack(ctx, back, done, out)
}

// coming finds the runs that come back.
func (p *Pruner) coming(ctx context.Context, names []string) (map[string]bool, error) {
	if len(names) == 0 {
		newest := index.Grave{}
		for g, err := range p.Index.Graves(ctx, "") {
			if err != nil {
				return nil, err
			}
			if g.Time > newest.Time {
				newest = g
			}
		}
		if newest.Plan == "" {
			return nil, ErrNothing
		}
		names = []string{newest.Plan}
	}
	back, known := map[string]bool{}, map[string]bool{}
	for g, err := range p.Index.Graves(ctx, "") {
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

// takeBack digs up the originals of runs but for those that are done. What other runs of theirs have lost stays lost. It
// writes when it has gathered much: of an original all at once, so that what is left to do can always be seen.
func (p *Pruner) takeBack(ctx context.Context, back map[string]bool, done map[index.VersionKey]bool, out *Undone) error {
	all, err := p.buried(ctx, back, done)
	if err != nil {
		return err
	}
	out.Originals += len(all)
	t := &taking{Pruner: p, back: back, now: p.now()}
	for i := range all {
		if err := t.add(ctx, &all[i]); err != nil {
			return err
		}
	}
	return t.write(ctx)
}

// lying is an original that comes back, and the key of the tombstone that lies on it, "" for none.
type lying struct {
	version int64
	grave   string
}

// buried finds the originals of runs, once each: several runs may have lost the same. They are all known before the first is written:
// as long as somebody reads, the log of the index grows with all that is written.
func (p *Pruner) buried(ctx context.Context, back map[string]bool, done map[index.VersionKey]bool) (all []lying, err error) {
	for g, err := range p.Index.Graves(ctx, "") {
		if err != nil {
			return nil, err
		}
		if back[g.Run] && !done[g.Key] {
			all = append(all, lying{g.Version, g.Tombstone})
		}
	}
	slices.SortFunc(all, func(a, b lying) int { return cmp.Compare(a.version, b.version) })
	return slices.CompactFunc(all, func(a, b lying) bool { return a.version == b.version }), nil
}

// taking gathers the facts that dig originals up.
type taking struct {
	*Pruner
	back   map[string]bool
	now    time.Time
	orders []index.LedgerOrder
	graves []string // keys of the tombstones of orders
	facts  []blob.Fact
	size   int
}

func (t *taking) add(ctx context.Context, x *lying) error {
	t.orders = append(t.orders, index.LedgerOrder{Version: x.version, Undo: t.back})
	if x.grave != "" {
		t.graves = append(t.graves, x.grave)
	}
	room, some := t.factsRoom()
	if len(t.orders) < some {
		return nil
	}
	if err := t.take(ctx); err != nil || t.size < room {
		return err
	}
	return t.write(ctx)
}

// take makes the facts of what was added.
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
	for _, key := range t.graves {
		t.facts, t.size = append(t.facts, blob.Fact{Kind: blob.FactTombstone, Key: key, Time: t.now, Value: []byte("null")}), t.size+line
	}
	t.orders, t.graves = t.orders[:0], t.graves[:0]
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
