package gc

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
	"github.com/txarchive/txarchive/internal/index"
)

// twin is a part whose bytes are those of another part. It becomes a hard link if both are in the main pack.
type twin struct {
	chain *Chain
	part  *part
	to    *relocation
}

// seal writes the manifests, the main one last: until it is durable, the old packs are the valid ones.
func (b *bundle) seal(ctx context.Context) (rows []*index.PackRow, err error) {
	main := b.volumes[len(b.volumes)-1]
	lines, twins := b.lines(main)
	if err := b.link(ctx, main, lines, twins); err != nil {
		return nil, err
	}
	for _, v := range b.volumes {
		m := blob.Manifest{}
		own := lines
		if v != main {
			own = map[*Chain][]blob.Extent{}
		} else {
			m.Facts = b.facts
			for _, old := range b.group {
				m.Replaces = append(m.Replaces, old.Name)
			}
			b.addForeign(lines)
		}
		if err := v.writer.Flush(); err != nil {
			return nil, err
		}
		for _, moved := range v.owns {
			c := moved.owner.Chain
			own[c] = append(own[c], moved.Extent)
		}
		m.Versions = versions(own)
		sealed, info, err := v.writer.Seal(ctx, m)
		if err != nil {
			return nil, err
		}
		v.name = sealed.Pack
		rows = append(rows, index.NewPackRow(&sealed, info.Size))
	}
	rows[len(rows)-1].Dead = b.dead()
	return rows, nil
}

// versions returns the versions of a manifest: the states of each chain with its extents in that pack.
func versions(lines map[*Chain][]blob.Extent) []blob.Version {
	all := make([]blob.Version, 0, len(lines))
	for c, extents := range lines {
		v := c.version()
		slices.SortFunc(extents, func(a, b blob.Extent) int { return cmp.Compare(a.Offset, b.Offset) })
		v.Extents = extents
		v.SetStates(c.states())
		all = append(all, v)
	}
	slices.SortFunc(all, func(a, b blob.Version) int {
		return a.Chain().Compare(b.Chain())
	})
	return all
}

// lines returns the living chains in the group's manifests, still without extents, and those parts of them whose
// bytes are stored under another chain's name.
func (b *bundle) lines(main *newVolume) (lines map[*Chain][]blob.Extent, twins []twin) {
	lines = map[*Chain][]blob.Extent{}
	for _, v := range b.group {
		for _, c := range v.lines {
			if _, known := lines[c]; known || c.dead {
				continue
			}
			lines[c] = nil
			for i := range c.parts {
				p := &c.parts[i]
				if b.members[p.by] == nil || p.at == nil {
					continue
				}
				if m := b.moves[p.at]; m != nil && m.volume == main && !m.holds(c, p) {
					twins = append(twins, twin{c, p, m})
				}
			}
		}
	}
	slices.SortFunc(twins, func(a, b twin) int {
		return cmp.Or(a.chain.key().Compare(b.chain.key()), cmp.Compare(a.part.Offset, b.part.Offset))
	})
	return lines, twins
}

// dead returns the versions in the group's manifests that are removed.
func (b *bundle) dead() (all []index.VersionKey) {
	for _, v := range b.group {
		for _, c := range v.lines {
			if c.dead {
				all = append(all, index.VersionKey{Source: c.Source, Path: c.Path, Number: c.Number})
			}
		}
	}
	return all
}

// link writes twins as hard links. If a name conflicts with others in the pack, the bytes go into an additional pack.
func (b *bundle) link(ctx context.Context, main *newVolume, lines map[*Chain][]blob.Extent, twins []twin) error {
	for _, t := range twins {
		v, e := t.chain.version(), blob.Extent{Offset: t.part.Offset, Size: t.part.Size, SHA256: t.part.SHA256}
		err := main.writer.Link(&v, &e, &t.to.Extent)
		if err == nil {
			lines[t.chain] = append(lines[t.chain], e)
			continue
		}
		if !errors.Is(err, pack.ErrNameTaken) {
			return err
		}
		content := b.library.Reader(ctx, []blob.Extent{t.part.stored()})
		if err := b.put(ctx, &relocation{owner: ref{t.chain, t.part}, Extent: e}, content); err != nil {
			return err
		}
	}
	return nil
}

// addForeign adds to the lines of the main pack the extents that are stored in other packs.
func (b *bundle) addForeign(lines map[*Chain][]blob.Extent) {
	for c := range lines {
		for i := range c.parts {
			p := &c.parts[i]
			if b.members[p.by] == nil {
				continue
			}
			e := blob.Extent{Offset: p.Offset, Size: p.Size, SHA256: p.SHA256}
			switch m := b.moves[p.at]; {
			case p.at == nil: // lost; keep what the manifest says about it
				e.CopyOf = new(p.Place(p.by))
			case m == nil:
				e.CopyOf = new(p.at.Copy)
			case m.volume.name != "" && !m.holds(c, p):
				e.CopyOf = &blob.Copy{Pack: m.volume.name, Raw: m.Raw}
			default:
				continue // owned or linked
			}
			lines[c] = append(lines[c], e)
		}
	}
}

// updateHoldings replaces the old packs in the holdings with the new ones.
func (b *bundle) updateHoldings(ctx context.Context, rows []*index.PackRow) error {
	h := b.holdings
	h.volumes = slices.DeleteFunc(h.volumes, func(v *volume) bool { return b.members[v.Name] != nil })
	var guests []uint64
	for _, old := range b.group {
		delete(h.byName, old.Name)
		h.stock.Remove(old.Name)
		guests = append(guests, old.foreign...)
		if len(rows) > 1 { // chains in one new manifest may need content of another new pack
			guests = append(guests, old.chains...)
		}
		old.release()
	}
	for _, row := range rows {
		v := &volume{Info: blob.Info{Name: row.Name, Size: row.Size}, foreign: guests}
		m, err := b.gc.open(ctx, v, func(version *blob.Version) bool {
			v.chains = append(v.chains, hashOf(version.Chain()))
			return false
		})
		if err != nil {
			return err
		}
		b.gc.add(h, v, &m)
	}
	return nil
}
