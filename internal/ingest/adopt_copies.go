package ingest

import (
	"context"

	"github.com/txarchive/txarchive/internal/blob"
)

// toldPack is a pack whose manifest was looked through.
type toldPack struct {
	blob.Info
	names map[string]bool // other packs, which copies say that their bytes stand in
}

// look notes what a version names, and does not keep it.
func (t *toldPack) look(v *blob.Version) bool {
	for i := range v.Extents {
		if other := v.Extents[i].Place("").Pack; other != "" {
			t.names[other] = true
		}
	}
	return false
}

// places puts copies right which name packs that are gone: they are made to name the place where the same bytes stand
// now.
type places struct {
	at     map[string]int // packs that are there, by name, in their order
	stored map[blob.Ref]blob.Copy
}

// placesIn finds where the contents stand that copies in packs which are gone mean.
func (g *Ingester) placesIn(ctx context.Context, packs []toldPack) (*places, error) {
	p := &places{map[string]int{}, map[blob.Ref]blob.Copy{}}
	for i, t := range packs {
		p.at[t.Name] = i
	}
	wanted := map[blob.Ref]bool{}
	for _, t := range packs {
		if p.all(t.names) {
			continue
		}
		if _, err := g.manifest(ctx, t.Name, func(v *blob.Version) bool {
			for i := range v.Extents {
				if other := v.Extents[i].Place("").Pack; other != "" && !p.there(other) {
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
		if _, err := g.manifest(ctx, t.Name, func(v *blob.Version) bool {
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

func (p *places) there(pack string) bool {
	_, ok := p.at[pack]
	return ok
}

// all says whether all packs of a list are there.
func (p *places) all(names map[string]bool) bool {
	for name := range names {
		if !p.there(name) {
			return false
		}
	}
	return true
}

// redirect puts the copies of a manifest right, and returns the last pack that they name: packs up to that one must be
// indexed together. Copies name packs that come before theirs, until gc puts these into a later one.
func (p *places) redirect(m *blob.Manifest) (last int) {
	for j := range m.Versions {
		for k := range m.Versions[j].Extents {
			e := &m.Versions[j].Extents[k]
			if e.CopyOf == nil || e.CopyOf.Pack == "" {
				continue
			}
			if !p.there(e.CopyOf.Pack) {
				if now, ok := p.stored[e.SHA256]; ok {
					e.CopyOf = &now
				}
			}
			last = max(last, p.at[e.CopyOf.Pack])
		}
	}
	return last
}
