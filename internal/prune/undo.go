package prune

import (
	"context"
	"fmt"
	"slices"

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
// newest plan. The rows of the index come back when the versions are parsed again, which is left to the caller.
// Errors: ErrNothing; ErrGone, when gc has taken some of the bytes.
func (p *Pruner) Undo(ctx context.Context, names []string) (*Undone, error) {
	graves, err := p.Index.Graves(ctx, "")
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		names = newestPlan(graves)
	}
	back := map[string]bool{}
	for _, g := range graves {
		if slices.Contains(names, g.Plan) || slices.Contains(names, g.Run) {
			back[g.Run] = true
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(graves, func(g index.Grave) bool { return g.Plan == name || g.Run == name }) {
			return nil, fmt.Errorf("%s: %w", name, ErrNothing)
		}
	}
	if len(back) == 0 {
		return nil, ErrNothing
	}
	out := &Undone{Runs: []string{}}
	touched := map[index.VersionKey]bool{}
	for _, g := range graves {
		if !back[g.Run] {
			continue
		}
		if g.Tombstone != "" && g.Bytes < g.Size {
			return nil, fmt.Errorf("run %s cannot come back: %w", g.Run, ErrGone)
		}
		touched[g.Key] = true
		if !slices.Contains(out.Runs, g.Run) {
			out.Runs = append(out.Runs, g.Run)
		}
	}
	done, err := p.unmark(ctx, graves, back, out)
	if err != nil {
		return nil, err
	}
	out.Originals = len(done)
	graves = slices.DeleteFunc(graves, func(g index.Grave) bool { return done[g.Key] })
	for key := range done {
		delete(touched, key)
	}
	if len(touched) == 0 {
		return out, nil
	}
	facts, err := p.takeBack(ctx, graves, back, touched, out)
	if err != nil {
		return nil, err
	}
	return out, p.Write(ctx, facts)
}

func newestPlan(graves []index.Grave) []string {
	newest := index.Grave{}
	for _, g := range graves {
		if g.Time > newest.Time {
			newest = g
		}
	}
	if newest.Plan == "" {
		return nil
	}
	return []string{newest.Plan}
}

// takeBack digs originals up. What other runs of theirs have lost stays lost.
func (p *Pruner) takeBack(ctx context.Context, graves []index.Grave, back map[string]bool, touched map[index.VersionKey]bool, out *Undone) ([]blob.Fact, error) {
	estate, err := p.Index.Estate(ctx, false)
	if err != nil {
		return nil, err
	}
	now := p.now()
	var facts []blob.Fact
	var orders []index.LedgerOrder
	for i := range estate.Versions {
		v := &estate.Versions[i]
		if touched[index.VersionKey{Source: v.Source, Path: v.Path, Number: v.Number}] {
			orders = append(orders, index.LedgerOrder{Version: v.ID, Undo: back})
		}
	}
	for some := range slices.Chunk(orders, 64) {
		ledgers, err := p.Index.Ledgers(ctx, some)
		if err != nil {
			return nil, err
		}
		for i := range ledgers {
			f, err := ledgers[i].Fact(now)
			if err != nil {
				return nil, err
			}
			facts = append(facts, f)
		}
	}
	dug := map[string]bool{}
	for _, g := range graves {
		if back[g.Run] && g.Tombstone != "" && !dug[g.Tombstone] {
			dug[g.Tombstone] = true
			facts = append(facts, blob.Fact{Kind: blob.FactTombstone, Key: g.Tombstone, Time: now, Value: []byte("null")})
		}
	}
	out.Originals += len(orders)
	return facts, nil
}
