package backup

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
)

// Lost returns the packs of the newest snapshot that an archive has lost, by name: packs that are missing and that store something
// that no other pack of the archive has and no tombstone covers. What prune, gc, thin and forget remove is not lost.
func (b *Backup) Lost(ctx context.Context, from Source) ([]Pack, error) {
	last, err := b.Snapshot("")
	if err != nil {
		return nil, err
	}
	listed, err := list(ctx, from)
	if err != nil {
		return nil, err
	}
	return b.findLost(ctx, from, listed, last.Packs)
}

// findLost returns the lost packs among those of before. listed are the packs that the archive has, which are read from in.
func (b *Backup) findLost(ctx context.Context, in Source, listed, before []Pack) ([]Pack, error) {
	gone := map[string]*missingPack{}
	for _, p := range before {
		gone[p.Name] = &missingPack{Pack: p}
	}
	added := make([]Pack, 0, len(listed))
	for _, p := range listed {
		if _, ok := gone[p.Name]; !ok {
			added = append(added, p)
		}
		delete(gone, p.Name)
	}
	for _, p := range added { // a pack that replaces another is newer than the snapshot
		if len(gone) == 0 {
			return nil, nil
		}
		m, err := manifest(ctx, in, p.Name, func(*blob.Version) bool { return false })
		if err != nil && !isUnreadable(err) {
			return nil, err
		}
		for _, name := range m.Replaces {
			delete(gone, name)
		}
	}
	// The packs that are left were lost, or the packs that replaced them were replaced in turn: compare their contents.
	if err := b.dropStored(ctx, in, listed, gone); err != nil {
		return nil, err
	}
	packs := make([]Pack, 0, len(gone))
	for _, g := range gone {
		packs = append(packs, g.Pack)
	}
	slices.SortFunc(packs, byName)
	return packs, nil
}

// missingPack is a pack that the archive no longer has, with what only it may have stored.
type missingPack struct {
	Pack
	contents   []*content
	facts      int  // number of facts in its manifest
	factShared bool // another pack has a fact with the key of one of them
}

type fact struct{ kind, key string }

// content is what a missing pack stores of a chain, and which of it other packs have.
type content struct {
	blob.Version // without extents
	stored, have []span
	again        bool // the archive has the chain's last state as a version of another number: it was pruned, and archived again
}

// fileState is one content of one file, whatever its number.
type fileState struct {
	blob.Name
	sha256 blob.Ref
}

type span struct{ from, to int64 }

// dropStored removes from gone the packs whose content the listed packs have.
func (b *Backup) dropStored(ctx context.Context, in Source, listed []Pack, gone map[string]*missingPack) error {
	if len(gone) == 0 {
		return nil
	}
	present := map[string]bool{"": true}
	for _, p := range listed {
		present[p.Name] = true
	}
	wanted, facts := map[blob.Chain][]*content{}, map[fact][]*missingPack{}
	for _, g := range gone {
		if err := b.readMissing(ctx, g, wanted, facts); err != nil {
			return err
		}
	}
	last := lastStates(wanted)
	var tombstones blob.Tombstones
	for _, p := range listed {
		m, err := manifest(ctx, in, p.Name, func(v *blob.Version) bool {
			markAgain(v, last, present)
			for _, c := range wanted[v.Chain()] {
				c.have = append(c.have, presentSpans(v, present)...)
			}
			return false
		})
		if err != nil && !isUnreadable(err) {
			return err
		}
		for _, f := range m.Facts {
			tombstones.Add(f, p.Name)
			for _, g := range facts[fact{f.Kind, f.Key}] {
				g.factShared = true
			}
		}
	}
	maps.DeleteFunc(gone, func(_ string, g *missingPack) bool { return g.isElsewhere(&tombstones) })
	return nil
}

// lastStates returns the contents of each chain by its largest state, of which all others are the beginning.
func lastStates(wanted map[blob.Chain][]*content) map[fileState][]*content {
	all := map[fileState][]*content{}
	for chain, contents := range wanted {
		last := slices.MaxFunc(contents, func(x, y *content) int { return cmp.Compare(x.Size, y.Size) })
		state := fileState{chain.Name, last.SHA256}
		all[state] = append(all[state], contents...)
	}
	return all
}

// markAgain marks the contents of chains whose last state is one of v, all bytes of which are in packs that are present.
func markAgain(v *blob.Version, last map[fileState][]*content, present map[string]bool) {
	states := append([]blob.State{{Size: v.Size, SHA256: v.SHA256}}, v.Earlier...)
	for _, s := range states {
		contents := last[fileState{v.Chain().Name, s.SHA256}]
		if len(contents) == 0 {
			continue
		}
		whole := content{stored: []span{{0, s.Size}}, have: presentSpans(v, present)}
		for _, c := range contents {
			c.again = c.again || whole.isCovered()
		}
	}
}

// presentSpans returns which bytes of a version are in packs that are present, as far as its manifest knows.
func presentSpans(v *blob.Version, present map[string]bool) (all []span) {
	for _, e := range v.Extents {
		if present[e.Place("").Pack] {
			all = append(all, span{e.Offset, e.Offset + e.Size})
		}
	}
	return all
}

// readMissing reads from the backup what a missing pack stored.
func (b *Backup) readMissing(ctx context.Context, g *missingPack, wanted map[blob.Chain][]*content, facts map[fact][]*missingPack) error {
	m, err := manifest(ctx, b.packs, g.Name, func(v *blob.Version) bool {
		c := content{Version: *v}
		for _, e := range v.Extents {
			if e.CopyOf == nil {
				c.stored = append(c.stored, span{e.Offset, e.Offset + e.Size})
			}
		}
		if c.Extents, c.Earlier = nil, nil; len(c.stored) > 0 {
			g.contents, wanted[v.Chain()] = append(g.contents, &c), append(wanted[v.Chain()], &c)
		}
		return false
	})
	if isUnreadable(err) {
		return nil // the backup has lost it too: verify reports that, and nothing can be done here
	}
	g.facts = len(m.Facts)
	for _, f := range m.Facts {
		key := fact{f.Kind, f.Key}
		facts[key] = append(facts[key], g)
	}
	return err
}

// isElsewhere reports whether the archive needs nothing of a pack. Single facts may be missing because they were forgotten.
func (g *missingPack) isElsewhere(tombstones *blob.Tombstones) bool {
	for _, c := range g.contents {
		if _, deleted := tombstones.Of(&c.Version); !deleted && !c.again && !c.isCovered() {
			return false
		}
	}
	return len(g.contents) > 0 || g.facts == 0 || g.factShared
}

// isCovered reports whether other packs have everything that is stored.
func (c *content) isCovered() bool {
	slices.SortFunc(c.have, func(x, y span) int { return cmp.Compare(x.from, y.from) })
	for _, s := range c.stored {
		for _, h := range c.have {
			if h.from <= s.from && h.to > s.from {
				s.from = h.to
			}
		}
		if s.from < s.to {
			return false
		}
	}
	return true
}

// isUnreadable reports whether err says that a pack is damaged or missing.
func isUnreadable(err error) bool {
	return errors.Is(err, blob.ErrCorrupt) || errors.Is(err, blob.ErrNotFound)
}

func manifest(ctx context.Context, in Source, name string, keep pack.Filter) (blob.Manifest, error) {
	r, err := pack.Read(ctx, in, name, keep)
	if err != nil {
		return blob.Manifest{}, err
	}
	return r.Manifest(), nil
}
