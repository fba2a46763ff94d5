package repair

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
)

// chainLimit is how many chains are in memory at a time.
const chainLimit = 1 << 16

// wants reports whether an original belongs to the selection.
func (inv *inventory) wants(n blob.Name) bool { return inv.span.Has(n) && !inv.handled[n] }

// selectSpan selects the chains of the span. If there are too many, it shortens the span; the chains of one file stay together.
func (inv *inventory) selectSpan(ctx context.Context) error {
	return inv.selectChains(ctx, inv.wants, inv.tombstones.VersionBudget(cmp.Or(inv.repair.ChainLimit, chainLimit)))
}

// selectNamed selects the chains of some originals, however many there are.
func (inv *inventory) selectNamed(ctx context.Context, names map[blob.Name]bool) error {
	return inv.selectChains(ctx, func(n blob.Name) bool { return names[n] }, 0)
}

// deselect releases everything that only searching needs.
func (inv *inventory) deselect() {
	inv.chains, inv.outside, inv.contents, inv.candidates, inv.checked = nil, nil, pack.ContentIndex{}, nil, nil
}

// selectChains selects the chains of originals that are wanted, at most limit. 0 is no limit.
func (inv *inventory) selectChains(ctx context.Context, wanted func(blob.Name) bool, limit int) error {
	inv.chains, inv.outside = map[blob.Chain]*chain{}, map[blob.Chain][]blob.Extent{}
	for _, name := range inv.names() {
		pi := inv.packs[name]
		if pi.replaced || pi.sound && !inv.span.Overlaps(pi.first, pi.last) {
			continue
		}
		versions := pi.manifest.Versions
		if pi.sound {
			var err error
			if versions, err = pi.versions(ctx, inv.repair.Packs, wanted); err != nil {
				return fmt.Errorf("pack %s: %w", name, err)
			}
		}
		for i := range versions {
			if v := &versions[i]; wanted(v.Name()) {
				inv.addVersion(pi, v)
			}
		}
		inv.shortenSpan(limit)
	}
	if err := inv.addIndexed(ctx, wanted, limit); err != nil {
		return fmt.Errorf("read the index: %w", err)
	}
	for _, c := range inv.chains {
		_, c.deleted = inv.tombstones.Of(&c.Version)
	}
	for _, pi := range inv.backupPacks {
		if err := inv.addOutside(ctx, pi, inv.repair.Backup, wanted); err != nil {
			return fmt.Errorf("read the backup: pack %s: %w", pi.Name, err)
		}
	}
	for _, name := range inv.names() {
		pi := inv.packs[name]
		if !pi.replaced || !pi.sound {
			continue
		}
		if err := inv.addOutside(ctx, pi, inv.repair.Packs, wanted); err != nil {
			return fmt.Errorf("pack %s: %w", name, err)
		}
	}
	return ctx.Err()
}

// addOutside adds where a pack that is not part of the archive, of the backup or replaced by another, says that bytes of chains lie.
func (inv *inventory) addOutside(ctx context.Context, pi *packInfo, in blob.Store, wanted func(blob.Name) bool) error {
	if !inv.span.Overlaps(pi.first, pi.last) {
		return nil
	}
	versions, err := pi.versions(ctx, in, wanted)
	for i := range versions {
		key := versions[i].Chain()
		inv.outside[key] = append(inv.outside[key], versions[i].Extents...)
	}
	return err
}

// shortenSpan shortens the span and drops the chains after it, if there are more than limit.
func (inv *inventory) shortenSpan(limit int) {
	if limit == 0 || len(inv.chains) <= limit {
		return
	}
	inv.span = inv.span.Cut(maps.Keys(inv.chains), limit)
	maps.DeleteFunc(inv.chains, func(key blob.Chain, _ *chain) bool { return !inv.span.Has(key.Name) })
}

// addVersion adds a version of a manifest to its chain.
func (inv *inventory) addVersion(pi *packInfo, v *blob.Version) {
	c := inv.upsertChain(v, pi)
	c.states = blob.MergeStates(c.states, v.States(pi.manifest.Created))
	for _, e := range v.Extents {
		c.parts = append(c.parts, part{e, pi})
	}
}

// upsertChain returns the chain of a version. It adds the chain, or updates it if the version is a later state.
func (inv *inventory) upsertChain(v *blob.Version, by *packInfo) *chain {
	key := v.Chain()
	c := inv.chains[key]
	if c == nil {
		c = &chain{Version: *v, newest: by}
		inv.chains[key] = c
	}
	if v.Size > c.Size || v.Size == c.Size && by != nil {
		c.Version, c.newest = *v, by
	}
	c.Extents, c.Archived, c.Earlier = nil, time.Time{}, nil
	return c
}

// addIndexed adds what only the index knows: extents in packs whose manifests are lost, and versions that no manifest has any
// more, wherever their bytes are.
func (inv *inventory) addIndexed(ctx context.Context, wanted func(blob.Name) bool, limit int) error {
	if inv.repair.Index == nil || len(inv.unreadable) == 0 {
		return nil
	}
	n := 0
	for state, err := range inv.repair.Index.StatesIn(ctx, inv.span) {
		if err != nil {
			return err
		}
		if n++; n%1024 == 0 {
			inv.shortenSpan(limit)
		}
		if !inv.span.Has(state.Name()) {
			break // states are sorted by name
		}
		if !wanted(state.Name()) {
			continue
		}
		have := inv.chains[state.Version.Chain()]
		unknown := have == nil || have.Size < state.Size
		if unknown {
			inv.upsertChain(&state.Version, nil)
		}
		for _, e := range state.Extents {
			if unknown || inv.unreadable[e.CopyOf.Pack] {
				c := inv.upsertChain(&state.Version, nil)
				c.parts = append(c.parts, part{e, nil})
			}
		}
	}
	inv.shortenSpan(limit)
	return nil
}

func (inv *inventory) sorted() []*chain {
	return slices.SortedFunc(maps.Values(inv.chains), byName)
}

func byName(a, b *chain) int { return a.Version.Chain().Compare(b.Version.Chain()) }
