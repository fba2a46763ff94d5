package main

import (
	"context"
	"errors"
	"slices"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/backup"
	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/ingest"
	"github.com/txarchive/txarchive/internal/repair"
	"github.com/txarchive/txarchive/internal/terminal"
)

type repairOptions struct {
	dryRun, yes bool
	from        string
}

// repairRun is one run of verify --repair.
type repairRun struct {
	app     *app
	store   *archive.Archive
	o       repairOptions
	plan    *repair.Plan
	before  archive.VerifyReport
	index   bool // the index contradicts the packs
	packs   []string
	rebuilt bool
	after   *archive.VerifyReport
	left    []archive.Finding
}

func runRepair(ctx context.Context, a *app, o repairOptions) error {
	a.beginWork("nothing was changed")
	w, asks := &repairRun{app: a, o: o}, false
	err := w.inArchive(ctx, func() error {
		if err := w.printPlan(); err != nil {
			return err
		}
		if o.dryRun || w.plan.Empty() && !w.index && w.store.Index() != nil {
			return w.report()
		}
		if asks = len(w.plan.Lost) > 0 && !o.yes; asks {
			return nil
		}
		return w.repairAll(ctx)
	})
	if err != nil || !asks {
		return err
	}
	// Nobody waits for the answer, as with prune.
	yes, err := a.ask(ctx, "Save the rest, and record these bytes as lost?")
	if err != nil {
		return err
	}
	if !yes {
		return failure.Refused("nothing was changed: "+terminal.Plural(w.plan.LostBytes(), "byte", "bytes")+" cannot be found anywhere",
			"--from BACKUP also searches a backup; --yes saves the rest and records what is lost")
	}
	again := &repairRun{app: a, o: o}
	return again.inArchive(ctx, func() error {
		if !again.plan.Same(w.plan) {
			return failure.Refused("nothing was changed: the archive has changed, and this plan with it", "run the same command again")
		}
		return again.repairAll(ctx)
	})
}

// inArchive opens the archive, examines it, and makes the plan for fn.
func (w *repairRun) inArchive(ctx context.Context, fn func() error) (err error) {
	mode := archive.Write
	if w.o.dryRun {
		mode = archive.Read
	}
	if w.store, err = w.app.openWithoutIndex(ctx, mode); err != nil {
		return err
	}
	defer w.store.Close()
	if err := w.examine(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.plan.Close()) }()
	return fn()
}

// repairAll executes the plan, and prints the result.
func (w *repairRun) repairAll(ctx context.Context) error {
	w.app.beginWork(hintUndone)
	if err := errors.Join(w.apply(ctx), w.app.forgetMissing(ctx, w.store)); err != nil {
		return err
	}
	return w.report()
}

// examine verifies everything, adopts packs that the index does not know, and makes the plan.
func (w *repairRun) examine(ctx context.Context) error {
	a, store := w.app, w.store
	if errors.Is(store.IndexError(), archive.ErrTooNew) {
		return store.IndexError()
	}
	if store.Index() != nil && !w.o.dryRun {
		if _, err := a.ingester(store).Adopt(ctx); err != nil && !errors.Is(err, blob.ErrCorrupt) && !errors.Is(err, blob.ErrNotFound) {
			w.distrustIndex(ctx, err)
		}
	}
	m := a.meter()
	defer m.Stop()
	v := archive.VerifyOptions{Progress: m.ByteFunc("verify")}
	var err error
	w.before, err = store.Verify(ctx, v, func(f archive.Finding) { w.index = w.index || f.Kind == archive.KindIndex })
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil && w.before.Findings == 0 {
		return err
	}
	r, err := w.repair(ctx)
	if err != nil {
		return err
	}
	r.Progress = m.ByteFunc("look")
	w.plan, err = r.Plan(ctx)
	if r.Index != nil && err != nil && ctx.Err() == nil { // the index cannot be trusted
		w.distrustIndex(ctx, err)
		r.Index = nil
		if gone, err := store.Missing(ctx); err == nil { // it may still name missing packs
			r.Missing = append(r.Missing, gone...)
		}
		w.plan, err = r.Plan(ctx)
	}
	return err
}

// distrustIndex has the index rebuilt: it fails, but its packs may be intact.
func (w *repairRun) distrustIndex(ctx context.Context, err error) {
	w.app.log.DebugContext(ctx, "the index cannot be used", "err", err)
	w.index = true
}

func (w *repairRun) repair(ctx context.Context) (*repair.Repair, error) {
	a, store := w.app, w.store
	r := &repair.Repair{
		Packs: store.Packs(), Damaged: w.before.Corrupt, Quarantine: store.Quarantine, Writer: store.WriterID(), Now: a.Now, Log: a.log,
		Original: func(root, path string) (repair.File, error) { return ingest.OpenOriginal(root, path) },
	}
	if db := store.Index(); db != nil {
		r.Index = db
	}
	if w.o.from != "" {
		packs, err := archive.PacksIn(w.o.from)
		if err != nil {
			return nil, err
		}
		r.Backup = packs
		return r, w.addMissing(ctx, r)
	}
	return r, nil
}

// addMissing adds the packs that the archive had at the time of the backup and no longer knows.
func (w *repairRun) addMissing(ctx context.Context, r *repair.Repair) error {
	b, err := backup.Open(w.o.from, w.app.backupOptions())
	if errors.Is(err, backup.ErrNoBackup) || err == nil && b.Origin() != origin(w.store) {
		return nil // a backup of another archive has bytes, but does not say which packs this one should have
	}
	if err != nil {
		return err
	}
	lost, err := b.Lost(ctx, w.store.Packs())
	for _, p := range lost {
		r.Missing = append(r.Missing, p.Name)
	}
	if errors.Is(err, backup.ErrNoSnapshot) {
		return nil
	}
	return err
}

// apply executes the plan and verifies the result.
func (w *repairRun) apply(ctx context.Context) error {
	r, err := w.repair(ctx)
	if err != nil {
		return err
	}
	if !w.plan.Empty() {
		if w.packs, err = r.Apply(ctx, w.plan); err != nil {
			return err
		}
	}
	if err := w.plan.Close(); err != nil { // the archive is gone through again
		return err
	}
	if !w.index && w.store.Index() != nil {
		if _, err := w.app.ingester(w.store).Adopt(ctx); err != nil {
			w.distrustIndex(ctx, err)
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if w.index || w.store.Index() == nil {
		if err := w.rebuild(ctx); err != nil {
			return err
		}
	}
	if err := w.verifyResult(ctx); err != nil {
		return err
	}
	wrong := slices.ContainsFunc(w.left, func(f archive.Finding) bool { return f.Kind == archive.KindIndex || f.Kind == archive.KindMissing })
	if w.rebuilt || !wrong {
		return nil
	}
	if err := w.rebuild(ctx); err != nil {
		return err
	}
	return w.verifyResult(ctx)
}

func (w *repairRun) rebuild(ctx context.Context) error {
	_, _, damage, err := rebuild(ctx, w.app, w.store) // missing packs are in the plan already
	w.rebuilt = err == nil
	return errors.Join(err, damage)
}

// verifyResult reads the new packs, and checks everything else by its manifests: its bytes were read before.
func (w *repairRun) verifyResult(ctx context.Context) error {
	w.left = []archive.Finding{}
	keep := func(f archive.Finding) { w.left = append(w.left, f) }
	for _, name := range w.packs {
		if err := w.store.VerifyPack(ctx, name, keep); err != nil && !errors.Is(err, blob.ErrCorrupt) {
			return err
		}
	}
	report, err := w.store.Verify(ctx, archive.VerifyOptions{Quick: true}, keep)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	w.after = &report
	if report.Findings == 0 {
		return err
	}
	return nil
}
