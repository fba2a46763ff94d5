package repair

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
)

// A new pack takes so many raw bytes, roughly, and so much memory for the originals that it tells of, as one of an ingest does:
// the index takes in a pack all at once.
const (
	packRaw      = 48 << 20
	packTold     = 16 << 20
	versionBytes = 1000
)

// writer puts what was found into new packs.
type writer struct {
	repair *Repair
	ctx    context.Context // a writer lives as long as the call that made it
	format pack.Options
	clock  time.Time        // new packs are younger
	packs  []string         // that are sealed
	stored map[extent]place // contents in them

	pack     *pack.Writer // nil between packs
	builder  *pack.Builder
	manifest blob.Manifest
	names    pack.Names      // of entries
	here     map[extent]told // contents in this pack
	late     []told          // with their content in the builder's shared member
	twins    []twin
	raw      int64
}

// told is an extent in the manifest, and the name of its entry.
type told struct {
	version, extent int
	name            string
}

// twin is an extent of which this pack has the content under another name.
type twin struct{ told, of told }

func (w *writer) at(t told) *blob.Extent { return &w.manifest.Versions[t.version].Extents[t.extent] }

func (w *writer) write(p *Plan, wrecks []*holding) error {
	for _, c := range p.chains {
		if err := w.chain(c); err != nil {
			return fmt.Errorf("%s/%s version %d: %w", c.Source, c.Path, c.Number, err)
		}
		if w.raw >= packRaw || len(w.manifest.Versions)*versionBytes >= cmp.Or(w.repair.packTold, packTold) {
			if err := w.seal(); err != nil {
				return err
			}
		}
	}
	var replaces []string
	for _, h := range wrecks {
		if !h.replaced {
			replaces = append(replaces, h.Name)
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

// begin starts a pack that is younger than all others, for what it says must count as the newest.
func (w *writer) begin() error {
	if w.pack != nil {
		return nil
	}
	up, err := w.repair.Packs.Create(w.ctx)
	if err != nil {
		return err
	}
	now := w.repair.Now()
	if least := w.clock.Add(time.Millisecond); now.Before(least) {
		now = least
	}
	w.clock = now
	w.builder = pack.NewBuilder(w.format)
	w.names, w.here = pack.Names{}, map[extent]told{}
	w.pack, err = pack.NewWriter(up, w.repair.Writer, now, w.format)
	return err
}

// chain tells of one version what sound packs do not say of it.
func (w *writer) chain(c *chain) error {
	tell := func() (int, error) {
		err := w.begin()
		v := c.Version
		v.Extents = nil
		v.Tell(c.states)
		w.manifest.Versions = append(w.manifest.Versions, v)
		return len(w.manifest.Versions) - 1, err
	}
	version, err := tell()
	for _, f := range c.found {
		if err != nil {
			return err
		}
		if f.told {
			continue
		}
		name := pack.EntryName(c.Source, c.Path, c.Number, c.Root, f.offset)
		if f.at == nil && !w.names.Add(name) { // two machines have given one name to two originals
			if err := w.seal(); err != nil {
				return err
			}
			if version, err = tell(); err != nil {
				return err
			}
		}
		err = w.extent(version, name, f)
	}
	return err
}

// extent adds an extent to a version, with its content unless that stands somewhere.
func (w *writer) extent(version int, name string, f found) error {
	v := &w.manifest.Versions[version]
	key := extent{f.size, f.sum}
	t := told{version, len(v.Extents), name}
	e := blob.Extent{Offset: f.offset, Size: f.size, SHA256: f.sum}
	stands, elsewhere := w.stored[key]
	twinned, here := w.here[key]
	switch {
	case f.at != nil:
		e.CopyOf = &blob.Copy{Pack: f.at.pack, Raw: f.at.raw}
	case f.size > 0 && elsewhere:
		e.CopyOf = &blob.Copy{Pack: stands.pack, Raw: stands.raw}
	case f.size > 0 && here:
		w.twins = append(w.twins, twin{t, twinned})
	default:
		v.Extents = append(v.Extents, e)
		w.here[key] = t
		w.raw += f.size
		return w.entry(t, v, f)
	}
	v.Extents = append(v.Extents, e)
	return nil
}

// entry stores what was found: small contents together in members, large ones by themselves.
func (w *writer) entry(t told, v *blob.Version, f found) error {
	r, err := f.open(w.ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	if f.size < int64(w.builder.MemberSize()) {
		data := make([]byte, f.size)
		if _, err := io.ReadFull(r, data); err != nil {
			return err
		}
		raw, err := w.builder.Small(t.name, data, v.ModTime, v.Mode)
		if err != nil {
			return err
		}
		w.at(t).Raw = raw
		w.late = append(w.late, t)
		if w.builder.Full() {
			return w.flush()
		}
		return nil
	}
	unit, err := w.builder.LargeUnit(t.name, f.size, v.ModTime, v.Mode, io.LimitReader(r, f.size))
	if err != nil {
		return err
	}
	base, err := w.pack.Append(unit)
	w.at(t).Raw = base + unit.Entries[0].Raw
	return err
}

// flush ends the shared member.
func (w *writer) flush() error {
	unit := w.builder.Flush()
	if unit == nil {
		return nil
	}
	base, err := w.pack.Append(unit)
	for _, t := range w.late {
		w.at(t).Raw += base
	}
	w.late = nil
	return err
}

// link makes the twins hard links.
func (w *writer) link() error {
	for _, t := range w.twins {
		v := &w.manifest.Versions[t.told.version]
		if err := w.builder.Link(t.told.name, t.of.name, v.ModTime, v.Mode); err != nil {
			return err
		}
		w.at(t.told).CopyOf = &blob.Copy{Raw: w.at(t.of).Raw}
	}
	w.twins = nil
	return w.flush()
}

// seal makes the pack durable.
func (w *writer) seal() error {
	if err := w.flush(); err != nil {
		return err
	}
	if err := w.link(); err != nil {
		return err
	}
	m, _, err := w.pack.Seal(w.ctx, w.manifest)
	if err != nil {
		return err
	}
	for key, t := range w.here {
		w.stored[key] = place{m.Pack, w.at(t).Raw}
	}
	w.packs = append(w.packs, m.Pack)
	w.pack, w.manifest, w.raw = nil, blob.Manifest{}, 0
	return nil
}

func (w *writer) abort() error {
	if w.pack == nil {
		return nil
	}
	return w.pack.Abort()
}
