package adopt

import (
	"context"

	"github.com/txarchive/txarchive/internal/blob"
)

// scannedPack is a pack whose manifest was read.
type scannedPack struct {
	blob.Info
	names      map[string]bool // other packs that its copies name
	tombstones bool            // it has some
}

// collectNames is a pack.Filter that notes the packs a version names, and keeps no version.
func (t *scannedPack) collectNames(v *blob.Version) bool {
	for i := range v.Extents {
		if other := v.Extents[i].Place("").Pack; other != "" {
			t.names[other] = true
		}
	}
	return false
}

// copyTargets redirects copies whose target pack is gone to a place where the same bytes are stored now.
type copyTargets struct {
	index  map[string]int         // packs that are present, and their positions in the order of names
	stored map[blob.Ref]blob.Copy // where the content that copies in missing packs refer to is stored
}

// findCopyTargets finds where content is stored that copies expect in packs which are gone.
func (a *Adopter) findCopyTargets(ctx context.Context, packs []scannedPack) (*copyTargets, error) {
	p := &copyTargets{map[string]int{}, map[blob.Ref]blob.Copy{}}
	for i, t := range packs {
		p.index[t.Name] = i
	}
	wanted := map[blob.Ref]bool{}
	for _, t := range packs {
		if p.hasAll(t.names) {
			continue
		}
		if _, err := a.manifest(ctx, t.Name, func(v *blob.Version) bool {
			for i := range v.Extents {
				if other := v.Extents[i].Place("").Pack; other != "" && !p.has(other) {
					wanted[v.Extents[i].SHA256] = true
				}
			}
			return false
		}); err != nil {
			return nil, err
		}
	}
	for _, t := range packs {
		if len(wanted) == 0 {
			break
		}
		if _, err := a.manifest(ctx, t.Name, func(v *blob.Version) bool {
			for i := range v.Extents {
				if e := &v.Extents[i]; e.CopyOf == nil && wanted[e.SHA256] {
					p.stored[e.SHA256] = blob.Copy{Pack: t.Name, Raw: e.Raw}
				}
			}
			return false
		}); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *copyTargets) has(pack string) bool {
	_, ok := p.index[pack]
	return ok
}

// hasAll reports whether all of the named packs are present.
func (p *copyTargets) hasAll(names map[string]bool) bool {
	for name := range names {
		if !p.has(name) {
			return false
		}
	}
	return true
}

// redirect corrects the copies of a manifest, and returns the position of the last pack that they name: packs up to that one must be
// indexed in one batch. Copies name earlier packs, unless gc has rewritten these into a later one.
func (p *copyTargets) redirect(m *blob.Manifest) (last int) {
	for j := range m.Versions {
		for k := range m.Versions[j].Extents {
			e := &m.Versions[j].Extents[k]
			if e.CopyOf == nil || e.CopyOf.Pack == "" {
				continue
			}
			if !p.has(e.CopyOf.Pack) {
				if now, ok := p.stored[e.SHA256]; ok {
					e.CopyOf = &now
				}
			}
			last = max(last, p.index[e.CopyOf.Pack])
		}
	}
	return last
}
