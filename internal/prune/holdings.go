package prune

import (
	"cmp"
	"context"
	"errors"
	"hash/maphash"
	"slices"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
)

// holdings is what the manifests of all packs say together, as gc needs it: which bytes stand where, and who needs
// them. It takes about half a kilobyte of memory for each original, manifests are not kept.
type holdings struct {
	volumes []*volume // by name; those that others replace left out
	byName  map[string]*volume
	buckets map[uint64]*chain   // by the hash of their keys
	sums    map[blob.Ref]*entry // the newest of each content, once somebody has looked for one
	graves  blob.Graveyard
	losses  blob.Losses
	facts   map[factKey]toldFact // the newest of each key
	clock   time.Time            // no pack is younger
	kinds   map[kind]*kind
}

// volume is a pack.
type volume struct {
	blob.Info
	told    []*chain // by the lines of its manifest
	facts   []blob.Fact
	units   [][]blob.Member
	entries []*entry // by raw offset
	unused  int64    // bytes that gc would save, roughly
}

type place struct {
	pack string
	raw  int64
}

// entry is an extent whose bytes stand in a pack.
type entry struct {
	place
	size  int64
	sum   blob.Ref
	owner *chain // whose name it has
	from  int64  // where it stands in the owner
	refs  []ref  // who needs it
}

// ref is a stretch of a chain that lies in an entry.
type ref struct {
	*chain
	part *part
}

type chainKey struct {
	source, path string
	number       int
	root         blob.Ref
}

// chain is one content and its growth. There is one for each original, so it is no larger than it must be.
type chain struct {
	*kind
	Path         string
	Number       int
	Root, SHA256 blob.Ref
	Size         int64
	ModTime      time.Time
	Archived     time.Time
	Mode         uint32
	dead, buried bool   // a buried chain is dead when the grace is over
	said         string // which pack tells the present state
	parts        []part
	several      []blob.State // all that packs tell of, where there is another than the present one
	next         *chain       // in the bucket
}

// kind is what most originals have in common.
type kind struct{ Source, Format, Role, Claim string }

// version is the present state, without extents.
func (c *chain) version() blob.Version {
	return blob.Version{Source: c.Source, Path: c.Path, Number: c.Number, Root: c.Root, Size: c.Size, SHA256: c.SHA256,
		ModTime: c.ModTime, Mode: c.Mode, Format: c.Format, Role: c.Role, Claim: c.Claim}
}

// take makes a version the present state.
func (c *chain) take(v *blob.Version, k *kind, said string) {
	c.kind, c.Size, c.SHA256, c.ModTime, c.Mode, c.said = k, v.Size, v.SHA256, v.ModTime, v.Mode, said
}

// states are all that packs tell of, in order.
func (c *chain) states() []blob.State {
	if c.several != nil {
		return c.several
	}
	return []blob.State{{Archived: c.Archived, Size: c.Size, SHA256: c.SHA256, ModTime: c.ModTime, Mode: c.Mode}}
}

// setStates keeps what packs tell of.
func (c *chain) setStates(all []blob.State) {
	c.Archived, c.several = all[0].Archived, nil
	if len(all) > 1 {
		c.several = all
	}
}

func (c *chain) has(k *chainKey) bool {
	return c.Path == k.path && c.Root == k.root && c.Number == k.number && c.Source == k.source
}

var chainSeed = maphash.MakeSeed()

// chain finds a chain, nil when there is none.
func (h *holdings) chain(k chainKey) *chain {
	c := h.buckets[maphash.Comparable(chainSeed, k)]
	for c != nil && !c.has(&k) {
		c = c.next
	}
	return c
}

func (h *holdings) addChain(k chainKey, c *chain) {
	at := maphash.Comparable(chainSeed, k)
	c.next, h.buckets[at] = h.buckets[at], c
}

// chains yields all of them, in no order.
func (h *holdings) chains(yield func(*chain) bool) {
	for _, c := range h.buckets {
		for ; c != nil; c = c.next {
			if !yield(c) {
				return
			}
		}
	}
}

// part is an extent of a chain. at is nil when no pack has its bytes.
type part struct {
	offset, size int64
	sum          blob.Ref
	raw          int64      // as a manifest has it
	copyOf       *blob.Copy // too
	by           string     // the pack whose manifest that is
	at           *entry
}

type factKey struct{ kind, key string }

type toldFact struct {
	blob.Fact
	pack string
}

// read reads all manifests. A pack that cannot be read ends it: it may need what would be thrown away.
func (g *GC) read(ctx context.Context) (*holdings, error) {
	replaced := map[string]bool{}
	h, err := g.gather(ctx, replaced)
	if err == nil && slices.ContainsFunc(h.volumes, func(v *volume) bool { return replaced[v.Name] }) {
		h = nil                          // not two at a time
		h, err = g.gather(ctx, replaced) // what a gc that died has left was taken in before its replacement said so
	}
	if err != nil {
		return nil, err
	}
	for c := range h.chains {
		g.judge(h, c)
		h.resolve(c)
	}
	for _, v := range h.volumes {
		h.measure(v)
	}
	return h, nil
}

// gather takes in what the manifests say, one after the other, but for the packs that are known to be replaced, and
// learns which are.
func (g *GC) gather(ctx context.Context, replaced map[string]bool) (*holdings, error) {
	h := &holdings{byName: map[string]*volume{}, buckets: map[uint64]*chain{}, facts: map[factKey]toldFact{}, kinds: map[kind]*kind{}}
	for info, err := range g.Packs.List(ctx) {
		if err != nil {
			return nil, err
		}
		manifest, units, err := g.open(ctx, info.Name)
		if err != nil {
			return nil, err
		}
		for _, name := range manifest.Replaces {
			replaced[name] = true
		}
		if !replaced[info.Name] {
			v := &volume{Info: info, facts: manifest.Facts, units: units}
			h.volumes, h.byName[v.Name] = append(h.volumes, v), v
			g.add(h, v, &manifest)
		}
	}
	return h, nil
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

func (g *GC) open(ctx context.Context, name string) (m blob.Manifest, units [][]blob.Member, err error) {
	p, err := g.Packs.Open(ctx, name)
	if err != nil {
		return m, nil, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	r, err := pack.Open(ctx, p, name)
	if err != nil {
		return m, nil, err
	}
	return r.Manifest(), r.Units(), nil
}

func (g *GC) add(h *holdings, v *volume, m *blob.Manifest) {
	if m.Created.After(h.clock) {
		h.clock = m.Created
	}
	for _, f := range m.Facts {
		h.graves.Add(f, v.Name)
		h.losses.Add(f, v.Name)
		if g.DropFact != nil && g.DropFact(f) {
			v.unused += line
			continue
		}
		key := factKey{f.Kind, f.Key}
		if have, ok := h.facts[key]; !ok || !f.Time.Before(have.Time) {
			h.facts[key] = toldFact{f, v.Name}
		}
	}
	for i := range m.Versions {
		v.told = append(v.told, h.version(v, &m.Versions[i], m.Created))
	}
	slices.SortStableFunc(v.entries, func(a, b *entry) int { return cmp.Compare(a.raw, b.raw) })
	v.entries = slices.Clip(slices.CompactFunc(v.entries, func(a, b *entry) bool { return a.raw == b.raw }))
}

// version takes in what a manifest says of a version. Of two states the larger one is the present one, of equal ones
// that of the newer pack.
func (h *holdings) version(v *volume, told *blob.Version, created time.Time) *chain {
	k := h.kindOf(told)
	key := chainKey{k.Source, told.Path, told.Number, told.Root}
	states := told.States(created)
	c := h.chain(key)
	if c == nil {
		c = &chain{Path: told.Path, Number: told.Number, Root: told.Root}
		c.take(told, k, v.Name)
		h.addChain(key, c)
	} else {
		states = blob.Merged(c.states(), states)
		if told.Size >= c.Size {
			c.take(told, k, v.Name)
		}
	}
	c.setStates(states)
	c.parts = slices.Grow(c.parts, len(told.Extents))
	for _, e := range told.Extents {
		c.parts = append(c.parts, part{offset: e.Offset, size: e.Size, sum: e.SHA256, raw: e.Raw, copyOf: e.CopyOf, by: v.Name})
		if e.CopyOf == nil {
			v.entries = append(v.entries, &entry{place: place{v.Name, e.Raw}, size: e.Size, sum: e.SHA256, owner: c, from: e.Offset})
		}
	}
	return c
}

// kindOf is the one copy of what a version has in common with others.
func (h *holdings) kindOf(v *blob.Version) *kind {
	k := kind{v.Source, v.Format, v.Role, v.Claim}
	have := h.kinds[k]
	if have == nil {
		have = &k
		h.kinds[k] = have
	}
	return have
}

// resolve finds where a chain lies, and tells what it needs there.
func (h *holdings) resolve(c *chain) {
	v := c.version()
	if losses := h.losses.Of(&v); len(losses) > 0 { // the pieces that are left count, not the whole that is nowhere
		c.parts = slices.DeleteFunc(c.parts, func(p part) bool {
			return h.find(&p) == nil && slices.ContainsFunc(losses, func(l blob.Loss) bool { return l.Offset < p.offset+p.size && p.offset < l.Offset+l.Size })
		})
	}
	c.parts = cover(c.parts, c.Size)
	for i := range c.parts {
		p := &c.parts[i]
		p.at = h.find(p)
		if p.at != nil && !c.dead {
			p.at.refs = append(p.at.refs, ref{c, p})
		}
	}
}

// find returns where the bytes of a part stand: where its manifest says, else where the same bytes stand now.
func (h *holdings) find(p *part) *entry {
	at := place{p.by, p.raw}
	if p.copyOf != nil {
		at.raw = p.copyOf.Raw
		if p.copyOf.Pack != "" {
			at.pack = p.copyOf.Pack
		}
	}
	if x := h.stored(at); x != nil && x.sum == p.sum && x.size == p.size {
		return x
	}
	if x := h.newest(p.sum); x != nil && x.size == p.size {
		return x
	}
	return nil
}

// stored returns the entry that begins at a place.
func (h *holdings) stored(at place) *entry {
	v := h.byName[at.pack]
	if v == nil {
		return nil
	}
	i, ok := slices.BinarySearchFunc(v.entries, at.raw, func(x *entry, raw int64) int { return cmp.Compare(x.raw, raw) })
	if !ok {
		return nil
	}
	return v.entries[i]
}

// newest returns an entry of the youngest pack that has some content. Hardly any gc looks for one.
func (h *holdings) newest(sum blob.Ref) *entry {
	if h.sums == nil {
		h.sums = map[blob.Ref]*entry{}
		for _, v := range h.volumes {
			for _, x := range v.entries {
				h.sums[x.sum] = x
			}
		}
	}
	return h.sums[sum]
}

// cover chooses the fewest parts that make up a whole of size bytes, the newest where there are several. Where bytes
// are missing, nothing is left out.
func cover(parts []part, size int64) []part {
	slices.SortStableFunc(parts, func(a, b part) int {
		return cmp.Or(cmp.Compare(a.offset, b.offset), cmp.Compare(b.size, a.size), cmp.Compare(b.by, a.by))
	})
	if size == 0 {
		return parts[:min(1, len(parts))]
	}
	type way struct{ steps, next int }
	ways := map[int64]way{size: {}}
	for i := len(parts) - 1; i >= 0; i-- {
		p := &parts[i]
		rest, ok := ways[p.offset+p.size]
		if have, known := ways[p.offset]; !ok || p.size == 0 || known && have.steps < rest.steps+1 {
			continue
		}
		ways[p.offset] = way{rest.steps + 1, i}
	}
	if _, ok := ways[0]; !ok {
		return parts
	}
	var chosen []part
	for at := int64(0); at < size; {
		p := parts[ways[at].next]
		chosen = append(chosen, p)
		at += p.size
	}
	return chosen
}

// line is what one line of a manifest takes, compressed with others.
const line = 256

// measure says how much of a pack nobody needs.
func (h *holdings) measure(v *volume) {
	i := 0
	for _, unit := range v.units {
		last := unit[len(unit)-1]
		stored, needed, all := last.Offset+last.Size-unit[0].Offset, int64(0), int64(0)
		for ; i < len(v.entries) && v.entries[i].raw <= last.Raw+last.RawSize; i++ {
			all += v.entries[i].size + 1
			if len(v.entries[i].refs) > 0 {
				needed += v.entries[i].size + 1
			}
		}
		if all > needed {
			v.unused += int64(float64(stored) * float64(all-needed) / float64(all))
		}
	}
	for _, c := range v.told {
		if c.dead {
			v.unused += line
		}
	}
	v.unused = min(v.unused, v.Size)
}
