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

// Lost returns the packs of the newest snapshot that an archive has lost, by name: they are not there, and something that they store
// stands in no other of its packs, without a tombstone on it. What prune, gc, thin and forget take away is not lost.
func (b *Backup) Lost(ctx context.Context, from Source) ([]Pack, error) {
	last, err := b.Snapshot("")
	if err != nil {
		return nil, err
	}
	listed, err := list(ctx, from)
	if err != nil {
		return nil, err
	}
	return b.lost(ctx, from, listed, last.Packs)
}

// lost are those of the packs of before that are neither listed nor replaced. listed are read from in.
func (b *Backup) lost(ctx context.Context, in Source, listed, before []Pack) ([]Pack, error) {
	gone := map[string]*goner{}
	for _, p := range before {
		gone[p.Name] = &goner{Pack: p}
	}
	added := make([]Pack, 0, len(listed))
	for _, p := range listed {
		if _, ok := gone[p.Name]; !ok {
			added = append(added, p)
		}
		delete(gone, p.Name)
	}
	for _, p := range added { // what took the place of a pack is newer than the snapshot
		if len(gone) == 0 {
			return nil, nil
		}
		m, err := manifest(ctx, in, p.Name, func(*blob.Version) bool { return false })
		if err != nil && !unreadable(err) {
			return nil, err
		}
		for _, name := range m.Replaces {
			delete(gone, name)
		}
	}
	// What is left was lost, or what replaced it was itself replaced since the snapshot: its contents tell.
	if err := b.ask(ctx, in, listed, gone); err != nil {
		return nil, err
	}
	packs := make([]Pack, 0, len(gone))
	for _, g := range gone {
		packs = append(packs, g.Pack)
	}
	slices.SortFunc(packs, byName)
	return packs, nil
}

// goner is a pack that is gone, with what it alone may have.
type goner struct {
	Pack
	contents []*content
	facts    int  // that it tells of
	told     bool // of some of them others tell too
}

type fact struct{ kind, key string }

// content is what a pack stores of a chain.
type content struct {
	blob.Version // without extents
	stored, have []span
}

type span struct{ from, to int64 }

// ask removes from gone what others have.
func (b *Backup) ask(ctx context.Context, in Source, listed []Pack, gone map[string]*goner) error {
	if len(gone) == 0 {
		return nil
	}
	present := map[string]bool{"": true}
	for _, p := range listed {
		present[p.Name] = true
	}
	wanted, facts := map[blob.Chain][]*content{}, map[fact][]*goner{}
	for _, g := range gone {
		if err := b.recall(ctx, g, wanted, facts); err != nil {
			return err
		}
	}
	var graves blob.Tombstones
	for _, p := range listed {
		m, err := manifest(ctx, in, p.Name, func(v *blob.Version) bool {
			for _, c := range wanted[v.Chain()] {
				for _, e := range v.Extents {
					if present[e.Place("").Pack] {
						c.have = append(c.have, span{e.Offset, e.Offset + e.Size})
					}
				}
			}
			return false
		})
		if err != nil && !unreadable(err) {
			return err
		}
		for _, f := range m.Facts {
			graves.Add(f, p.Name)
			for _, g := range facts[fact{f.Kind, f.Key}] {
				g.told = true
			}
		}
	}
	maps.DeleteFunc(gone, func(_ string, g *goner) bool { return g.isElsewhere(&graves) })
	return nil
}

// recall reads what a pack stored from the backup.
func (b *Backup) recall(ctx context.Context, g *goner, wanted map[blob.Chain][]*content, facts map[fact][]*goner) error {
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
	if unreadable(err) {
		return nil // the backup has lost it too: verify says so, and nothing can be done here
	}
	g.facts = len(m.Facts)
	for _, f := range m.Facts {
		key := fact{f.Kind, f.Key}
		facts[key] = append(facts[key], g)
	}
	return err
}

// isElsewhere says whether the archive needs nothing of a pack. Single facts may have been forgotten.
func (g *goner) isElsewhere(graves *blob.Tombstones) bool {
	for _, c := range g.contents {
		if _, buried := graves.Of(&c.Version); !buried && !c.whole() {
			return false
		}
	}
	return len(g.contents) > 0 || g.facts == 0 || g.told
}

// whole says whether others have all that is stored.
func (c *content) whole() bool {
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

// unreadable says that a pack is damaged or not there, so that it tells nothing.
func unreadable(err error) bool {
	return errors.Is(err, blob.ErrCorrupt) || errors.Is(err, blob.ErrNotFound)
}

func manifest(ctx context.Context, in Source, name string, keep pack.Filter) (blob.Manifest, error) {
	r, err := pack.Read(ctx, in, name, keep)
	if err != nil {
		return blob.Manifest{}, err
	}
	return r.Manifest(), nil
}
