package repair

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
)

// writer writes what was found to new packs.
type writer struct {
	repair *Repair
	ctx    context.Context      // of Apply
	clock  time.Time            // when the newest pack was created
	packs  []string             // sealed packs
	stored map[extent]blob.Copy // contents in them

	pack     *pack.Writer // nil between packs
	manifest blob.Manifest
}

func (w *writer) write(p *Plan, damaged []*packInfo) error {
	for _, c := range p.chains {
		if err := w.writeChain(c); err != nil {
			return fmt.Errorf("%s/%s version %d: %w", c.Source, c.Path, c.Number, err)
		}
		if w.pack.Full(len(w.manifest.Versions)) {
			if err := w.seal(); err != nil {
				return err
			}
		}
	}
	var replaces []string
	for _, pi := range damaged {
		if !pi.replaced && (pi.known || !pi.missing) { // an unknown missing pack may come back, or be in a backup
			replaces = append(replaces, pi.Name)
		}
	}
	if w.pack == nil && len(replaces) == 0 && len(p.facts) == 0 {
		return nil
	}
	if err := w.begin(); err != nil {
		return err
	}
	w.manifest.Facts, w.manifest.Replaces = p.facts, replaces
	return w.seal()
}

// begin begins a pack that is newer than all others, unless one is open.
func (w *writer) begin() (err error) {
	if w.pack != nil {
		return nil
	}
	w.clock = pack.MonotonicTime(w.repair.Now(), w.clock)
	w.pack, err = pack.Begin(w.ctx, w.repair.Packs, w.repair.Writer, w.clock, w.repair.Format)
	return err
}

// writeChain writes those segments of a version that the manifests of sound packs do not have. It uses two packs if one cannot
// have all names, because two machines have given the same name to two originals.
func (w *writer) writeChain(c *chain) error {
	left := slices.DeleteFunc(slices.Clone(c.found), func(f segment) bool { return f.recorded })
	for {
		if err := w.begin(); err != nil {
			return err
		}
		v := c.Version
		v.Extents = make([]blob.Extent, len(left))
		v.SetStates(c.states)
		done, err := 0, error(nil)
		for done < len(left) && err == nil {
			if err = w.writeExtent(&v, &v.Extents[done], &left[done]); err == nil {
				done++
			}
		}
		v.Extents, left = v.Extents[:done], left[done:]
		w.manifest.Versions = append(w.manifest.Versions, v)
		if !errors.Is(err, pack.ErrNameTaken) {
			return err
		}
		if err := w.seal(); err != nil {
			return err
		}
	}
}

// writeExtent sets e to a segment of v, and stores its content unless a pack has it already.
func (w *writer) writeExtent(v *blob.Version, e *blob.Extent, f *segment) error {
	*e = blob.Extent{Offset: f.offset, Size: f.size, SHA256: f.sum}
	at := f.at
	if have, ok := w.stored[extent{f.size, f.sum}]; ok && at == nil {
		at = &have
	}
	if at != nil {
		e.CopyOf = at
		return nil
	}
	if of := w.pack.FindContent(e); of != nil {
		return w.pack.Link(v, e, of)
	}
	r, err := f.open(w.ctx)
	if err != nil {
		return err
	}
	return errors.Join(w.pack.Put(v, e, r), r.Close())
}

// seal makes the pack durable.
func (w *writer) seal() error {
	m, _, err := w.pack.Seal(w.ctx, w.manifest)
	if err != nil {
		return err
	}
	for _, v := range m.Versions {
		for _, e := range v.Extents {
			if e.CopyOf == nil && e.Size > 0 {
				w.stored[extent{e.Size, e.SHA256}] = blob.Copy{Pack: m.Pack, Raw: e.Raw}
			}
		}
	}
	w.packs = append(w.packs, m.Pack)
	w.pack, w.manifest = nil, blob.Manifest{}
	return nil
}
