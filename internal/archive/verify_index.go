package archive

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite"
)

// checkIndex checks the integrity of the index, unless comparing it has failed with err. A quick verify leaves this out, because it
// takes longer than reading the packs.
func (v *verifier) checkIndex(ctx context.Context, db *sqlite.DB, err error) error {
	before := v.wrong
	if err == nil && !v.opts.Quick {
		v.out.IndexChecked = true
		err = db.Check(ctx, func(problem string) {
			v.add(Finding{Kind: KindIndex, Reason: problem, Hint: hintReindex})
		})
	}
	if v.opts.Rebuilt != nil && err == nil {
		v.out.IndexRows, err = db.Differences(ctx, v.opts.Rebuilt, func(problem string) {
			v.add(Finding{Kind: KindIndex, Reason: problem, Hint: hintReindex})
		})
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil { // an index that cannot be queried is as bad as one with wrong rows
		v.add(Finding{Kind: KindIndex, Reason: err.Error(), Hint: hintReindex})
	}
	v.out.Index = "sound"
	if v.unsound || v.wrong > before {
		v.out.Index = "unsound"
	}
	return nil
}

// compareIndex compares the index with the current span of the catalog.
func (v *verifier) compareIndex(ctx context.Context, db *sqlite.DB, first bool) error {
	known, err := v.knownPacks(ctx, db)
	if err != nil {
		return err
	}
	if first {
		v.comparePacks(known)
	}
	for s, err := range db.StatesIn(ctx, *v.catalog.span.Load()) {
		if err != nil {
			return err
		}
		if err := v.checkState(ctx, db, &s, known); err != nil {
			return err
		}
	}
	tombstones, err := v.indexedTombstones(ctx, known)
	if err != nil {
		return err
	}
	for _, cv := range v.catalog.sorted() {
		_, deleted := tombstones.Of(&cv.Version)
		if cv.seen || cv.rival || !known[cv.statedBy.name] || deleted || v.catalog.isDeleted(cv) {
			continue
		}
		f := cv.finding(KindIndex, "the index lacks a version that the pack has", hintReindex)
		f.Pack = cv.statedBy.name
		v.add(f)
	}
	return nil
}

// indexedTombstones returns the tombstones that the index knows. They differ from those of the catalog if a process that added
// or retracted some died before it updated the index.
func (v *verifier) indexedTombstones(ctx context.Context, known map[string]bool) (*blob.Tombstones, error) {
	unknown := func(pack string) bool { return !known[pack] }
	if !slices.ContainsFunc(slices.Collect(maps.Keys(v.catalog.tombstonePacks)), unknown) {
		return &v.catalog.tombstones, nil
	}
	var tombstones blob.Tombstones
	for name := range v.catalog.tombstonePacks {
		if !known[name] {
			continue
		}
		r, err := v.archive.readManifest(ctx, blob.Info{Name: name}, func(blob.Name) bool { return false })
		if errors.Is(err, blob.ErrNotFound) || errors.Is(err, blob.ErrCorrupt) {
			continue // gc has removed it meanwhile
		}
		if err != nil {
			return nil, err
		}
		for _, f := range r.Manifest().Facts {
			tombstones.Add(f, name)
		}
	}
	return &tombstones, nil
}

// knownPacks returns the packs that the index knows, and makes sure that those of them that exist are in the catalog.
func (v *verifier) knownPacks(ctx context.Context, db *sqlite.DB) (map[string]bool, error) {
	known := map[string]bool{}
	for name, err := range db.Packs(ctx) {
		if err != nil {
			return nil, err
		}
		known[name] = true
	}
	return known, v.loadNewPacks(ctx)
}

// comparePacks compares the packs that the index knows with those in the store.
func (v *verifier) comparePacks(known map[string]bool) {
	for name := range known {
		if p := v.catalog.packs[name]; p == nil || !p.listed {
			v.add(Finding{Kind: KindMissing, Pack: name, Reason: "the pack is in the index, but missing", Hint: hintBackup})
		}
	}
	for name, p := range v.catalog.packs {
		if p.read && p.listed && !p.replaced && !known[name] {
			v.add(Finding{Kind: KindUnindexed, Pack: name, Reason: "the pack is not in the index", Hint: hintAdopt})
		}
	}
}

// loadNewPacks reads the packs that a writer has added while the others were read.
func (v *verifier) loadNewPacks(ctx context.Context) error {
	infos, err := v.archive.list(ctx)
	if err != nil {
		return err
	}
	var late []blob.Info
	for _, info := range infos {
		if p := v.catalog.packs[info.Name]; p == nil || !p.listed {
			late = append(late, info)
		}
	}
	if len(late) == 0 {
		return nil
	}
	return v.load(ctx, late)
}

// checkState compares one version of the index with the manifests.
func (v *verifier) checkState(ctx context.Context, db *sqlite.DB, s *index.State, known map[string]bool) error {
	cv := v.catalog.versions[s.Version.Chain()]
	there, placed, err := v.checkExtents(ctx, db, s, cv)
	if err != nil {
		return err
	}
	if cv == nil {
		if there && len(v.unread) == 0 {
			v.add(stateFinding(s, "the index has a version that no pack has"))
		}
		v.unlistedStates = append(v.unlistedStates, *s)
		return nil
	}
	cv.seen = true
	if !known[cv.statedBy.name] {
		return nil // its newest state is in a pack that is not indexed yet
	}
	cv.compared = placed
	for _, c := range []struct {
		what         string
		index, packs any
	}{
		{"size", s.Size, cv.Size}, {"SHA-256", s.SHA256, cv.SHA256}, {"mtime", blob.Nano(s.ModTime), blob.Nano(cv.ModTime)},
		{"mode", s.Mode, cv.Mode}, {"format", s.Format, cv.Format}, {"role", s.Role, cv.Role}, {"root", s.Claim, cv.Claim},
	} {
		if c.index != c.packs {
			f := stateFinding(s, fmt.Sprintf("%s is %v in the index, %v in the pack", c.what, c.index, c.packs))
			f.Pack = cv.statedBy.name
			v.add(f)
		}
	}
	return nil
}

func stateFinding(s *index.State, reason string) Finding {
	return Finding{Kind: KindIndex, Source: s.Source, Path: s.Path, Version: s.Number, Reason: reason, Hint: hintReindex}
}

// checkExtents checks that a version's extents cover it, and that each is where the index says. there says whether the manifests
// of all packs are known, placed whether the index has a place for every byte that lasts. What no pack has is not the index's fault.
func (v *verifier) checkExtents(ctx context.Context, db *sqlite.DB, s *index.State, cv *catalogVersion) (there, placed bool, err error) {
	there, placed = true, true
	end := int64(0)
	losses := v.catalog.losses.Of(&s.Version)
	gap := func(until int64) {
		if blob.Covers(losses, end, until-end) {
			return
		}
		placed = false
		if cv != nil && cv.lacks(end, until) {
			return
		}
		v.add(stateFinding(s, fmt.Sprintf("the index does not locate %d bytes at %d", until-end, end)))
	}
	for _, e := range s.Extents {
		if e.Size == 0 {
			continue
		}
		if e.Offset > end {
			gap(e.Offset)
		}
		end = max(end, e.Offset+e.Size)
		ok, err := v.checkExtent(ctx, db, s, e)
		if err != nil {
			return false, false, err
		}
		there = there && ok
		if p := v.catalog.packs[e.CopyOf.Pack]; p != nil && p.replaced {
			placed = false
		}
	}
	if end < s.Size {
		gap(s.Size)
	}
	return there, placed, nil
}

// checkExtent checks that the bytes of an extent are where the index says. there says whether the manifest of the pack is known.
func (v *verifier) checkExtent(ctx context.Context, db *sqlite.DB, s *index.State, e blob.Extent) (there bool, err error) {
	p := v.catalog.packs[e.CopyOf.Pack]
	switch {
	case p == nil || !p.listed:
		v.add(Finding{
			Kind: KindMissing, Pack: e.CopyOf.Pack, Source: s.Source, Path: s.Path, Version: s.Number,
			LostOffset: e.Offset, LostBytes: e.Size, Reason: "the pack with these bytes is missing", Hint: hintBackup,
		})
		return false, nil
	case v.unread[p.name]:
		return false, v.checkUnlisted(ctx, db, s, e)
	case !p.stored.Has(e.CopyOf.Raw, e.Size, e.SHA256):
		f := stateFinding(s, fmt.Sprintf("the pack does not have the %d bytes at %d where the index locates them", e.Size, e.Offset))
		f.Pack = p.name
		v.add(f)
	}
	return true, nil
}

// checkUnlisted reads an extent in a pack whose manifest is lost, where the index says that its bytes are, and checks its hash.
func (v *verifier) checkUnlisted(ctx context.Context, db *sqlite.DB, s *index.State, e blob.Extent) error {
	for fv, err := range db.Versions(ctx, index.VersionFilter{Source: s.Source, Path: s.Path, Number: s.Number}) {
		if err != nil {
			return err
		}
		sum := sha256.New()
		part := &content{ctx: ctx, archive: v.archive, version: fv, offset: e.Offset, end: e.Offset + e.Size}
		_, err = io.Copy(sum, part)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil && blob.Ref(sum.Sum(nil)) == e.SHA256 {
			return nil
		}
	}
	v.add(Finding{
		Kind: KindDamaged, Pack: e.CopyOf.Pack, Source: s.Source, Path: s.Path, Version: s.Number,
		LostOffset: e.Offset, LostBytes: e.Size, Reason: "the manifest is lost, and so are these bytes", Hint: hintBackup,
	})
	return nil
}
