package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite"
)

// Verify checks the whole archive: the bytes of every pack against its manifest, on all cores; the manifests against
// each other; the index against the manifests, row by row; and the integrity of the index itself. It calls report for each
// finding, one at a time. It also works without an index.
//
// Errors: blob.ErrCorrupt if bytes of originals or packs are damaged or missing; index.ErrDamaged or ErrNoIndex if
// only the index is. Both are returned after everything has been checked.
func (a *Archive) Verify(ctx context.Context, o VerifyOptions, report func(Finding)) (VerifyReport, error) {
	began := a.opts.Now()
	v := &verifier{
		archive: a, opts: o, report: report, catalog: newCatalog(blob.Span{}, a.opts.CatalogLimit, noLimit), unread: map[string]bool{},
		damaged: map[string]bool{}, corrupt: map[string]bool{}, lost: map[index.VersionKey]bool{},
	}
	v.out.Quick, v.out.Index = o.Quick, "missing"
	err := v.run(ctx)
	v.out.Duration = a.opts.Now().Sub(began)
	v.out.DamagedPacks, v.out.LostFiles = int64(len(v.damaged)), int64(len(v.lost))
	v.out.Corrupt = slices.Sorted(maps.Keys(v.corrupt))
	if err == nil {
		err = v.result()
	}
	if err != nil {
		return v.out, fmt.Errorf("verify %s: %w", a.dir, err)
	}
	return v.out, nil
}

// verifier is the state of one Verify.
type verifier struct {
	archive        *Archive
	opts           VerifyOptions
	catalog        *catalog
	total          int64
	unlistedStates []index.State // states of the index that are in no readable manifest

	mu      sync.Mutex // guards the fields below: several goroutines read packs
	report  func(Finding)
	out     VerifyReport
	held    []Finding // findings about originals, until their runs are known
	losses  []pack.Loss
	lossAt  []string // the packs of losses
	unread  map[string]bool
	damaged map[string]bool
	corrupt map[string]bool // packs whose file is not as it was written
	lost    map[index.VersionKey]bool
	wrong   int // findings of the index
	unsound bool
}

func (v *verifier) run(ctx context.Context) error {
	if err := v.reportLeftovers(); err != nil {
		return err
	}
	infos, err := v.archive.list(ctx)
	if err != nil {
		return err
	}
	if err := v.load(ctx, infos); err != nil {
		return err
	}
	if v.archive.Index() == nil && len(infos) > 0 { // an archive that was only begun has nothing to index
		f := Finding{Kind: KindIndex, Reason: v.archive.noIndex().Error(), Hint: hintReindex}
		if errors.Is(v.archive.noIndex(), index.ErrFull) {
			f.Hint = hintRoom
		}
		v.add(f)
	}
	if err := v.checkSpans(ctx); err != nil {
		return err
	}
	return v.reportHeld(ctx)
}

// checkSpans checks the originals, one span of the catalog at a time.
func (v *verifier) checkSpans(ctx context.Context) error {
	db := v.archive.Index()
	var failed error // of the index
	for first := true; ; first = false {
		if before := v.wrong; db != nil && failed == nil {
			failed = v.compareIndex(ctx, db, first)
			v.unsound = v.unsound || v.wrong > before
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := v.checkOriginals(ctx); err != nil {
			return err
		}
		if first {
			v.reportReplaced()
		}
		v.unlistedStates = nil
		more, err := v.archive.nextSpan(ctx, v.catalog, func(name string, _ error) { v.unread[name] = true })
		if err != nil {
			return err
		}
		if !more {
			break
		}
	}
	v.catalog = nil
	if db != nil {
		return v.checkIndex(ctx, db, failed)
	}
	return nil
}

// load reads packs into the catalog.
func (v *verifier) load(ctx context.Context, infos []blob.Info) error {
	for _, info := range infos {
		v.total += info.Size
	}
	return v.archive.load(ctx, v.catalog, infos, v.readPack, func(name string, _ error) { v.unread[name] = true })
}

// reportLeftovers reports unfinished files. A running writer has some too.
func (v *verifier) reportLeftovers() error {
	left, err := v.archive.leftovers()
	for _, path := range left {
		v.add(Finding{Kind: KindLeftover, Entry: filepath.Base(path), Reason: "an unfinished file", Hint: hintLeftover})
	}
	return err
}

// readPack checks one pack by itself, and returns its manifest with the versions of the originals that wanted accepts.
func (v *verifier) readPack(ctx context.Context, info blob.Info, wanted func(blob.Name) bool) (r *pack.Reader, err error) {
	p, err := v.archive.packs.Open(ctx, info.Name)
	if errors.Is(err, blob.ErrNotFound) || ctx.Err() != nil {
		return nil, err
	}
	if err != nil {
		return nil, v.reportUnreadable(info.Name, err)
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	if v.opts.Quick {
		r, err = pack.OpenFiltered(ctx, p, info.Name, filterOf(wanted))
		if errors.Is(err, blob.ErrCorrupt) {
			v.reportDamage(pack.Damage{Pack: info.Name, Reason: err.Error()})
		}
	} else {
		err = pack.Verify(ctx, info.Name, p, v.reportDamage)
	}
	v.addProgress(info)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, blob.ErrTooNew):
		v.add(Finding{Kind: KindNewer, Pack: info.Name, Reason: blob.ErrTooNew.Error(), Hint: hintUpgrade})
	case err != nil && !errors.Is(err, blob.ErrCorrupt):
		return nil, v.reportUnreadable(info.Name, err)
	}
	if r != nil && err == nil {
		return r, nil
	}
	return v.archive.readManifest(ctx, info, wanted)
}

// reportUnreadable reports a pack that the operating system fails to read. It returns blob.ErrCorrupt, because the catalog
// treats such a pack as damaged.
func (v *verifier) reportUnreadable(name string, err error) error {
	v.markCorrupt(name)
	v.add(Finding{Kind: KindUnreadable, Pack: name, Reason: err.Error(), Hint: hintSystem})
	return fmt.Errorf("%w: %w", blob.ErrCorrupt, err)
}

func (v *verifier) addProgress(info blob.Info) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.out.Packs++
	v.out.PackBytes += info.Size
	if v.opts.Progress != nil {
		v.opts.Progress(v.out.PackBytes, v.total)
	}
}

func (v *verifier) markCorrupt(pack string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.corrupt[pack] = true
}

// reportDamage adds the findings for one damage: one for each original that loses bytes by it, else one for the pack.
func (v *verifier) reportDamage(d pack.Damage) {
	v.markCorrupt(d.Pack)
	at := Finding{Kind: KindDamaged, Pack: d.Pack, Offset: d.Offset, Size: d.Size, Reason: d.Reason, Hint: hintHarmless}
	if len(d.Lost) == 0 {
		if len(d.Readable) > 0 {
			at.Reason += fmt.Sprintf(" (%d entries are intact)", len(d.Readable))
			at.Hint = hintBackup
		}
		v.add(at)
		return
	}
	for _, l := range d.Lost {
		f := at
		f.Source, f.Path, f.Version, f.LostOffset, f.LostBytes, f.Hint = l.Source, l.Path, l.Version, l.Offset, l.Size, hintBackup
		if l.Source == "" {
			f.Entry = l.Entry
		}
		v.add(f)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, l := range d.Lost {
		v.losses, v.lossAt = append(v.losses, l), append(v.lossAt, d.Pack)
	}
}

// add counts a finding and reports it. If it is about an original, it is held until the runs of that original are known.
func (v *verifier) add(f Finding) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if f.Runs == nil {
		f.Runs = []string{}
	}
	v.count(&f)
	if f.Path != "" {
		v.held = append(v.held, f)
		return
	}
	v.send(f)
}

func (v *verifier) send(f Finding) {
	if v.report != nil {
		v.report(f)
	}
}

func (v *verifier) count(f *Finding) {
	if f.Notice() {
		v.out.Notices++
		if f.Kind == KindLost {
			v.out.KnownBytes += f.LostBytes
		}
		return
	}
	v.out.Findings++
	switch f.Kind {
	case KindIndex, KindConflict:
		v.wrong++
	case KindNewer:
	default:
		if f.Pack != "" {
			v.damaged[f.Pack] = true
		}
		if f.Path != "" {
			v.lost[index.VersionKey{Source: f.Source, Path: f.Path, Number: f.Version}] = true
			v.out.LostBytes += f.LostBytes
		}
	}
}

// reportHeld looks up the runs of the affected originals, and reports the findings that were held for that.
func (v *verifier) reportHeld(ctx context.Context) error {
	runs := map[index.VersionKey][]string{}
	for _, f := range v.held {
		runs[index.VersionKey{Source: f.Source, Path: f.Path, Number: f.Version}] = []string{}
	}
	if db := v.archive.Index(); db != nil && len(runs) > 0 {
		err := findRuns(ctx, db, runs)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil { // report the findings even without their runs
			v.archive.opts.Log.WarnContext(ctx, "the index does not tell which runs are affected", "err", err)
		}
	}
	slices.SortStableFunc(v.held, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Pack, b.Pack), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Path, b.Path),
			cmp.Compare(a.Version, b.Version), cmp.Compare(a.LostOffset, b.LostOffset))
	})
	for _, f := range v.held {
		f.Runs = runs[index.VersionKey{Source: f.Source, Path: f.Path, Number: f.Version}]
		v.send(f)
	}
	return nil
}

// findRuns sets the runs that each version in runs describes.
func findRuns(ctx context.Context, db *sqlite.DB, runs map[index.VersionKey][]string) error {
	for key := range runs {
		for run, err := range db.RunsOf(ctx, key, true) {
			if err != nil {
				return err
			}
			runs[key] = append(runs[key], run)
		}
	}
	return nil
}

// result returns the error of the whole verify.
func (v *verifier) result() error {
	switch {
	case len(v.damaged) > 0 || len(v.lost) > 0:
		return fmt.Errorf("%d packs are damaged or missing, %d originals have lost bytes: %w", len(v.damaged), len(v.lost), blob.ErrCorrupt)
	case v.archive.Index() == nil && v.total > 0:
		return v.archive.noIndex()
	case v.wrong > 0:
		return fmt.Errorf("index and packs differ in %d places: %w", v.wrong, index.ErrDamaged)
	case v.out.Findings > 0:
		return ErrTooNew
	}
	return nil
}
