package archive

import (
	"fmt"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
)

// originals checks that the manifests together have every byte of every version, and names what copies in other
// packs lose by damage.
func (v *verifier) originals() {
	c := v.catalog
	broken := v.broken()
	var other *catalogVersion // of the same name and number, if that came before
	for _, cv := range c.sorted() {
		if other != nil && (other.Source != cv.Source || other.Path != cv.Path || other.Number != cv.Number) {
			other = nil
		}
		if other != nil && !c.buried(cv) && !c.buried(other) {
			f := cv.finding(KindConflict, "another original of that name and number has another beginning, in pack "+other.said.name, hintConflict)
			f.Pack = cv.said.name
			v.add(f)
		}
		if !c.buried(cv) || other == nil {
			other = cv
		}
		v.out.Versions++
		v.out.OriginalBytes += cv.Size
		if c.buried(cv) {
			continue
		}
		for _, l := range c.losses.Of(&cv.Version) {
			f := cv.finding(KindLost, "acknowledged on "+l.Since.UTC().Format(time.DateOnly), hintLost)
			f.Pack, f.LostOffset, f.LostBytes = l.Pack, l.Offset, l.Size
			v.add(f)
		}
		if !cv.compared {
			v.complete(cv)
		}
		for _, p := range cv.parts {
			if at, ok := c.find(&p); ok && at.Pack != p.by.name && broken[at] > 0 {
				f := cv.finding(KindDamaged, reasonCopy, hintBackup)
				f.Pack, f.LostOffset, f.LostBytes = at.Pack, p.Offset, min(broken[at], p.Size)
				v.add(f)
			}
		}
	}
	for i := range v.untold {
		v.copies(&v.untold[i], broken)
	}
}

// replaced names the packs that nobody needs.
func (v *verifier) replaced() {
	for _, p := range v.catalog.packs {
		if p.listed && p.replaced && !v.unread[p.name] {
			v.add(Finding{Kind: KindLeftover, Pack: p.name, Reason: "another pack replaces it", Hint: hintLeftover})
		}
	}
}

const reasonCopy = "a copy of bytes that are damaged there"

// copies names what a version loses by damage in packs whose manifests do not tell of it.
func (v *verifier) copies(s *index.State, broken map[blob.Copy]int64) {
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

// broken says how many bytes each damaged extent has lost.
func (v *verifier) broken() map[blob.Copy]int64 {
	broken := map[blob.Copy]int64{}
	for i, l := range v.losses {
		if l.Source != "" { // else the manifest is lost, and nobody knows what stood where
			broken[blob.Copy{Pack: v.lossAt[i], Raw: l.Raw}] += l.Size
		}
	}
	return broken
}

// complete wants every byte of a version in some pack.
func (v *verifier) complete(cv *catalogVersion) {
	end := int64(0)
	losses := v.catalog.losses.Of(&cv.Version)
	gap := func(until int64) {
		if blob.Covers(losses, end, until-end) {
			return
		}
		f := cv.finding(KindMissing, "no pack has these bytes", hintBackup)
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
		name := p.said().Pack
		f := cv.finding(KindMissing, fmt.Sprintf("a copy of bytes in pack %s, which is not there", name), hintBackup)
		if at := v.catalog.packs[name]; at != nil && at.listed {
			f.Kind, f.Reason = KindDamaged, fmt.Sprintf("a copy of bytes in pack %s, whose manifest does not have them", name)
		}
		f.Pack, f.LostOffset, f.LostBytes = name, p.Offset, p.Size
		v.add(f)
	}
	if end < cv.Size {
		gap(cv.Size)
	}
}
