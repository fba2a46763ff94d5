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

// survey is what manifests, and the index in place of those that are lost, say of an archive.
type survey struct {
	repair   *Repair
	began    time.Time
	holdings map[string]*holding
	chains   map[chainKey]*chain
	stored   map[place]extent          // in sound packs that nobody replaces
	bySum    map[blob.Ref]place        // of stored
	pool     map[blob.Ref][]*candidate // that must be read and hashed before they are believed
	backups  map[chainKey][]blob.Extent
	graves   blob.Graveyard
	losses   blob.Losses
	roots    map[string]blob.Fact // of sources
	library  *pack.Library
	clock    time.Time // no pack is younger
	open     []io.Closer
}

// holding is a pack of the archive, or of the backup.
type holding struct {
	blob.Info
	manifest blob.Manifest
	sound    bool // as it was written, as far as a verify says
	told     bool // what it held is known
	missing  bool
	replaced bool
	wreck    *pack.Wreck
	pack     blob.Pack
	from     string
}

// teller says whether what the manifest says will stay said.
func (h *holding) teller() bool { return h != nil && h.sound && !h.replaced }

type place struct {
	pack string
	raw  int64
}

type extent struct {
	size int64
	sum  blob.Ref
}

type chainKey struct {
	source, path string
	number       int
	root         blob.Ref
}

// chain is one content and its growth.
type chain struct {
	blob.Version // the present state, without extents
	said         *holding
	parts        []part
	states       []blob.State // all that manifests tell of
	buried       bool

	tell  bool    // the new pack must tell of it
	found []found // what is there of it, in order, after settle
	lost  []blob.Loss
}

// part is an extent as something tells of it: by a manifest, or the index, for which by is nil.
type part struct {
	offset, size int64
	sum          blob.Ref
	at           place
	by           *holding
}

func newSurvey(r *Repair) *survey {
	library := pack.NewLibrary(r.Packs, 8<<20)
	return &survey{
		library: library, open: []io.Closer{library}, repair: r, began: r.Now().UTC().Truncate(time.Microsecond), holdings: map[string]*holding{}, chains: map[chainKey]*chain{},
		stored: map[place]extent{}, bySum: map[blob.Ref]place{}, roots: map[string]blob.Fact{}, pool: map[blob.Ref][]*candidate{}, backups: map[chainKey][]blob.Extent{},
	}
}

func (s *survey) close() error {
	var errs []error
	for _, c := range s.open {
		errs = append(errs, c.Close())
	}
	s.open = nil
	return errors.Join(errs...)
}

// read takes in the archive, its index and the backup.
func (s *survey) read(ctx context.Context) error {
	for info, err := range s.repair.Packs.List(ctx) {
		if err != nil {
			return err
		}
		h := &holding{Info: info, from: FromPack}
		if err := s.look(ctx, h); err != nil {
			return fmt.Errorf("pack %s: %w", info.Name, err)
		}
		s.holdings[info.Name] = h
	}
	if err := s.missing(ctx); err != nil {
		return err
	}
	if err := s.backup(ctx); err != nil {
		return fmt.Errorf("read the backup: %w", err)
	}
	for _, name := range s.names() {
		for _, old := range s.holdings[name].manifest.Replaces {
			if h := s.holdings[old]; h != nil {
				h.replaced = true
			}
		}
	}
	for _, name := range s.names() {
		s.take(s.holdings[name])
	}
	if err := s.asked(ctx); err != nil {
		return fmt.Errorf("ask the index: %w", err)
	}
	for _, c := range s.chains {
		_, c.buried = s.graves.Of(&c.Version)
	}
	return nil
}

func (s *survey) names() []string { return slices.Sorted(maps.Keys(s.holdings)) }

// wrecks are the packs that will be replaced.
func (s *survey) wrecks() (all []*holding) {
	for _, name := range s.names() {
		if h := s.holdings[name]; !h.sound && !(h.missing && h.replaced) {
			all = append(all, h)
		}
	}
	return all
}

// look reads the manifest of a pack, or what there is of a damaged one.
func (s *survey) look(ctx context.Context, h *holding) error {
	p, err := s.repair.Packs.Open(ctx, h.Name)
	if err != nil {
		return err
	}
	if !slices.Contains(s.repair.Damaged, h.Name) {
		r, err := pack.Open(ctx, p, h.Name)
		if err == nil {
			h.manifest, h.sound, h.told = r.Manifest(), true, true
			return p.Close()
		}
		if !errors.Is(err, blob.ErrCorrupt) {
			return errors.Join(err, p.Close())
		}
	}
	h.pack = &tolerant{p, ctx}
	s.open = append(s.open, p)
	if h.wreck, err = pack.Survey(ctx, h.Name, h.pack); err != nil {
		return err
	}
	h.manifest, h.told = h.wreck.Manifest, h.wreck.Known
	return nil
}

// tolerant gives zeros for what the disk does not give, which then is damage like any other.
type tolerant struct {
	blob.Pack
	ctx context.Context // it lives as long as the plan
}

const sector = 4 << 10

func (t *tolerant) ReadAt(p []byte, offset int64) (int, error) {
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

// missing adds the packs that the index knows and that are not there.
func (s *survey) missing(ctx context.Context) error {
	if s.repair.Index == nil {
		return nil
	}
	for name, err := range s.repair.Index.Packs(ctx) {
		if err != nil {
			return err
		}
		if h := s.holdings[name]; h != nil {
			h.told = true
		} else {
			s.holdings[name] = &holding{Info: blob.Info{Name: name}, missing: true, told: true, from: FromPack}
		}
	}
	return nil
}

// backup reads the manifests of another store. Those of packs that are damaged or missing here take the place of what is not
// known of them.
func (s *survey) backup(ctx context.Context) error {
	if s.repair.Backup == nil {
		return nil
	}
	for info, err := range s.repair.Backup.List(ctx) {
		if err != nil {
			return err
		}
		p, err := s.repair.Backup.Open(ctx, info.Name)
		if err != nil {
			return err
		}
		s.open = append(s.open, p)
		r, err := pack.Open(ctx, p, info.Name)
		if errors.Is(err, blob.ErrCorrupt) {
			s.repair.Log.WarnContext(ctx, "a pack of the backup is damaged too", "pack", info.Name, "err", err)
			continue
		}
		if err != nil {
			return err
		}
		h := &holding{Info: info, manifest: r.Manifest(), pack: p, from: FromBackup}
		if have := s.holdings[info.Name]; have != nil && !have.sound && (have.wreck == nil || !have.wreck.Known) {
			have.manifest, have.told = h.manifest, true
		}
		s.offer(h, h.manifest.Members)
		for i := range h.manifest.Versions {
			v := &h.manifest.Versions[i]
			key := chainKey{v.Source, v.Path, v.Number, v.Root}
			s.backups[key] = append(s.backups[key], v.Extents...)
		}
	}
	return nil
}

// take adds what a manifest says.
func (s *survey) take(h *holding) {
	m := &h.manifest
	if m.Created.After(s.clock) {
		s.clock = m.Created
	}
	for _, f := range m.Facts {
		s.graves.Add(f, h.Name)
		s.losses.Add(f, h.Name)
		s.root(f)
	}
	for i := range m.Versions {
		s.version(h, &m.Versions[i])
	}
	switch {
	case h.wreck != nil && h.wreck.Known:
		s.offer(h, h.wreck.All)
		s.offerTorn(h)
	case h.wreck != nil:
		for _, e := range h.wreck.Entries {
			s.propose(e.SHA256, &candidate{holding: h, members: h.wreck.All, raw: e.Raw, size: e.Size, sum: e.SHA256})
		}
	case h.replaced && h.sound: // it will be removed
		s.offerSound(h)
	}
}

// factSource is the kind of the facts that say where sources are.
const factSource = "source"

// root remembers where a source is.
func (s *survey) root(f blob.Fact) {
	if have, ok := s.roots[f.Key]; f.Kind == factSource && (!ok || f.Time.After(have.Time)) {
		s.roots[f.Key] = f
	}
}

// version takes in what a manifest says of a version.
func (s *survey) version(h *holding, v *blob.Version) {
	if h.teller() {
		for _, e := range v.Extents {
			if e.CopyOf == nil {
				at := place{h.Name, e.Raw}
				s.stored[at], s.bySum[e.SHA256] = extent{e.Size, e.SHA256}, at
			}
		}
	}
	if h.replaced {
		return
	}
	c := s.chain(v, h)
	c.states = blob.Merged(c.states, v.States(h.manifest.Created))
	for _, e := range v.Extents {
		at := place{h.Name, e.Raw}
		if e.CopyOf != nil {
			at.raw = e.CopyOf.Raw
			if e.CopyOf.Pack != "" {
				at.pack = e.CopyOf.Pack
			}
		}
		c.parts = append(c.parts, part{e.Offset, e.Size, e.SHA256, at, h})
	}
}

// chain returns the chain of a version, brought up to that state of it if it is a later one.
func (s *survey) chain(v *blob.Version, by *holding) *chain {
	key := chainKey{v.Source, v.Path, v.Number, v.Root}
	c := s.chains[key]
	if c == nil {
		c = &chain{Version: *v, said: by}
		s.chains[key] = c
	}
	if v.Size > c.Size || v.Size == c.Size && by != nil {
		c.Version, c.said = *v, by
	}
	c.Extents, c.Archived, c.Earlier = nil, time.Time{}, nil
	return c
}

// asked adds what only the index knows: versions of which bytes lie in packs whose manifests are lost, and those that no
// manifest tells of any more, wherever their bytes are.
func (s *survey) asked(ctx context.Context) error {
	if s.repair.Index == nil {
		return nil
	}
	for f, err := range s.repair.Index.Facts(ctx, factSource) {
		if err != nil {
			return err
		}
		s.root(f)
	}
	silent := map[string]bool{} // packs whose manifests are lost
	for name, h := range s.holdings {
		if !h.sound && !h.replaced && (h.wreck == nil || !h.wreck.Known) {
			silent[name] = true
		}
	}
	if len(silent) == 0 {
		return nil
	}
	for state, err := range s.repair.Index.States(ctx) {
		if err != nil {
			return err
		}
		have := s.chains[chainKey{state.Source, state.Path, state.Number, state.Root}]
		untold := have == nil || have.Size < state.Size
		if untold {
			s.chain(&state.Version, nil)
		}
		for _, e := range state.Extents {
			if untold || silent[e.CopyOf.Pack] {
				c := s.chain(&state.Version, nil)
				c.parts = append(c.parts, part{e.Offset, e.Size, e.SHA256, place{e.CopyOf.Pack, e.CopyOf.Raw}, nil})
			}
		}
	}
	return nil
}

// tellFacts gathers what lost packs said besides.
func (s *survey) tellFacts(ctx context.Context, p *Plan) error {
	for _, h := range s.wrecks() {
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
