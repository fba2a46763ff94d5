package gc

import (
	"cmp"
	"hash/maphash"
	"slices"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
)

// holdings combines the manifests of all packs: which content is stored where, and which chains need it. Permanently,
// it takes some fifty bytes per original and eight per fact. Chains, which take half a kilobyte each, and facts are
// in memory only for a selection: for a span while packs are measured, then for those that concern the packs being
// merged.
type holdings struct {
	volumes    []*volume // ordered by name, without replaced packs
	byName     map[string]*volume
	replaced   map[string]bool     // packs that others replace, whether they exist or not
	leftovers  map[string][]uint64 // of those that could be read: the chains that they state, as hashes
	incomplete map[uint64]bool     // chains that are not dead and of which no other pack has all bytes, as hashes
	stock      pack.ContentIndex
	tombstones blob.Tombstones
	losses     blob.Losses
	clock      time.Time        // creation time of the youngest pack
	dead       int64            // number of dead chains
	spared     int64            // number of tombstoned chains that are not dead
	bytes      int64            // bytes of originals, roughly
	matched    map[string]int64 // number of facts that must be forgotten, by kind
	factsLimit int              // limit in bytes for the facts of packs that become one

	buckets map[uint64]*Chain // selected chains by the hash of their keys
	count   int
	kinds   map[kind]*kind
	facts   map[factKey]storedFact // selected facts, the newest of each key
}

// volume is a pack.
type volume struct {
	blob.Info
	units     [][]blob.Member
	stored    pack.Contents
	needed    []bool    // parallel to stored; set by measure
	chains    []uint64  // hashes of the keys of the chains in its manifest
	foreign   []uint64  // the same for chains in other manifests that need content of this pack
	facts     []uint64  // hashes of the keys of its facts
	factBytes int       // bytes of memory that these facts take
	first     blob.Name // first name in its manifest
	last      blob.Name
	dead      int64 // number of dead chains in its manifest
	unused    int64 // bytes that gc would free, roughly

	entries []*entry // parallel to stored; nil for those that the selection does not mention
	lines   []*Chain // selected chains in its manifest
}

// entry is an extent whose bytes are stored in a pack.
type entry struct {
	blob.Copy // location
	size      int64
	sum       blob.Ref
	owner     *Chain // the chain whose name it has; nil if not selected
	from      int64  // its offset in the owner
	refs      []ref  // the parts that need it
}

// ref is a part of a chain that is stored in an entry.
type ref struct {
	*Chain
	part *part
}

var chainSeed = maphash.MakeSeed()

// hashOf hashes the key of a chain.
func hashOf(k blob.Chain) uint64 { return maphash.Comparable(chainSeed, k) }

// chain returns a selected chain, or nil.
func (h *holdings) chain(k blob.Chain) *Chain {
	c := h.buckets[hashOf(k)]
	for c != nil && c.key() != k {
		c = c.next
	}
	return c
}

func (h *holdings) addChain(c *Chain) {
	at := hashOf(c.key())
	c.next, h.buckets[at] = h.buckets[at], c
	h.count++
}

// chains yields the selected chains in no particular order.
func (h *holdings) chains(yield func(*Chain) bool) {
	for _, c := range h.buckets {
		for ; c != nil; c = c.next {
			if !yield(c) {
				return
			}
		}
	}
}

type factKey struct{ kind, key string }

func hashOfFact(f *blob.Fact) uint64 { return maphash.Comparable(chainSeed, factKey{f.Kind, f.Key}) }

type storedFact struct {
	blob.Fact
	pack string
}

// release drops the details of a removed pack, which is still referenced by the plan and by chains.
func (v *volume) release() {
	v.units, v.stored, v.needed, v.chains, v.foreign, v.facts, v.entries, v.lines = nil, nil, nil, nil, nil, nil, nil, nil
}

// drop removes chains from the selection.
func (h *holdings) drop(gone func(*Chain) bool) {
	all := slices.Collect(h.chains)
	for _, v := range h.volumes {
		for i, x := range v.entries {
			if x != nil && x.owner != nil && gone(x.owner) {
				v.entries[i] = nil
			}
		}
		v.lines = slices.Clip(slices.DeleteFunc(v.lines, gone))
	}
	h.buckets, h.count = map[uint64]*Chain{}, 0
	for _, c := range all {
		if !gone(c) {
			h.addChain(c)
		}
	}
}

// deselect removes all chains and facts from the selection.
func (h *holdings) deselect() {
	h.buckets, h.count, h.kinds, h.facts = map[uint64]*Chain{}, 0, map[kind]*kind{}, map[factKey]storedFact{}
	for _, v := range h.volumes {
		v.entries, v.lines = nil, nil
	}
}

// addVersion adds a version of a manifest.
func (h *holdings) addVersion(v *volume, version *blob.Version, created time.Time) {
	k := h.kindOf(version)
	states := version.States(created)
	c := h.chain(version.Chain())
	if c == nil {
		c = &Chain{Path: version.Path, Number: version.Number, Root: version.Root}
		c.update(version, k)
		h.addChain(c)
	} else {
		states = blob.MergeStates(c.states(), states)
		if version.State(created).Compare(c.present()) >= 0 {
			c.update(version, k)
		}
	}
	c.setStates(states)
	c.parts = slices.Grow(c.parts, len(version.Extents))
	for _, e := range version.Extents {
		c.parts = append(c.parts, part{Extent: e, by: v.Name})
		if i, ok := v.stored.At(e.Raw); ok && e.CopyOf == nil {
			if x := v.entry(i, e.SHA256); x.owner == nil {
				x.owner, x.from = c, e.Offset
			}
		}
	}
	v.lines = append(v.lines, c)
}

// kindOf returns the shared kind of a version.
func (h *holdings) kindOf(v *blob.Version) *kind {
	k := kind{v.Source, v.Format, v.Role, v.Claim}
	have := h.kinds[k]
	if have == nil {
		have = &k
		h.kinds[k] = have
	}
	return have
}

// entry returns the entry for the i-th content, creating it if necessary.
func (v *volume) entry(i int, sum blob.Ref) *entry {
	if v.entries == nil {
		v.entries = make([]*entry, len(v.stored))
	}
	if v.entries[i] == nil {
		v.entries[i] = &entry{Copy: blob.Copy{Pack: v.Name, Raw: v.stored[i].Raw}, size: v.stored[i].Size, sum: sum}
	}
	return v.entries[i]
}

// resolve determines where a chain is stored, and adds references to the entries that it needs.
func (h *holdings) resolve(c *Chain) {
	v := c.version()
	if losses := h.losses.Of(&v); len(losses) > 0 { // ignore lost extents that overlap with the pieces that are left
		c.parts = slices.DeleteFunc(c.parts, func(p part) bool { return h.find(&p) == nil && blob.Touches(losses, p.Offset, p.Size) })
	}
	slices.SortStableFunc(c.parts, func(a, b part) int { return cmp.Or(a.Compare(&b.Extent), cmp.Compare(b.by, a.by)) })
	c.parts, c.apart = blob.Needed(c.parts, func(p *part) *blob.Extent { return &p.Extent }, c.Size, func(p *part) bool { return h.find(p) != nil })
	for i := range c.parts {
		p := &c.parts[i]
		p.at = h.find(p)
		if p.at != nil && !c.dead {
			p.at.refs = append(p.at.refs, ref{c, p})
		}
	}
}

// find returns where the bytes of a part are stored: where its manifest says, or else where equal bytes are now.
func (h *holdings) find(p *part) *entry {
	at, ok := h.stock.Find(p.Place(p.by), p.Size, p.SHA256)
	if !ok {
		return nil
	}
	v := h.byName[at.Pack]
	i, _ := v.stored.At(at.Raw)
	return v.entry(i, p.SHA256)
}
