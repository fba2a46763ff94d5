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

// inventory is what is known about an archive from its manifests and, in place of those that are lost, from the index. For most
// contents it holds only their place and hash, some fifty bytes. Chains take most of a kilobyte each, so it holds only those of
// the current selection.
type inventory struct {
	repair      *Repair
	started     time.Time
	packs       map[string]*packInfo
	backupPacks []*packInfo
	unreadable  map[string]bool
	contents    pack.ContentIndex // of sound packs that no other replaces
	candidates  []candidateRef
	checked     map[candidateRef]*candidate // candidates that were read and hashed
	tombstones  blob.Tombstones
	losses      blob.Losses
	roots       map[string]blob.Fact // of sources
	library     *pack.Library
	clock       time.Time // when the newest pack was created
	open        []io.Closer
	total       int64 // number of contents

	span    blob.Span
	handled map[blob.Name]bool // originals that adoptOrphans has planned already
	chains  map[blob.Chain]*chain
	outside map[blob.Chain][]blob.Extent // as the backup or replaced packs state them
}

// packInfo is a pack of the archive, or of the backup.
type packInfo struct {
	blob.Info
	manifest blob.Manifest // for a sound pack without versions, which are read when they are selected
	stored   pack.Contents
	first    blob.Name // first and last original of a sound pack
	last     blob.Name
	sound    bool // as it was written, according to a verify
	known    bool // its content is known
	missing  bool
	replaced bool
	salvaged *pack.Salvaged
	pack     blob.Pack
	from     string
}

// isAuthoritative reports whether the manifest stays valid after the repair.
func (pi *packInfo) isAuthoritative() bool { return pi != nil && pi.sound && !pi.replaced }

type extent struct {
	size int64
	sum  blob.Ref
}

// chain is one content and its growth.
type chain struct {
	blob.Version           // the newest state, without extents
	newest       *packInfo // the pack that states it, nil if only the index does
	parts        []part
	states       []blob.State // all that manifests list
	deleted      bool

	rewrite bool      // it must be in a new manifest
	found   []segment // in order; set by locate
	lost    []blob.Loss
}

// part is an extent as a manifest states it, or the index, for which by is nil.
type part struct {
	blob.Extent
	by *packInfo
}

// location returns the recorded place of its bytes.
func (p *part) location() blob.Copy {
	if p.by == nil {
		return *p.CopyOf
	}
	return p.Place(p.by.Name)
}

func newInventory(r *Repair) *inventory {
	library := pack.NewLibrary(r.Packs, 8<<20)
	return &inventory{
		library: library, open: []io.Closer{library}, repair: r, started: r.Now().UTC().Truncate(time.Microsecond), packs: map[string]*packInfo{},
		checked: map[candidateRef]*candidate{}, roots: map[string]blob.Fact{}, unreadable: map[string]bool{},
	}
}

func (inv *inventory) close() error {
	var errs []error
	for _, c := range inv.open {
		errs = append(errs, c.Close())
	}
	inv.open = nil
	return errors.Join(errs...)
}

// load reads everything about the archive, its index and the backup except the chains.
func (inv *inventory) load(ctx context.Context) error {
	for info, err := range inv.repair.Packs.List(ctx) {
		if err != nil {
			return err
		}
		pi := &packInfo{Info: info, from: FromPack}
		if err := inv.readPack(ctx, pi); err != nil {
			return fmt.Errorf("pack %s: %w", info.Name, err)
		}
		inv.packs[info.Name] = pi
	}
	if err := inv.addMissing(ctx); err != nil {
		return err
	}
	if err := inv.readBackup(ctx); err != nil {
		return fmt.Errorf("read the backup: %w", err)
	}
	for _, name := range inv.names() {
		for _, old := range inv.packs[name].manifest.Replaces {
			if pi := inv.packs[old]; pi != nil {
				pi.replaced = true
			}
		}
	}
	for _, name := range inv.names() {
		inv.addPack(inv.packs[name])
	}
	inv.indexContents()
	if inv.repair.Index == nil {
		return nil
	}
	for f, err := range inv.repair.Index.Facts(ctx, factSource) {
		if err != nil {
			return fmt.Errorf("read the index: %w", err)
		}
		inv.addRoot(f)
	}
	for name, pi := range inv.packs {
		if !pi.sound && !pi.replaced && (pi.salvaged == nil || !pi.salvaged.HasManifest) {
			inv.unreadable[name] = true
		}
	}
	return nil
}

func (inv *inventory) names() []string { return slices.Sorted(maps.Keys(inv.packs)) }

// damaged returns the packs that will be replaced.
func (inv *inventory) damaged() (all []*packInfo) {
	for _, name := range inv.names() {
		if pi := inv.packs[name]; !pi.sound && !(pi.missing && pi.replaced) {
			all = append(all, pi)
		}
	}
	return all
}

// readPack reads the manifest of a pack, or salvages a damaged one.
func (inv *inventory) readPack(ctx context.Context, pi *packInfo) error {
	if !slices.Contains(inv.repair.Damaged, pi.Name) {
		err := pi.readManifest(ctx, inv.repair.Packs)
		if err == nil {
			pi.sound, pi.known = true, true
			inv.addFacts(pi)
			pi.manifest.Facts = nil // there may be more facts than originals
		}
		if !errors.Is(err, blob.ErrCorrupt) {
			return err
		}
	}
	p, err := inv.repair.Packs.Open(ctx, pi.Name)
	if err != nil {
		return err
	}
	pi.pack = &zeroFillPack{p, ctx}
	inv.open = append(inv.open, p)
	if pi.salvaged, err = pack.Salvage(ctx, pi.Name, pi.pack); err != nil {
		return err
	}
	pi.manifest, pi.known, pi.stored = pi.salvaged.Manifest, pi.salvaged.HasManifest, pi.salvaged.Stored()
	return nil
}

// readManifest reads a manifest without its versions.
func (pi *packInfo) readManifest(ctx context.Context, in blob.Store) error {
	r, err := pack.Read(ctx, in, pi.Name, func(*blob.Version) bool { return false })
	if err != nil {
		return err
	}
	pi.manifest, pi.stored = r.Manifest(), r.Stored()
	pi.first, pi.last = r.Names()
	return nil
}

// versions reads the versions of the originals that wanted accepts (nil: of all).
func (pi *packInfo) versions(ctx context.Context, in blob.Store, wanted func(blob.Name) bool) ([]blob.Version, error) {
	r, err := pack.ReadOriginals(ctx, in, pi.Name, wanted)
	if err != nil {
		return nil, err
	}
	return r.Manifest().Versions, nil
}

// zeroFillPack returns zeros for sectors that the disk fails to read, which are then damage like any other.
type zeroFillPack struct {
	blob.Pack
	ctx context.Context // in a field because io.ReaderAt has no context
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

// addMissing adds the packs that should exist but do not.
func (inv *inventory) addMissing(ctx context.Context) error {
	for _, name := range inv.repair.Missing {
		if inv.packs[name] == nil {
			inv.packs[name] = &packInfo{Info: blob.Info{Name: name}, missing: true, from: FromPack}
		}
	}
	if inv.repair.Index == nil {
		return nil
	}
	for name, err := range inv.repair.Index.Packs(ctx) {
		if err != nil {
			return err
		}
		if pi := inv.packs[name]; pi != nil {
			pi.known = true
		} else {
			inv.packs[name] = &packInfo{Info: blob.Info{Name: name}, missing: true, known: true, from: FromPack}
		}
	}
	return nil
}

// readBackup reads the manifests of the backup. They replace the manifests of packs that are missing or whose own is lost.
func (inv *inventory) readBackup(ctx context.Context) error {
	if inv.repair.Backup == nil {
		return nil
	}
	for info, err := range inv.repair.Backup.List(ctx) {
		if err != nil {
			return err
		}
		pi := &packInfo{Info: info, pack: &lazyPack{inventory: inv, store: inv.repair.Backup, Info: info}, from: FromBackup}
		err = pi.readManifest(ctx, inv.repair.Backup)
		if errors.Is(err, blob.ErrCorrupt) {
			inv.repair.Log.WarnContext(ctx, "a pack of the backup is damaged too", "pack", info.Name, "err", err)
			continue
		}
		if err != nil {
			return err
		}
		if have := inv.packs[info.Name]; have != nil && !have.sound && (have.salvaged == nil || !have.salvaged.HasManifest) {
			have.manifest, have.known = pi.manifest, true
			if have.manifest.Versions, err = pi.versions(ctx, inv.repair.Backup, nil); err != nil {
				return err
			}
		}
		pi.manifest.Facts = nil
		inv.backupPacks = append(inv.backupPacks, pi)
		inv.addCandidates(pi)
	}
	return nil
}

// addPack adds a pack without its versions: its facts, and its contents as candidates unless the pack stays.
func (inv *inventory) addPack(pi *packInfo) {
	m := &pi.manifest
	if m.Created.After(inv.clock) {
		inv.clock = m.Created
	}
	inv.addFacts(pi)
	inv.total += int64(len(pi.stored))
	switch {
	case pi.salvaged != nil:
		inv.addCandidates(pi)
		inv.addTornCandidates(pi)
	case pi.replaced && pi.sound: // it will be removed, so its contents must be stored again
		pi.pack = &lazyPack{inventory: inv, store: inv.repair.Packs, Info: pi.Info}
		inv.addCandidates(pi)
	}
}

// addFacts adds the facts of a manifest.
func (inv *inventory) addFacts(pi *packInfo) {
	for _, f := range pi.manifest.Facts {
		inv.tombstones.Add(f, pi.Name)
		inv.losses.Add(f, pi.Name)
		inv.addRoot(f)
	}
}

// factSource is the kind of facts that record where sources are.
const factSource = "source"

// addRoot records where a source is.
func (inv *inventory) addRoot(f blob.Fact) {
	if have, ok := inv.roots[f.Key]; f.Kind == factSource && (!ok || f.Time.After(have.Time)) {
		inv.roots[f.Key] = f
	}
}

// collectFacts adds to the plan the facts of damaged packs, and those about losses.
func (inv *inventory) collectFacts(ctx context.Context, p *Plan) error {
	for _, pi := range inv.damaged() {
		if pi.replaced {
			continue
		}
		p.facts = append(p.facts, pi.manifest.Facts...)
		if pi.manifest.Pack != "" || inv.repair.Index == nil {
			continue
		}
		for f, err := range inv.repair.Index.FactsIn(ctx, pi.Name) {
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
	now := inv.started
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
