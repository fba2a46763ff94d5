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

// index has the index look at itself, unless it has failed before. A quick look leaves that out: it takes longer than to read the
// packs does.
func (v *verifier) index(ctx context.Context, db *sqlite.DB, err error) error {
	before := v.wrong
	if err == nil && !v.opts.Quick {
		v.out.IndexChecked = true
		err = db.Check(ctx, func(problem string) {
			v.add(Finding{Kind: KindIndex, Reason: problem, Hint: hintReindex})
		})
	}
	if v.opts.Again != nil && err == nil {
		v.out.IndexRows, err = db.Differences(ctx, v.opts.Again, func(problem string) {
			v.add(Finding{Kind: KindIndex, Reason: problem, Hint: hintReindex})
		})
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil { // an index that does not answer is as bad as one that answers wrong
		v.add(Finding{Kind: KindIndex, Reason: err.Error(), Hint: hintReindex})
	}
	v.out.Index = "sound"
	if v.unsound || v.wrong > before {
		v.out.Index = "unsound"
	}
	return nil
}

// compare compares the index with the catalog.
func (v *verifier) compare(ctx context.Context, db *sqlite.DB, first bool) error {
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
		if err := v.state(ctx, db, &s, known); err != nil {
			return err
		}
	}
	graves, err := v.knownGraves(ctx, known)
	if err != nil {
		return err
	}
	for _, cv := range v.catalog.sorted() {
		_, buried := graves.Of(&cv.Version)
		if cv.seen || !known[cv.said.name] || buried || v.catalog.buried(cv) {
			continue
		}
		f := cv.finding(KindIndex, "the index lacks a version that the pack has", hintReindex)
		f.Pack = cv.said.name
		v.add(f)
	}
	return nil
}

// knownGraves are those that the index knows: who digs one up, or lays one, may have died before he could say so. Mostly it knows all.
func (v *verifier) knownGraves(ctx context.Context, known map[string]bool) (*blob.Tombstones, error) {
	unknown := func(pack string) bool { return !known[pack] }
	if !slices.ContainsFunc(slices.Collect(maps.Keys(v.catalog.diggers)), unknown) {
		return &v.catalog.graves, nil
	}
	var graves blob.Tombstones
	for name := range v.catalog.diggers {
		if !known[name] {
			continue
		}
		r, err := v.archive.manifest(ctx, blob.Info{Name: name}, func(blob.Name) bool { return false })
		if errors.Is(err, blob.ErrNotFound) || errors.Is(err, blob.ErrCorrupt) {
			continue // gc, meanwhile
		}
		if err != nil {
			return nil, err
		}
		for _, f := range r.Manifest().Facts {
			graves.Add(f, name)
		}
	}
	return &graves, nil
}

// knownPacks are the packs of the index. Those that are there are all in the catalog then.
func (v *verifier) knownPacks(ctx context.Context, db *sqlite.DB) (map[string]bool, error) {
	known := map[string]bool{}
	for name, err := range db.Packs(ctx) {
		if err != nil {
			return nil, err
		}
		known[name] = true
	}
	return known, v.latecomers(ctx)
}

// comparePacks compares the packs of the index with those that are there.
func (v *verifier) comparePacks(known map[string]bool) {
	for name := range known {
		if p := v.catalog.packs[name]; p == nil || !p.listed {
			v.add(Finding{Kind: KindMissing, Pack: name, Reason: "the index knows the pack, but it is not there", Hint: hintBackup})
		}
	}
	for name, p := range v.catalog.packs {
		if p.read && p.listed && !p.replaced && !known[name] {
			v.add(Finding{Kind: KindUnindexed, Pack: name, Reason: "the index does not know the pack", Hint: hintAdopt})
		}
	}
}

// latecomers reads the packs that a writer has made while the others were read.
func (v *verifier) latecomers(ctx context.Context) error {
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

// state compares one version of the index with what the manifests say.
func (v *verifier) state(ctx context.Context, db *sqlite.DB, s *index.State, known map[string]bool) error {
	there, placed, err := v.extents(ctx, db, s)
	if err != nil {
		return err
	}
	cv := v.catalog.versions[s.Version.Chain()]
	if cv == nil {
		if there && len(v.unread) == 0 {
			v.add(stateFinding(s, "the index has a version that no pack tells of"))
		}
		v.untold = append(v.untold, *s)
		return nil
	}
	cv.seen = true
	if !known[cv.said.name] {
		return nil // it has grown in a pack that is not indexed yet
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
			f.Pack = cv.said.name
			v.add(f)
		}
	}
	return nil
}

func stateFinding(s *index.State, reason string) Finding {
	return Finding{Kind: KindIndex, Source: s.Source, Path: s.Path, Version: s.Number, Reason: reason, Hint: hintReindex}
}

// extents wants a version's extents to cover it, and each to be where the index says. there says whether all packs
// could be asked, placed whether the index has a place for every byte.
func (v *verifier) extents(ctx context.Context, db *sqlite.DB, s *index.State) (there, placed bool, err error) {
	there, placed = true, true
	end := int64(0)
	losses := v.catalog.losses.Of(&s.Version)
	gap := func(until int64) {
		if blob.Covers(losses, end, until-end) {
			return
		}
		placed = false
		v.add(stateFinding(s, fmt.Sprintf("the index has no place for %d bytes at %d", until-end, end)))
	}
	for _, e := range s.Extents {
		if e.Size == 0 {
			continue
		}
		if e.Offset > end {
			gap(e.Offset)
		}
		end = max(end, e.Offset+e.Size)
		ok, err := v.extent(ctx, db, s, e)
		if err != nil {
			return false, false, err
		}
		there = there && ok
	}
	if end < s.Size {
		gap(s.Size)
	}
	return there, placed, nil
}

// extent wants the bytes of an extent to be where the index says. It says whether the pack could be asked.
func (v *verifier) extent(ctx context.Context, db *sqlite.DB, s *index.State, e blob.Extent) (there bool, err error) {
	p := v.catalog.packs[e.CopyOf.Pack]
	switch {
	case p == nil || !p.listed:
		v.add(Finding{
			Kind: KindMissing, Pack: e.CopyOf.Pack, Source: s.Source, Path: s.Path, Version: s.Number,
			LostOffset: e.Offset, LostBytes: e.Size, Reason: "the pack with these bytes is not there", Hint: hintBackup,
		})
		return false, nil
	case v.unread[p.name]:
		return false, v.unlisted(ctx, db, s, e)
	case !p.stored.Has(e.CopyOf.Raw, e.Size, e.SHA256):
		f := stateFinding(s, fmt.Sprintf("the pack has not the %d bytes at %d where the index says", e.Size, e.Offset))
		f.Pack = p.name
		v.add(f)
	}
	return true, nil
}

// unlisted checks an extent in a pack whose manifest is lost: the index still knows where its bytes should be.
func (v *verifier) unlisted(ctx context.Context, db *sqlite.DB, s *index.State, e blob.Extent) error {
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
		LostOffset: e.Offset, LostBytes: e.Size, Reason: "the manifest is lost, and these bytes too", Hint: hintBackup,
	})
	return nil
}
