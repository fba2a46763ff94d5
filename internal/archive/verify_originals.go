package archive

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
)

// checkOriginals checks that the packs together hold every byte of every version, and reports versions whose bytes are damaged
// in another pack that they are a copy of.
func (v *verifier) checkOriginals(ctx context.Context) error {
	c := v.catalog
	if !v.opts.Quick {
		if err := v.checkApart(ctx); err != nil {
			return err
		}
	}
	broken := v.lostByExtent()
	var other *catalogVersion // a previous version with the same name and number
	for _, cv := range c.sorted() {
		if other != nil && (other.Source != cv.Source || other.Path != cv.Path || other.Number != cv.Number) {
			other = nil
		}
		if other != nil && !c.isDeleted(cv) && !c.isDeleted(other) {
			f := cv.finding(KindConflict, "another original of the same name and version begins differently, in pack "+other.statedBy.name, hintConflict)
			f.Pack = cv.statedBy.name
			v.add(f)
		}
		if !c.isDeleted(cv) || other == nil {
			other = cv
		}
		v.out.Versions++
		v.out.OriginalBytes += cv.Size
		if c.isDeleted(cv) {
			continue
		}
		for _, l := range c.losses.Of(&cv.Version) {
			f := cv.finding(KindLost, "acknowledged on "+l.Since.UTC().Format(time.DateOnly), hintLost)
			f.Pack, f.LostOffset, f.LostBytes = l.Pack, l.Offset, l.Size
			v.add(f)
		}
		if !cv.compared {
			v.checkComplete(cv)
		}
		for _, p := range cv.parts {
			if at, ok := c.find(&p); ok && at.Pack != p.statedBy.name && broken[at] > 0 {
				f := cv.finding(KindDamaged, reasonCopy, hintBackup)
				f.Pack, f.LostOffset, f.LostBytes = at.Pack, p.Offset, min(broken[at], p.Size)
				v.add(f)
			}
		}
	}
	for i := range v.unlistedStates {
		v.reportCopies(&v.unlistedStates[i], broken)
	}
	return nil
}

// checkApart checks that the packs hold every state of what copies of the archive have archived apart, and reports states that contradict
// each other.
func (v *verifier) checkApart(ctx context.Context) error {
	all, err := v.archive.histories(ctx, v.catalog)
	for cv, h := range all {
		if v.catalog.isDeleted(cv) {
			continue
		}
		reached := func(p prefix) bool {
			_, ok := h.way(p)
			if !ok && len(h.version.losses) == 0 { // else it is known
				v.add(cv.finding(KindDamaged, h.unreached().Error(), hintBackup))
			}
			return ok
		}
		reached(prefix{cv.Size, cv.SHA256})
		for _, s := range h.others() {
			if !reached(prefixOf(s)) {
				continue
			}
			v.add(cv.finding(KindConflict, fmt.Sprintf("two copies of the archive have grown it differently: to %d bytes, and to %d with the SHA-256 %s", cv.Size, s.Size, s.SHA256), hintApart))
		}
	}
	return err
}

// reportReplaced reports the packs that others replace.
func (v *verifier) reportReplaced() {
	for _, p := range v.catalog.packs {
		if p.listed && p.replaced && !v.unread[p.name] {
			v.add(Finding{Kind: KindLeftover, Pack: p.name, Reason: "another pack replaces it", Hint: hintReplaced})
		}
	}
}

const reasonCopy = "a copy of bytes that are damaged there"

// reportCopies reports the bytes that a version of the index, which is in no manifest, loses by damage in packs.
func (v *verifier) reportCopies(s *index.State, broken map[blob.Copy]int64) {
	for _, e := range s.Extents {
		if n := broken[*e.CopyOf]; n > 0 {
			v.add(Finding{
				Kind: KindDamaged, Pack: e.CopyOf.Pack, Source: s.Source, Path: s.Path, Version: s.Number,
				LostOffset: e.Offset, LostBytes: min(n, e.Size), Reason: reasonCopy, Hint: hintBackup,
			})
		}
	}
}

func (cv *catalogVersion) finding(kind, reason, hint string) Finding {
	return Finding{Kind: kind, Source: cv.Source, Path: cv.Path, Version: cv.Number, Reason: reason, Hint: hint}
}

// lostByExtent returns how many bytes each damaged extent has lost.
func (v *verifier) lostByExtent() map[blob.Copy]int64 {
	broken := map[blob.Copy]int64{}
	for i, l := range v.losses {
		if l.Source != "" { // otherwise the manifest is lost, and it is unknown which extent it was
			broken[blob.Copy{Pack: v.lossAt[i], Raw: l.Raw}] += l.Size
		}
	}
	return broken
}

// checkComplete checks that every byte of a version is in some pack.
func (v *verifier) checkComplete(cv *catalogVersion) {
	end := int64(0)
	losses := v.catalog.losses.Of(&cv.Version)
	gap := func(until int64) {
		if blob.Covers(losses, end, until-end) {
			return
		}
		f := cv.finding(KindMissing, "no pack has these bytes", hintMissing)
		f.LostOffset, f.LostBytes = end, until-end
		v.add(f)
	}
	for _, p := range cv.parts {
		if p.Offset > end {
			gap(p.Offset)
		}
		end = p.Offset + p.Size
		if _, ok := v.catalog.find(&p); ok {
			continue
		}
		name := p.recorded().Pack
		f := cv.finding(KindMissing, fmt.Sprintf("a copy of bytes in pack %s, which is missing", name), hintBackup)
		if at := v.catalog.packs[name]; at != nil && at.listed {
			f.Kind, f.Reason = KindDamaged, fmt.Sprintf("a copy of bytes in pack %s, whose manifest does not list them", name)
		}
		f.Pack, f.LostOffset, f.LostBytes = name, p.Offset, p.Size
		v.add(f)
	}
	if end < cv.Size {
		gap(cv.Size)
	}
}

// lacks reports whether no pack that counts has any of the bytes from one offset to another.
func (cv *catalogVersion) lacks(from, to int64) bool {
	return from < cv.Size && !slices.ContainsFunc(cv.parts, func(p catalogPart) bool { return p.Offset < to && p.Offset+p.Size > from })
}
