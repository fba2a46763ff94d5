package main

import (
	"context"
	"errors"
	"slices"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/ingest"
	"github.com/txarchive/txarchive/internal/nightly"
)

// rememberFound keeps what a verify found of packs beside what nightly jobs did: so status tells of it, ingest mends what it can, and the
// next night knows what was read. An archive that cannot be written to is verified all the same.
func (a *app) rememberFound(ctx context.Context, store *archive.Archive, packs []nightly.Pack, r *archive.VerifyReport, findings []archive.Finding) {
	named := map[string][]archive.Finding{}
	for _, f := range findings {
		named[f.Pack] = append(named[f.Pack], f)
	}
	a.remembers(ctx, store, func(s *nightly.State) {
		for _, p := range packs {
			switch found := named[p.Name]; {
			case slices.Contains(r.Corrupt, p.Name):
				s.RecordVerify(p, a.now(), damageOf(p.Name, found, blob.ErrCorrupt))
			case !r.Quick && len(found) == 0:
				s.RecordVerify(p, a.now(), "")
			}
		}
	})
}

func (a *app) remembers(ctx context.Context, store *archive.Archive, change func(*nightly.State)) {
	if err := nightly.Update(a.fs(), store.Dir(), change); err != nil {
		a.log.DebugContext(ctx, "what was found of packs is not remembered", "err", err)
	}
}

// damagedPacks are those that were not as they were written when they were last read, and that are still there, with what is wrong.
func (a *app) damagedPacks(ctx context.Context, store *archive.Archive) (map[string]string, error) {
	state, err := nightly.Load(store.Dir())
	if err != nil || len(state.Damaged) == 0 {
		return nil, nil // status says what is wrong with the state
	}
	packs, err := packsOf(ctx, store)
	if err != nil {
		return nil, err
	}
	state.Forget(packs)
	return state.Damaged, nil
}

// mend stores again what damaged packs hold, if all of it is whole somewhere: in the sources mostly. What would be lost is for somebody to
// decide, by verify --repair: the report says so.
func (a *app) mend(ctx context.Context, store *archive.Archive, damaged map[string]string, report *ingest.Report) (err error) {
	w := &repairing{app: a, store: store}
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
		if err != nil { // what was ingested is in all the same
			a.log.WarnContext(ctx, "damaged packs cannot be mended", "err", err)
			return nil
		}
		return w.plan.Close()
	}
	defer func() { err = errors.Join(err, w.plan.Close()) }()
	if err := w.apply(ctx); err != nil {
		return err
	}
	report.Mended = int64(len(w.before.Corrupt))
	if err := a.forgetGone(ctx, store); err != nil {
		return err
	}
	now, err := a.ingester(store).Run(ctx, nil) // of what is stored more can be read than before
	if now != nil {
		report.Problems = append(slices.DeleteFunc(report.Problems, func(p ingest.FileError) bool { return p.Stage == "adopt" }), now.Problems...)
	}
	return err
}

// stillDamaged reads packs again: somebody may have brought one back, or the disk has come to its senses.
func (a *app) stillDamaged(ctx context.Context, store *archive.Archive, damaged map[string]string) (names []string, err error) {
	packs, err := packsOf(ctx, store)
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
		a.remembers(ctx, store, func(s *nightly.State) { s.RecordVerify(p, a.now(), "") })
	}
	return names, nil
}

// forgetGone drops what is remembered of packs that are not there any more.
func (a *app) forgetGone(ctx context.Context, store *archive.Archive) error {
	packs, err := packsOf(ctx, store)
	if err == nil {
		a.remembers(ctx, store, func(s *nightly.State) { s.Forget(packs) })
	}
	return err
}
