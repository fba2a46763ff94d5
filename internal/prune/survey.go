package prune

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
)

// chainLimit is how many chains are in memory at a time while all are gone through.
const chainLimit = 1 << 17

// survey reads all manifests, and measures what of each pack is needed.
func (g *GC) survey(ctx context.Context) (*holdings, error) {
	h, err := g.walk(ctx, nil, func(h *holdings, _ blob.Span) error { h.measure(); return nil })
	if err != nil {
		return nil, err
	}
	for _, v := range h.volumes {
		v.guests = slices.Compact(slices.Sorted(slices.Values(v.guests)))
		v.weigh()
	}
	return h, nil
}

// walk reads all manifests, and calls each for one span of the originals after the other, of which the chains that wanted
// names (nil: all) are selected then: at most ChainLimit at a time. A pack that cannot be read ends it: it may need what
// would be thrown away.
func (g *GC) walk(ctx context.Context, wanted func(blob.Name) bool, each func(*holdings, blob.Span) error) (*holdings, error) {
	s := &selecting{gc: g, wanted: wanted, limit: cmp.Or(g.ChainLimit, chainLimit), replaced: map[string]bool{}}
	err := s.gather(ctx)
	if err == nil && slices.ContainsFunc(s.holdings.volumes, func(v *volume) bool { return s.replaced[v.Name] }) {
		s.holdings = nil    // not two at a time
		err = s.gather(ctx) // what a gc that died has left was taken in before its replacement said so
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

// selecting goes from span to span.
type selecting struct {
	gc       *GC
	wanted   func(blob.Name) bool
	limit    int
	replaced map[string]bool // packs that others replace
	holdings *holdings
	span     blob.Span
}

func (s *selecting) wants(n blob.Name) bool { return s.span.Has(n) && (s.wanted == nil || s.wanted(n)) }

// gather takes in what the manifests say, one after the other, but for the packs that are known to be replaced, and
// learns which are. The chains are those of a first span.
func (s *selecting) gather(ctx context.Context) error {
	h := &holdings{byName: map[string]*volume{}, matched: map[string]int64{}, room: cmp.Or(s.gc.factsRoom, factsBytes)}
	h.deselect()
	s.holdings, s.span = h, blob.Span{}
	for info, err := range s.gc.Packs.List(ctx) {
		if err != nil {
			return err
		}
		v := &volume{Info: info}
		m, err := s.gc.open(ctx, v, func(told *blob.Version) bool {
			v.told = append(v.told, hashOf(told.Chain()))
			for i := range told.Extents {
				h.told += told.Extents[i].Size
			}
			return s.wants(told.Name())
		})
		if err != nil {
			return err
		}
		for _, name := range m.Replaces {
			s.replaced[name] = true
		}
		if !s.replaced[info.Name] {
			s.gc.add(h, v, &m)
			s.span = h.take(v, &m, s.span, h.graves.VersionBudget(s.limit))
		}
	}
	return nil
}

// selectSpan selects the chains of the span, which may end before its end.
func (s *selecting) selectSpan(ctx context.Context) error {
	h := s.holdings
	for _, v := range h.volumes {
		if !s.span.Meets(v.first, v.last) {
			continue
		}
		r, err := pack.ReadOf(ctx, s.gc.Packs, v.Name, s.wants)
		if err != nil {
			return err
		}
		m := r.Manifest()
		s.span = h.take(v, &m, s.span, h.graves.VersionBudget(s.limit))
	}
	return nil
}

// selectGroup selects the chains that packs tell of or that need something of them, whole, and the facts that they tell.
func (g *GC) selectGroup(ctx context.Context, h *holdings, group group) error {
	h.deselect()
	chains, facts := map[uint64]bool{}, map[uint64]bool{}
	for _, v := range group {
		for _, hash := range slices.Concat(v.told, v.guests) {
			chains[hash] = true
		}
		for _, hash := range v.said {
			facts[hash] = true
		}
	}
	for _, v := range h.volumes {
		if !slices.ContainsFunc(v.told, func(hash uint64) bool { return chains[hash] }) &&
			!slices.ContainsFunc(v.said, func(hash uint64) bool { return facts[hash] }) {
			continue
		}
		m, err := g.open(ctx, v, func(told *blob.Version) bool { return chains[hashOf(told.Chain())] })
		if err != nil {
			return err
		}
		h.take(v, &m, blob.Span{}, math.MaxInt)
		for _, f := range m.Facts {
			if facts[hashOfFact(&f)] && !g.drops(f) {
				h.fact(f, v.Name)
			}
		}
	}
	g.resolve(h)
	return nil
}

// fact takes in a fact: the newest of a key counts, of several that are as new that of the newer pack.
func (h *holdings) fact(f blob.Fact, pack string) {
	key := factKey{f.Kind, f.Key}
	if have, ok := h.facts[key]; !ok || !f.Time.Before(have.Time) {
		h.facts[key] = toldFact{f, pack}
	}
}

func (g *GC) drops(f blob.Fact) bool { return g.DropFact != nil && g.DropFact(f) }

// take adds versions to the selection. The span is shortened when that would be too many.
func (h *holdings) take(v *volume, m *blob.Manifest, span blob.Span, limit int) blob.Span {
	for i := range m.Versions {
		h.version(v, &m.Versions[i], m.Created)
	}
	if h.count <= limit {
		return span
	}
	span = span.Cut(func(yield func(blob.Chain) bool) { h.chains(func(c *chain) bool { return yield(c.key()) }) }, limit)
	h.drop(func(c *chain) bool { return !span.Has(c.name()) })
	return span
}

// resolve finds where the chains of the selection lie.
func (g *GC) resolve(h *holdings) {
	for c := range h.chains {
		g.judge(h, c)
		h.resolve(c)
	}
}

// judge says whether a chain is dead. What is to be forgotten has no grace.
func (g *GC) judge(h *holdings, c *chain) {
	v := c.version()
	grave, buried := h.graves.Of(&v)
	forgotten := buried && grave.Plan == blob.PlanForget
	over := g.Options.Grace <= 0 || !grave.Since.Add(g.Options.Grace).After(g.began)
	c.buried = buried
	c.dead = forgotten || buried && over && !g.Options.Forgotten || g.Drop != nil && g.Drop(&v)
}

// open reads the manifest of a pack with the versions that keep wants, and what the pack stores.
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

// add makes a pack one of those that are there.
func (g *GC) add(h *holdings, v *volume, m *blob.Manifest) {
	h.volumes, h.byName[v.Name] = append(h.volumes, v), v
	h.stock.Add(v.Name, v.stored)
	if m.Created.After(h.clock) {
		h.clock = m.Created
	}
	for _, f := range m.Facts {
		h.graves.Add(f, v.Name)
		h.losses.Add(f, v.Name)
		if g.matches != nil && g.matches(f) {
			h.matched[f.Kind]++
		}
		if g.drops(f) {
			v.unused += line
			continue
		}
		v.said, v.says = append(v.said, hashOfFact(&f)), v.says+len(f.Value)+factBytes
	}
	v.said = slices.Clone(v.said) // as long as it is, no longer
}

// measure notes what the selection needs of the packs, and what of it is dead.
func (h *holdings) measure() {
	for c := range h.chains {
		switch {
		case c.dead:
			h.dead++
		case c.buried:
			h.spared++
		}
		for i := range c.parts {
			if p := &c.parts[i]; p.at != nil && p.at.Pack != p.by && !c.dead {
				v := h.byName[p.at.Pack]
				v.guests = append(v.guests, hashOf(c.key()))
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

// line is what one line of a manifest takes, compressed with others.
const line = 256

// weigh says how much of a pack nobody needs.
func (v *volume) weigh() {
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
	v.unused = min(v.unused+line*v.dead, v.Size)
}
