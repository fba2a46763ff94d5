package main

import (
	"context"
	"errors"
	"slices"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/ingest"
	"github.com/txarchive/txarchive/internal/nightly"
	"github.com/txarchive/txarchive/internal/status"
)

// recordVerified records what a verify found about packs in the state of the nightly job: so status reports it, ingest repairs what it
// can, and the next night knows what was read. A read-only archive is verified all the same.
func (a *app) recordVerified(ctx context.Context, store *archive.Archive, packs []nightly.Pack, r *archive.VerifyReport, findings []archive.Finding) {
	named := map[string][]archive.Finding{}
	for _, f := range findings {
		named[f.Pack] = append(named[f.Pack], f)
	}
	a.updateState(ctx, store, func(s *nightly.State) {
		for _, p := range packs {
			switch found := named[p.Name]; {
			case slices.Contains(r.Corrupt, p.Name):
				s.RecordVerify(p, a.Now(), describeDamage(p.Name, found, blob.ErrCorrupt))
			case !r.Quick && len(found) == 0:
				s.RecordVerify(p, a.Now(), "")
			}
		}
	})
}

// updateState changes the state of the nightly job. A failure is only logged.
func (a *app) updateState(ctx context.Context, store *archive.Archive, change func(*nightly.State)) {
	if err := nightly.Update(a.fs(), store.Dir(), change); err != nil {
		a.log.DebugContext(ctx, "the state of the packs could not be recorded", "err", err)
	}
}

// damagedPacks returns the packs that were damaged when they were last read and still exist, with what is wrong.
func (a *app) damagedPacks(ctx context.Context, store *archive.Archive) (map[string]string, error) {
	state, err := nightly.Load(store.Dir())
	if err != nil || len(state.Damaged) == 0 {
		return nil, nil // status reports what is wrong with the state
	}
	packs, err := status.Packs(ctx, store)
	if err != nil {
		return nil, err
	}
	state.Forget(packs)
	return state.Damaged, nil
}

// mendPacks stores the contents of damaged packs again if all of them exist elsewhere, mostly in the sources. If something would be
// lost, a person must decide, with verify --repair: the report says so.
func (a *app) mendPacks(ctx context.Context, store *archive.Archive, damaged map[string]string, report *ingest.Report) (err error) {
	w := &repairRun{app: a, store: store}
	if w.before.Corrupt, err = a.stillDamaged(ctx, store, damaged); err != nil || len(w.before.Corrupt) == 0 {
		return err
	}
	r, err := w.repair(ctx)
	if err != nil {
		return err
	}
	w.plan, err = r.Plan(ctx)
	if ctx.Err() != nil {
		return errors.Join(err, ctx.Err())
	}
	if err != nil || len(w.plan.Lost) > 0 || w.plan.LostFacts > 0 {
		for _, name := range w.before.Corrupt {
			report.Problems = append(report.Problems, ingest.FileError{Stage: "mend", Reason: damaged[name], Err: blob.ErrCorrupt})
		}
		if err != nil { // what was ingested is stored all the same
			a.log.WarnContext(ctx, "damaged packs cannot be repaired", "err", err)
			return nil
		}
		return w.plan.Close()
	}
	defer func() { err = errors.Join(err, w.plan.Close()) }()
	if err := w.apply(ctx); err != nil {
		return err
	}
	report.Mended = int64(len(w.before.Corrupt))
	if err := a.forgetMissing(ctx, store); err != nil {
		return err
	}
	now, err := a.ingester(store).Run(ctx, nil) // more of what is stored can be read now
	if now != nil {
		report.Problems = append(slices.DeleteFunc(report.Problems, func(p ingest.FileError) bool { return p.Stage == "adopt" }), now.Problems...)
	}
	return err
}

// stillDamaged reads damaged packs again and returns those that still are: somebody may have restored one, or the error of the disk was
// transient.
func (a *app) stillDamaged(ctx context.Context, store *archive.Archive, damaged map[string]string) (names []string, err error) {
	packs, err := status.Packs(ctx, store)
	if err != nil {
		return nil, err
	}
	for _, p := range packs {
		if damaged[p.Name] == "" {
			continue
		}
		err := store.VerifyPack(ctx, p.Name, func(archive.Finding) {})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			names = append(names, p.Name)
			continue
		}
		a.updateState(ctx, store, func(s *nightly.State) { s.RecordVerify(p, a.Now(), "") })
	}
	return names, nil
}

// forgetMissing drops the state of packs that no longer exist.
func (a *app) forgetMissing(ctx context.Context, store *archive.Archive) error {
	packs, err := status.Packs(ctx, store)
	if err == nil {
		a.updateState(ctx, store, func(s *nightly.State) { s.Forget(packs) })
	}
	return err
}
