package repair

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
)

// inventory is what manifests, and the index in place of those that are lost, say of an archive. Of most contents it only
// knows what stands where, some fifty bytes. The chains, of which each takes most of a kilobyte, are those of a selection.
type inventory struct {
	repair     *Repair
	began      time.Time
	packs      map[string]*packInfo
	offsite    []*packInfo // packs of the backup
	unreadable map[string]bool
	contents   pack.ContentIndex // of sound packs that nobody replaces
	candidates []candidateRef
	checked    map[candidateRef]*candidate // of pool
	tombstones blob.Tombstones
	losses     blob.Losses
	roots      map[string]blob.Fact // of sources
	library    *pack.Library
	clock      time.Time // no pack is younger
	open       []io.Closer
	total      int64 // contents

	span    blob.Span
	named   map[blob.Name]bool // originals that have had a selection of their own
	chains  map[blob.Chain]*chain
	backups map[blob.Chain][]blob.Extent
}

// packInfo is a pack of the archive, or of the backup.
type packInfo struct {
	blob.Info
	manifest blob.Manifest // of a sound pack without versions, which are read when they are selected
	stored   pack.Contents
	first    blob.Name // of the versions of a sound pack
	last     blob.Name
	sound    bool // as it was written, as far as a verify says
	known    bool // what it held is known
	missing  bool
	replaced bool
	salvaged *pack.Salvaged
	pack     blob.Pack
	from     string
}

// isAuthoritative says whether what the manifest says will stay said.
func (h *packInfo) isAuthoritative() bool { return h != nil && h.sound && !h.replaced }

type extent struct {
	size int64
	sum  blob.Ref
}

// chain is one content and its growth.
type chain struct {
	blob.Version // the present state, without extents
	newest       *packInfo
	parts        []part
	states       []blob.State // all that manifests tell of
	buried       bool

	rewrite bool      // the new pack must tell of it
	found   []segment // what is there of it, in order, after settle
	lost    []blob.Loss
}

// part is an extent as something tells of it: by a manifest, or the index, for which by is nil.
type part struct {
	blob.Extent
	by *packInfo
}

// location is where its bytes stand.
func (p *part) location() blob.Copy {
	if p.by == nil {
		return *p.CopyOf
	}
	return p.Place(p.by.Name)
}

func newInventory(r *Repair) *inventory {
	library := pack.NewLibrary(r.Packs, 8<<20)
	return &inventory{
		library: library, open: []io.Closer{library}, repair: r, began: r.Now().UTC().Truncate(time.Microsecond), packs: map[string]*packInfo{},
		checked: map[candidateRef]*candidate{}, roots: map[string]blob.Fact{}, unreadable: map[string]bool{},
	}
}

func (s *inventory) close() error {
	var errs []error
	for _, c := range s.open {
		errs = append(errs, c.Close())
	}
	s.open = nil
	return errors.Join(errs...)
}

// read takes in the archive, its index and the backup, but for the chains.
func (s *inventory) read(ctx context.Context) error {
	for info, err := range s.repair.Packs.List(ctx) {
		if err != nil {
			return err
		}
		h := &packInfo{Info: info, from: FromPack}
		if err := s.readPack(ctx, h); err != nil {
			return fmt.Errorf("pack %s: %w", info.Name, err)
		}
		s.packs[info.Name] = h
	}
	if err := s.missing(ctx); err != nil {
		return err
	}
	if err := s.backup(ctx); err != nil {
		return fmt.Errorf("read the backup: %w", err)
	}
	for _, name := range s.names() {
		for _, old := range s.packs[name].manifest.Replaces {
			if h := s.packs[old]; h != nil {
				h.replaced = true
			}
		}
	}
	for _, name := range s.names() {
		s.addPack(s.packs[name])
	}
	s.sort()
	if s.repair.Index == nil {
		return nil
	}
	for f, err := range s.repair.Index.Facts(ctx, factSource) {
		if err != nil {
			return fmt.Errorf("ask the index: %w", err)
		}
		s.addRoot(f)
	}
	for name, h := range s.packs {
		if !h.sound && !h.replaced && (h.salvaged == nil || !h.salvaged.HasManifest) {
			s.unreadable[name] = true
		}
	}
	return nil
}

func (s *inventory) names() []string { return slices.Sorted(maps.Keys(s.packs)) }

// damaged are the packs that will be replaced.
func (s *inventory) damaged() (all []*packInfo) {
	for _, name := range s.names() {
		if h := s.packs[name]; !h.sound && !(h.missing && h.replaced) {
			all = append(all, h)
		}
	}
	return all
}

// readPack reads the manifest of a pack, or what there is of a damaged one.
func (s *inventory) readPack(ctx context.Context, h *packInfo) error {
	if !slices.Contains(s.repair.Damaged, h.Name) {
		err := h.readManifest(ctx, s.repair.Packs)
		if err == nil {
			h.sound, h.known = true, true
			s.addFacts(h)
			h.manifest.Facts = nil // there may be more of them than of originals
		}
		if !errors.Is(err, blob.ErrCorrupt) {
			return err
		}
	}
	p, err := s.repair.Packs.Open(ctx, h.Name)
	if err != nil {
		return err
	}
	h.pack = &zeroFillPack{p, ctx}
	s.open = append(s.open, p)
	if h.salvaged, err = pack.Salvage(ctx, h.Name, h.pack); err != nil {
		return err
	}
	h.manifest, h.known, h.stored = h.salvaged.Manifest, h.salvaged.HasManifest, h.salvaged.Stored()
	return nil
}

// readManifest reads a manifest but for its versions.
func (h *packInfo) readManifest(ctx context.Context, in blob.Store) error {
	r, err := pack.Read(ctx, in, h.Name, func(*blob.Version) bool { return false })
	if err != nil {
		return err
	}
	h.manifest, h.stored = r.Manifest(), r.Stored()
	h.first, h.last = r.Names()
	return nil
}

// versions reads those of some originals (nil: of all) in a manifest.
func (h *packInfo) versions(ctx context.Context, in blob.Store, of func(blob.Name) bool) ([]blob.Version, error) {
	r, err := pack.ReadOf(ctx, in, h.Name, of)
	if err != nil {
		return nil, err
	}
	return r.Manifest().Versions, nil
}

// zeroFillPack gives zeros for what the disk does not give, which then is damage like any other.
type zeroFillPack struct {
	blob.Pack
	ctx context.Context // it lives as long as the plan
}

const sector = 4 << 10

func (t *zeroFillPack) ReadAt(p []byte, offset int64) (int, error) {
	n, err := t.Pack.ReadAt(p, offset)
	if err == nil || errors.Is(err, io.EOF) || t.ctx.Err() != nil {
		return n, err
	}
	clear(p)
	for from := 0; from < len(p); from += sector {
		one := p[from:min(from+sector, len(p))]
		if n, err := t.Pack.ReadAt(one, offset+int64(from)); errors.Is(err, io.EOF) {
			return from + n, io.EOF
		} else if err != nil {
			clear(one)
		}
	}
	return len(p), nil
}

// missing adds the packs that should be there and are not.
func (s *inventory) missing(ctx context.Context) error {
	for _, name := range s.repair.Missing {
		if s.packs[name] == nil {
			s.packs[name] = &packInfo{Info: blob.Info{Name: name}, missing: true, from: FromPack}
		}
	}
	if s.repair.Index == nil {
		return nil
	}
	for name, err := range s.repair.Index.Packs(ctx) {
		if err != nil {
			return err
		}
		if h := s.packs[name]; h != nil {
			h.known = true
		} else {
			s.packs[name] = &packInfo{Info: blob.Info{Name: name}, missing: true, known: true, from: FromPack}
		}
	}
	return nil
}

// backup reads the manifests of another store. Those of packs that are damaged or missing here take the place of what is not
// known of them.
func (s *inventory) backup(ctx context.Context) error {
	if s.repair.Backup == nil {
		return nil
	}
	for info, err := range s.repair.Backup.List(ctx) {
		if err != nil {
			return err
		}
		h := &packInfo{Info: info, pack: &lazyPack{survey: s, store: s.repair.Backup, Info: info}, from: FromBackup}
		err = h.readManifest(ctx, s.repair.Backup)
		if errors.Is(err, blob.ErrCorrupt) {
			s.repair.Log.WarnContext(ctx, "a pack of the backup is damaged too", "pack", info.Name, "err", err)
			continue
		}
		if err != nil {
			return err
		}
		if have := s.packs[info.Name]; have != nil && !have.sound && (have.salvaged == nil || !have.salvaged.HasManifest) {
			have.manifest, have.known = h.manifest, true
			if have.manifest.Versions, err = h.versions(ctx, s.repair.Backup, nil); err != nil {
				return err
			}
		}
		h.manifest.Facts = nil
		s.offsite = append(s.offsite, h)
		s.addCandidates(h)
	}
	return nil
}

// addPack adds what a manifest says but for its versions.
func (s *inventory) addPack(h *packInfo) {
	m := &h.manifest
	if m.Created.After(s.clock) {
		s.clock = m.Created
	}
	s.addFacts(h)
	s.total += int64(len(h.stored))
	switch {
	case h.salvaged != nil:
		s.addCandidates(h)
		s.addTornCandidates(h)
	case h.replaced && h.sound: // it will be removed
		h.pack = &lazyPack{survey: s, store: s.repair.Packs, Info: h.Info}
		s.addCandidates(h)
	}
}

// addFacts takes in the facts of a manifest.
func (s *inventory) addFacts(h *packInfo) {
	for _, f := range h.manifest.Facts {
		s.tombstones.Add(f, h.Name)
		s.losses.Add(f, h.Name)
		s.addRoot(f)
	}
}

// factSource is the kind of the facts that say where sources are.
const factSource = "source"

// addRoot remembers where a source is.
func (s *inventory) addRoot(f blob.Fact) {
	if have, ok := s.roots[f.Key]; f.Kind == factSource && (!ok || f.Time.After(have.Time)) {
		s.roots[f.Key] = f
	}
}

// collectFacts gathers what lost packs said besides.
func (s *inventory) collectFacts(ctx context.Context, p *Plan) error {
	for _, h := range s.damaged() {
		if h.replaced {
			continue
		}
		p.facts = append(p.facts, h.manifest.Facts...)
		if h.manifest.Pack != "" || s.repair.Index == nil {
			continue
		}
		for f, err := range s.repair.Index.FactsIn(ctx, h.Name) {
			if err != nil {
				return err
			}
			if len(f.Value) > 0 && string(f.Value) == "{}" && strings.HasPrefix(f.Kind, "ledger") {
				p.LostFacts++
				continue
			}
			p.facts = append(p.facts, f)
		}
	}
	now := s.began
	for _, l := range p.Found {
		if !slices.ContainsFunc(p.Lost, func(n blob.Loss) bool { return n.Key() == l.Key() }) {
			p.facts = append(p.facts, l.Retract(now))
		}
	}
	for _, l := range p.Lost {
		p.facts = append(p.facts, l.Fact(now))
	}
	return nil
}
