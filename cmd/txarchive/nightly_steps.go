package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/backup"
	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/nightly"
	"github.com/txarchive/txarchive/internal/status"
	"github.com/txarchive/txarchive/internal/terminal"
)

// nightlyJob is one run of the nightly job.
type nightlyJob struct {
	app   *app
	opts  nightlyOptions
	began time.Time
}

// step is a step of the job. It returns what it did, or the error that prevented it.
type step struct {
	name string
	run  func(*nightlyJob, context.Context, *nightly.State) (nightly.Result, error)
}

// nightlySteps are the steps in their order.
var nightlySteps = []step{
	{"index", (*nightlyJob).index},
	{"ingest", (*nightlyJob).ingest},
	{"policy", (*nightlyJob).policy},
	{"gc", (*nightlyJob).gc},
	{"verify", (*nightlyJob).verify},
	{"optimize", (*nightlyJob).optimize},
	{"backup", (*nightlyJob).backup},
}

func stepNames() []string {
	var names []string
	for _, s := range nightlySteps {
		names = append(names, s.name)
	}
	return names
}

func (n *nightlyJob) steps() []nightly.Step {
	var all []nightly.Step
	for _, s := range nightlySteps {
		if slices.Contains(n.opts.skip, s.name) {
			continue
		}
		all = append(all, nightly.Step{Name: s.name, Run: func(ctx context.Context, state *nightly.State) (nightly.Result, error) { return s.run(n, ctx, state) }})
	}
	return all
}

func skipped(why string) (nightly.Result, error) {
	return nightly.Result{Outcome: nightly.Skipped, Summary: why}, nil
}

// index rebuilds a damaged index.
func (n *nightlyJob) index(ctx context.Context, _ *nightly.State) (nightly.Result, error) {
	store, err := n.openWriteWaiting(ctx)
	if err == nil {
		return nightly.Result{Summary: "present"}, store.Close()
	}
	if !errors.Is(err, archive.ErrNoIndex) {
		return nightly.Result{}, err
	}
	if store, err = n.app.openWithoutIndex(ctx, archive.Write); err != nil {
		return nightly.Result{}, err
	}
	packs, missing, damage, err := rebuild(ctx, n.app, store)
	r := nightly.Result{Summary: "was damaged; rebuilt from " + terminal.Plural(packs, "pack", "packs"), Problems: []string{"the index was damaged and has been rebuilt"}}
	if damage = errors.Join(damage, missing); damage != nil {
		r.Problems = append(r.Problems, damage.Error())
	}
	return r, errors.Join(err, store.Close())
}

// ingest ingests what is new in all sources.
func (n *nightlyJob) ingest(ctx context.Context, _ *nightly.State) (r nightly.Result, err error) {
	store, err := n.openWriteWaiting(ctx)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	report, err := ingestSources(ctx, n.app, ingestOptions{}, store, nil, nil)
	if errors.Is(err, errNoSources) {
		return skipped("the archive has no sources yet")
	}
	if report == nil {
		return r, err
	}
	r.Detail = report
	r.Summary = fmt.Sprintf("%s scanned, %s new or changed, %s stored", terminal.Plural(report.Files, "file", "files"),
		terminal.Count(report.New+report.Grown+report.Rewritten+report.Copies), terminal.Bytes(report.RawBytes))
	if n := int64(len(report.NotFollowed)); n > 0 {
		r.Summary += ", " + terminal.Plural(n, "symbolic link", "symbolic links") + " not followed"
	}
	if report.Mended > 0 {
		r.Summary += ", " + terminal.Plural(report.Mended, "damaged pack", "damaged packs") + " repaired"
	}
	loose, uerr := status.Unfollowed(ctx, n.app.ingester(store), n.app.homeOf(""))
	if len(loose) > 0 {
		r.Summary += "; not followed: " + status.Programs(&n.app.Printer, loose)
	}
	err = errors.Join(err, uerr)
	for _, name := range report.Missing {
		r.Problems = append(r.Problems, "missing: "+name)
	}
	sources, serr := status.Sources(ctx, store, n.app.Now())
	for _, s := range sources {
		if s.Emptied() {
			r.Problems = append(r.Problems, fmt.Sprintf("empty: %s: %s archived from it, is it mounted?", s.Name, terminal.Plural(s.Files, "file", "files")))
		}
	}
	err = errors.Join(err, serr)
	for _, p := range report.Problems {
		r.Problems = append(r.Problems, problemText(&p))
	}
	if report.Unreadable > 0 {
		r.Problems = append(r.Problems, terminal.Plural(report.Unreadable, "line or document", "lines or documents")+" could not be read; the bytes are stored")
	}
	return r, err
}

// verify reads tonight's share of the packs.
func (n *nightlyJob) verify(ctx context.Context, state *nightly.State) (r nightly.Result, err error) {
	state.VerifyDays = n.opts.verifyDays
	store, err := n.app.openPacks(ctx)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	packs, err := status.Packs(ctx, store)
	if err != nil {
		return r, err
	}
	state.Forget(packs)
	if n.opts.verifyDays == 0 {
		return skipped("not requested")
	}
	share := state.SelectPacks(packs, n.app.Now(), nightly.SelectOptions{Days: n.opts.verifyDays, Bytes: int64(n.opts.maxBytes)})
	done, bytes := int64(0), int64(0)
	for _, p := range share {
		if n.outOfTime() {
			r.Outcome = nightly.Stopped
			break
		}
		bad, err := n.verifyPack(ctx, store, state, p)
		if err != nil {
			return r, err
		}
		if bad != "" {
			r.Problems = append(r.Problems, bad)
			if state.Damaged[p.Name] != "" {
				r.Cause = blob.ErrCorrupt
			}
		}
		done, bytes = done+1, bytes+p.Size
	}
	missing, err := store.Missing(ctx)
	if err != nil {
		return r, err
	}
	for _, name := range missing {
		r.Problems, r.Cause = append(r.Problems, "missing pack "+name), blob.ErrCorrupt
	}
	c := state.Coverage(packs, n.app.Now(), n.opts.verifyDays)
	r.Detail = verifyShare{done, bytes, c}
	r.Summary = fmt.Sprintf("%s (%s) read, %s of %s within %s", terminal.Plural(done, "pack", "packs"), terminal.Bytes(bytes), terminal.Bytes(c.Covered), terminal.Bytes(c.Bytes),
		terminal.Plural(c.Days, "day", "days"))
	return r, nil
}

// verifyShare is the detail that the verify step reports.
type verifyShare struct {
	Packs    int64            `json:"packs"`
	Bytes    int64            `json:"bytes"`
	Coverage nightly.Coverage `json:"coverage"`
}

// verifyPack reads one pack and records the result. It returns what is wrong, "" for nothing. A pack that gc has just replaced is
// skipped.
func (n *nightlyJob) verifyPack(ctx context.Context, store *archive.Archive, state *nightly.State, p nightly.Pack) (bad string, err error) {
	var found []archive.Finding
	err = store.VerifyPack(ctx, p.Name, func(f archive.Finding) { found = append(found, f) })
	switch {
	case errors.Is(err, blob.ErrNotFound) && ctx.Err() == nil:
		return "", nil
	case errors.Is(err, archive.ErrTooNew) && ctx.Err() == nil:
		return err.Error(), nil
	case errors.Is(err, blob.ErrCorrupt) && ctx.Err() == nil:
		bad = describeDamage(p.Name, found, err)
	case err != nil:
		return "", err
	}
	state.RecordVerify(p, n.app.Now(), bad)
	return bad, nil
}

// describeDamage returns in one line what is wrong with a pack. The command verify prints it in full.
func describeDamage(pack string, found []archive.Finding, err error) string {
	if len(found) == 0 {
		return err.Error()
	}
	originals := map[string]bool{}
	for _, f := range found {
		if f.LostBytes > 0 {
			originals[fmt.Sprintf("%s/%s version %d", f.Source, f.Path, f.Version)] = true
		}
	}
	text := fmt.Sprintf("%s pack %s: %s", found[0].Kind, pack, found[0].Reason)
	if n := int64(len(originals)); n > 0 {
		text += fmt.Sprintf("; %s affected, txarchive verify lists them", terminal.Plural(n, "original is", "originals are"))
	}
	return text
}

// outOfTime reports whether the time for work that can wait is over.
func (n *nightlyJob) outOfTime() bool {
	return n.opts.maxTime > 0 && n.app.Now().Sub(n.began) > n.opts.maxTime
}

// optimize optimizes the index.
func (n *nightlyJob) optimize(ctx context.Context, _ *nightly.State) (r nightly.Result, err error) {
	store, err := n.openWriteWaiting(ctx)
	if err != nil {
		return r, err
	}
	err = store.Index().Optimize(ctx)
	if err = errors.Join(err, store.Close()); err == nil {
		r.Summary = "index optimized"
	}
	return r, err
}

// backup updates the backup. It never creates one: the mount point of a disk that is not mounted must not be taken for an empty
// directory.
func (n *nightlyJob) backup(ctx context.Context, state *nightly.State) (r nightly.Result, err error) {
	if n.opts.backup == "" {
		state.Backup = nil
		return skipped("not requested")
	}
	if state.Backup == nil || state.Backup.Dir != n.opts.backup {
		state.Backup = &nightly.Backup{Dir: n.opts.backup}
	}
	state.Backup.OK = false
	store, err := n.app.openPacks(ctx)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if _, err := backup.Open(n.opts.backup, n.app.backupOptions()); err != nil {
		return r, err
	}
	b, err := backup.Create(n.opts.backup, origin(store), false, n.app.backupOptions())
	if err != nil {
		return r, err
	}
	keep := n.opts.keep
	if state.Leap != nil {
		keep = backup.Keep{}
	}
	report, err := b.Take(ctx, store.Packs(), backup.TakeOptions{Keep: keep})
	for _, d := range report.Damaged {
		r.Problems = append(r.Problems, "not backed up: "+d.Reason)
	}
	for _, p := range report.Lost {
		r.Problems = append(r.Problems, missingPack+p.Name)
	}
	if err != nil {
		return r, err
	}
	state.Backup.Last, state.Backup.OK = new(n.app.Now().UTC()), true
	r.Detail = report
	r.Summary = fmt.Sprintf("%s (%s) new, %s in total, %s", terminal.Plural(report.Copied, "pack", "packs"), terminal.Bytes(report.CopiedBytes), terminal.Bytes(report.Bytes),
		terminal.Plural(report.Snapshots, "snapshot", "snapshots"))
	if keep != n.opts.keep {
		r.Summary += "; " + status.Doubt(&n.app.Printer, *state.Leap)
	}
	return r, nil
}
