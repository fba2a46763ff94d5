package prune

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/prune/gc"
)

// displaced is an original that a plan has removed while another copy of the archive had archived the file differently. Since
// their packs have come together, the index has that one under the number.
type displaced struct {
	index.Displaced
	version blob.Version // as another pack would state it
	runs    []string     // that the plan has pruned in it, by public id
}

// displaced returns the displaced originals of which gc has left every byte.
func (p *Pruner) displaced(ctx context.Context) (all []displaced, err error) {
	found, err := p.Index.Displaced(ctx)
	if err != nil || len(found) == 0 || p.Payloads == nil {
		return nil, err
	}
	wanted := map[blob.Name]bool{}
	for _, d := range found {
		wanted[blob.Name{Source: d.Source, Path: d.Path}] = true
	}
	err = p.Payloads.GC.Walk(ctx, func(n blob.Name) bool { return wanted[n] }, func(chains gc.Chains, span blob.Span) error {
		for _, x := range found {
			key := blob.Chain{Name: blob.Name{Source: x.Source, Path: x.Path}, Number: x.Number, Root: x.Root}
			if !span.Has(key.Name) {
				continue
			}
			if c := chains.Find(key); c != nil && c.Complete() {
				d := displaced{Displaced: x, version: c.Restated()}
				if err := d.readRuns(ctx, p.Payloads.GC.Packs); err != nil {
					return err
				}
				all = append(all, d)
			}
		}
		return nil
	})
	return all, err
}

// readRuns reads the runs from the ledger, of which the index has nothing.
func (d *displaced) readRuns(ctx context.Context, packs blob.Store) error {
	r, err := pack.Read(ctx, packs, d.Ledger, func(*blob.Version) bool { return false })
	if err != nil {
		return err
	}
	for _, f := range r.Manifest().Facts {
		if f.Kind != index.FactLedger || f.Key != index.LedgerKey(&d.version) || f.IsRetraction() {
			continue
		}
		l, err := index.ParseLedger(f)
		if err != nil {
			continue // verify reports it
		}
		for i := range l.Runs {
			if l.Runs[i].Drops() {
				d.runs = append(d.runs, l.Runs[i].Run)
			}
		}
	}
	return nil
}

// isNamed reports whether names contains the plan or a run.
func (d *displaced) isNamed(names []string) bool {
	return slices.Contains(names, d.Plan) || slices.ContainsFunc(d.runs, func(run string) bool { return slices.Contains(names, run) })
}

// restoreDisplaced restores those displaced originals that are named by plan or run, and those of runs in back. It returns how many.
// A pack states each again, so that whoever adopts it decides anew which of the two the index has.
func (p *Pruner) restoreDisplaced(ctx context.Context, all []displaced, back map[string]bool, names []string) (n int, err error) {
	if len(all) == 0 {
		return 0, nil
	}
	r, now := gc.NewReplacer(ctx, p.Payloads.GC), p.now()
	for _, d := range all {
		if !d.isNamed(names) && !slices.ContainsFunc(d.runs, func(run string) bool { return back[run] }) {
			continue
		}
		if err := d.restate(r, now); err != nil {
			return 0, errors.Join(err, r.Abort())
		}
		n++
	}
	if err := r.Seal(); err != nil || n == 0 {
		return 0, err
	}
	return n, p.Adopt(ctx)
}

func (d *displaced) restate(r *gc.Replacer, now time.Time) error {
	if err := r.Begin(); err != nil {
		return err
	}
	r.AddFacts(d.Retract(now), blob.Retraction(index.FactLedger, index.LedgerKey(&d.version), now))
	if err := r.Put(&d.version, nil, nil); err != nil {
		return err
	}
	return r.SealFull()
}
