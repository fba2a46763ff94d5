package gc

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
)

// chainLimit is how many chains are held in memory at a time when all are visited.
const chainLimit = 1 << 17

// survey reads all manifests, and measures how much of each pack is needed.
func (g *GC) survey(ctx context.Context) (*holdings, error) {
	h, err := g.walk(ctx, nil, func(h *holdings, _ blob.Span) error { h.measure(); return nil })
	if err != nil {
		return nil, err
	}
	for _, v := range h.volumes {
		v.foreign = slices.Compact(slices.Sorted(slices.Values(v.foreign)))
		v.setUnused()
	}
	return h, nil
}

// walk reads all manifests, and calls each for one span of names after another. During the call the chains of the
// span that wanted accepts (nil accepts all) are selected, at most ChainLimit at a time. A pack that cannot be read
// ends the walk: it may need content that would be removed.
func (g *GC) walk(ctx context.Context, wanted func(blob.Name) bool, each func(*holdings, blob.Span) error) (*holdings, error) {
	s := &walker{gc: g, wanted: wanted, limit: cmp.Or(g.ChainLimit, chainLimit), replaced: map[string]bool{}}
	err := s.gather(ctx)
	if err == nil && slices.ContainsFunc(s.holdings.volumes, func(v *volume) bool { return s.replaced[v.Name] }) {
		s.holdings = nil    // do not hold two in memory
		err = s.gather(ctx) // packs that an interrupted gc left behind were added before their replacement was seen
	}
	if err != nil {
		return nil, err
	}
	h := s.holdings
	for more := true; more; {
		g.resolve(h)
		if err := each(h, s.span); err != nil {
			return nil, err
		}
		if s.span, more = s.span.Next(); more {
			h.deselect()
			if err := s.selectSpan(ctx); err != nil {
				return nil, err
			}
		}
	}
	return h, nil
}

// Chains are the chains that a Walk has selected.
type Chains struct{ h *holdings }

// Find returns the chain with a key, or nil.
func (c Chains) Find(k blob.Chain) *Chain { return c.h.chain(k) }

// Clock returns the creation time of the youngest pack.
func (c Chains) Clock() time.Time { return c.h.clock }

// Walk reads all manifests, and calls each for one span of names after another. During the call those chains of the
// span are selected whose names wanted accepts. A pack that cannot be read ends the walk.
func (g *GC) Walk(ctx context.Context, wanted func(blob.Name) bool, each func(Chains, blob.Span) error) error {
	own := *g
	own.began = own.Now()
	_, err := own.walk(ctx, wanted, func(h *holdings, span blob.Span) error { return each(Chains{h}, span) })
	return err
}

// walker is the state of a walk from span to span.
type walker struct {
	gc       *GC
	wanted   func(blob.Name) bool
	limit    int
	replaced map[string]bool // packs that others replace
	holdings *holdings
	span     blob.Span
}

func (s *walker) wants(n blob.Name) bool { return s.span.Has(n) && (s.wanted == nil || s.wanted(n)) }

// gather adds what the manifests say, one after another, except packs known to be replaced, and records which packs
// are. It selects the chains of a first span.
func (s *walker) gather(ctx context.Context) error {
	h := &holdings{byName: map[string]*volume{}, replaced: s.replaced, matched: map[string]int64{}, leftovers: map[string][]uint64{}, incomplete: map[uint64]bool{}, factsLimit: cmp.Or(s.gc.factsLimit, FactsBytes)}
	h.deselect()
	s.holdings, s.span = h, blob.Span{}
	for info, err := range s.gc.Packs.List(ctx) {
		if err != nil {
			return err
		}
		v := &volume{Info: info}
		m, err := s.gc.open(ctx, v, func(version *blob.Version) bool {
			v.chains = append(v.chains, hashOf(version.Chain()))
			for i := range version.Extents {
				h.bytes += version.Extents[i].Size
			}
			return s.wants(version.Name())
		})
		if err != nil && s.gc.replaced[info.Name] {
			continue // nobody needs it, or a repair does
		}
		if err != nil {
			return err
		}
		for _, name := range m.Replaces {
			s.replaced[name] = true
		}
		if s.replaced[info.Name] {
			h.leftovers[info.Name] = v.chains
		} else {
			s.gc.add(h, v, &m)
			s.span = h.selectVersions(v, &m, s.span, h.tombstones.VersionBudget(s.limit))
		}
	}
	return nil
}

// selectSpan selects the chains of the span. It may shorten the span.
func (s *walker) selectSpan(ctx context.Context) error {
	h := s.holdings
	for _, v := range h.volumes {
		if !s.span.Overlaps(v.first, v.last) {
			continue
		}
		r, err := pack.ReadOriginals(ctx, s.gc.Packs, v.Name, s.wants)
		if err != nil {
			return err
		}
		m := r.Manifest()
		s.span = h.selectVersions(v, &m, s.span, h.tombstones.VersionBudget(s.limit))
	}
	return nil
}

// selectGroup selects, completely, the chains that are in the manifests of a group of packs or need content of these
// packs, and the facts in the manifests.
func (g *GC) selectGroup(ctx context.Context, h *holdings, group group) error {
	h.deselect()
	chains, facts := map[uint64]bool{}, map[uint64]bool{}
	for _, v := range group {
		for _, hash := range slices.Concat(v.chains, v.foreign) {
			chains[hash] = true
		}
		for _, hash := range v.facts {
			facts[hash] = true
		}
	}
	for _, v := range h.volumes {
		if !slices.ContainsFunc(v.chains, func(hash uint64) bool { return chains[hash] }) &&
			!slices.ContainsFunc(v.facts, func(hash uint64) bool { return facts[hash] }) {
			continue
		}
		m, err := g.open(ctx, v, func(version *blob.Version) bool { return chains[hashOf(version.Chain())] })
		if err != nil {
			return err
		}
		h.selectVersions(v, &m, blob.Span{}, math.MaxInt)
		for _, f := range m.Facts {
			if facts[hashOfFact(&f)] && !g.drops(f) {
				h.fact(f, v.Name)
			}
		}
	}
	g.resolve(h)
	return nil
}

// fact adds a fact. The newest fact of a key wins; of several equally new ones, that of the newer pack.
func (h *holdings) fact(f blob.Fact, pack string) {
	key := factKey{f.Kind, f.Key}
	if have, ok := h.facts[key]; !ok || !f.Time.Before(have.Time) {
		h.facts[key] = storedFact{f, pack}
	}
}

func (g *GC) drops(f blob.Fact) bool { return g.DropFact != nil && g.DropFact(f) }

// selectVersions adds versions to the selection. It shortens the span if there would be too many.
func (h *holdings) selectVersions(v *volume, m *blob.Manifest, span blob.Span, limit int) blob.Span {
	for i := range m.Versions {
		h.addVersion(v, &m.Versions[i], m.Created)
	}
	if h.count <= limit {
		return span
	}
	span = span.Cut(func(yield func(blob.Chain) bool) { h.chains(func(c *Chain) bool { return yield(c.key()) }) }, limit)
	h.drop(func(c *Chain) bool { return !span.Has(c.name()) })
	return span
}

// resolve determines the location of the selected chains.
func (g *GC) resolve(h *holdings) {
	for c := range h.chains {
		g.setDead(h, c)
		h.resolve(c)
	}
}

// setDead determines whether a chain is dead. The grace period does not apply to what must be forgotten.
func (g *GC) setDead(h *holdings, c *Chain) {
	v := c.version()
	tombstone, tombstoned := h.tombstones.Of(&v)
	forgotten := tombstoned && tombstone.Plan == blob.PlanForget
	expired := g.Options.Grace <= 0 || !tombstone.Since.Add(g.Options.Grace).After(g.began)
	c.tombstoned = tombstoned
	c.dead = forgotten || tombstoned && expired && !g.Options.Forgotten || g.Drop != nil && g.Drop(&v)
}

// open reads the manifest of a pack, with the versions that keep accepts, and the list of its contents.
func (g *GC) open(ctx context.Context, v *volume, keep pack.Filter) (m blob.Manifest, err error) {
	r, err := pack.Read(ctx, g.Packs, v.Name, keep)
	if err != nil {
		return m, err
	}
	if v.units == nil {
		v.first, v.last = r.Names()
		v.units, v.stored = r.Units(), r.Stored()
		v.needed = make([]bool, len(v.stored))
	}
	return r.Manifest(), nil
}

// add adds a pack to the holdings.
func (g *GC) add(h *holdings, v *volume, m *blob.Manifest) {
	h.volumes, h.byName[v.Name] = append(h.volumes, v), v
	h.stock.Add(v.Name, v.stored)
	if m.Created.After(h.clock) {
		h.clock = m.Created
	}
	for _, f := range m.Facts {
		h.tombstones.Add(f, v.Name)
		h.losses.Add(f, v.Name)
		if g.matches != nil && g.matches(f) {
			h.matched[f.Kind]++
		}
		if g.drops(f) {
			v.unused += ManifestLine
			continue
		}
		v.facts, v.factBytes = append(v.facts, hashOfFact(&f)), v.factBytes+len(f.Value)+FactBytes
	}
	v.facts = slices.Clone(v.facts) // trim the capacity
}

// measure records what the selection needs of the packs, and which of their chains are dead.
func (h *holdings) measure() {
	for c := range h.chains {
		switch {
		case c.dead:
			h.dead++
		case c.tombstoned:
			h.spared++
		}
		if v := c.version(); !c.dead && !c.Complete() && len(h.losses.Of(&v)) == 0 {
			h.incomplete[hashOf(c.key())] = true
		}
		for i := range c.parts {
			if p := &c.parts[i]; p.at != nil && p.at.Pack != p.by && !c.dead {
				v := h.byName[p.at.Pack]
				v.foreign = append(v.foreign, hashOf(c.key()))
			}
		}
	}
	for _, v := range h.volumes {
		for i, x := range v.entries {
			v.needed[i] = v.needed[i] || x != nil && len(x.refs) > 0
		}
		for _, c := range v.lines {
			if c.dead {
				v.dead++
			}
		}
	}
}

// needsLeftover reports whether a replaced pack may have bytes that an original needs and no other pack has. A copy of the archive, in which
// the original had not grown, has pruned and collected it; then their packs came together.
func (h *holdings) needsLeftover(name string) bool {
	chains, read := h.leftovers[name]
	return !read && len(h.incomplete) > 0 || slices.ContainsFunc(chains, func(hash uint64) bool { return h.incomplete[hash] })
}

// ManifestLine is the typical compressed size of one line of a manifest.
const ManifestLine = 256

// setUnused computes how much of a pack is unneeded.
func (v *volume) setUnused() {
	i := 0
	for _, unit := range v.units {
		last := unit[len(unit)-1]
		stored, needed, all := last.Offset+last.Size-unit[0].Offset, int64(0), int64(0)
		for ; i < len(v.stored) && v.stored[i].Raw <= last.Raw+last.RawSize; i++ {
			all += v.stored[i].Size + 1
			if v.needed[i] {
				needed += v.stored[i].Size + 1
			}
		}
		if all > needed {
			v.unused += int64(float64(stored) * float64(all-needed) / float64(all))
		}
	}
	v.unused = min(v.unused+ManifestLine*v.dead, v.Size)
}
