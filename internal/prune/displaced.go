package prune

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/prune/gc"
)

// displaced is an original that a plan has removed while another copy of the archive had archived the file differently. Since
// their packs have come together, the index has that one under the number, and does not know which runs this one had.
type displaced struct {
	index.Displaced
	version blob.Version // as another pack would state it
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
	return all, p.Payloads.GC.Walk(ctx, func(n blob.Name) bool { return wanted[n] }, func(chains gc.Chains, span blob.Span) error {
		for _, d := range found {
			key := blob.Chain{Name: blob.Name{Source: d.Source, Path: d.Path}, Number: d.Number, Root: d.Root}
			if !span.Has(key.Name) {
				continue
			}
			if c := chains.Find(key); c != nil && c.Complete() {
				all = append(all, displaced{d, c.Restated()})
			}
		}
		return nil
	})
}

// restoreDisplaced restores those displaced originals that the named plans have removed, and those of files of which runs in back
// have others. It returns how many. A pack states each again, so that whoever adopts it decides anew which of the two the index has.
func (p *Pruner) restoreDisplaced(ctx context.Context, all []displaced, back map[string]bool, names []string) (n int, err error) {
	if len(all) == 0 {
		return 0, nil
	}
	came := map[blob.Name]bool{}
	for _, d := range all {
		came[d.version.Name()] = false
	}
	for g, err := range p.pruned(ctx) {
		if err != nil {
			return 0, err
		}
		name := blob.Name{Source: g.Key.Source, Path: g.Key.Path}
		if _, ok := came[name]; ok && back[g.Run] {
			came[name] = true
		}
	}
	r, now := gc.NewReplacer(ctx, p.Payloads.GC), p.now()
	for _, d := range all {
		if !came[d.version.Name()] && !slices.Contains(names, d.Plan) {
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
	return n, p.Payloads.Adopt(ctx)
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
