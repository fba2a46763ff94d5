package prune

import (
	"hash/maphash"
	"slices"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
)

// holdings is what the manifests of all packs say together: which contents stand where, and who needs them. Of every
// original only that takes memory, some fifty bytes, and of every fact eight. The chains, of which each takes half a kilobyte, and
// the facts are those of a selection: a span while packs are measured, and then those that have to do with the packs which become one.
type holdings struct {
	volumes []*volume // by name; those that others replace left out
	byName  map[string]*volume
	stock   pack.ContentIndex
	graves  blob.Tombstones
	losses  blob.Losses
	clock   time.Time        // no pack is younger
	dead    int64            // chains
	spared  int64            // that are buried, and not dead
	told    int64            // bytes of originals, roughly
	matched map[string]int64 // facts that must be forgotten, by kind
	room    int              // for the facts of packs that become one

	buckets map[uint64]*chain // of the selection, by the hash of their keys
	count   int
	kinds   map[kind]*kind
	facts   map[factKey]toldFact // of the selection, the newest of each key
}

// volume is a pack.
type volume struct {
	blob.Info
	units  [][]blob.Member
	stored pack.Contents
	needed []bool    // of stored, when it is measured
	told   []uint64  // hashes of the keys of the chains that its manifest tells of
	guests []uint64  // too, of those that other packs tell of and that need something of this one
	said   []uint64  // too, of the keys of its facts
	says   int       // bytes of memory that these facts take
	first  blob.Name // of told
	last   blob.Name
	dead   int64 // of told
	unused int64 // bytes that gc would save, roughly

	entries []*entry // of stored, those that the selection speaks of; the others are nil
	lines   []*chain // of the selection
}

// entry is an extent whose bytes stand in a pack.
type entry struct {
	blob.Copy // where it stands
	size      int64
	sum       blob.Ref
	owner     *chain // whose name it has; nil when that is not in the selection
	from      int64  // where it stands in the owner
	refs      []ref  // who needs it
}

// ref is a stretch of a chain that lies in an entry.
type ref struct {
	*chain
	part *part
}

var chainSeed = maphash.MakeSeed()

// hashOf is the hash of the key of a chain.
func hashOf(k blob.Chain) uint64 { return maphash.Comparable(chainSeed, k) }

// chain finds a chain, nil when there is none.
func (h *holdings) chain(k blob.Chain) *chain {
	c := h.buckets[hashOf(k)]
	for c != nil && c.key() != k {
		c = c.next
	}
	return c
}

func (h *holdings) addChain(c *chain) {
	at := hashOf(c.key())
	c.next, h.buckets[at] = h.buckets[at], c
	h.count++
}

// chains yields those of the selection, in no order.
func (h *holdings) chains(yield func(*chain) bool) {
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

type toldFact struct {
	blob.Fact
	pack string
}

// leave forgets all that was known of a pack which is no more: the plan that it was part of goes on, and chains hang on it.
func (v *volume) leave() {
	v.units, v.stored, v.needed, v.told, v.guests, v.said, v.entries, v.lines = nil, nil, nil, nil, nil, nil, nil, nil
}

// drop takes chains out of the selection.
func (h *holdings) drop(gone func(*chain) bool) {
	all := slices.Collect(h.chains)
	for _, v := range h.volumes {
		for i, x := range v.entries {
			if x != nil && x.owner != nil && gone(x.owner) {
				v.entries[i] = nil
			}
		}
		v.lines = slices.Clip(slices.DeleteFunc(v.lines, gone))
	}
	h.buckets, h.count = map[uint64]*chain{}, 0
	for _, c := range all {
		if !gone(c) {
			h.addChain(c)
		}
	}
}

// deselect forgets all chains and facts.
func (h *holdings) deselect() {
	h.buckets, h.count, h.kinds, h.facts = map[uint64]*chain{}, 0, map[kind]*kind{}, map[factKey]toldFact{}
	for _, v := range h.volumes {
		v.entries, v.lines = nil, nil
	}
}

// version takes in what a manifest says of a version. Of two states the larger one is the present one, of equal ones
// that of the newer pack.
func (h *holdings) version(v *volume, told *blob.Version, created time.Time) {
	k := h.kindOf(told)
	states := told.States(created)
	c := h.chain(told.Chain())
	if c == nil {
		c = &chain{Path: told.Path, Number: told.Number, Root: told.Root}
		c.take(told, k)
		h.addChain(c)
	} else {
		states = blob.MergeStates(c.states(), states)
		if told.Size >= c.Size {
			c.take(told, k)
		}
	}
	c.setStates(states)
	c.parts = slices.Grow(c.parts, len(told.Extents))
	for _, e := range told.Extents {
		c.parts = append(c.parts, part{Extent: e, by: v.Name})
		if i, ok := v.stored.At(e.Raw); ok && e.CopyOf == nil {
			if x := v.entry(i, e.SHA256); x.owner == nil {
				x.owner, x.from = c, e.Offset
			}
		}
	}
	v.lines = append(v.lines, c)
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

// entry is the entry with a content.
func (v *volume) entry(i int, sum blob.Ref) *entry {
	if v.entries == nil {
		v.entries = make([]*entry, len(v.stored))
	}
	if v.entries[i] == nil {
		v.entries[i] = &entry{Copy: blob.Copy{Pack: v.Name, Raw: v.stored[i].Raw}, size: v.stored[i].Size, sum: sum}
	}
	return v.entries[i]
}

// resolve finds where a chain lies, and tells what it needs there.
func (h *holdings) resolve(c *chain) {
	v := c.version()
	if losses := h.losses.Of(&v); len(losses) > 0 { // the pieces that are left count, not the whole that is nowhere
		c.parts = slices.DeleteFunc(c.parts, func(p part) bool { return h.find(&p) == nil && blob.Touches(losses, p.Offset, p.Size) })
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
	at, ok := h.stock.Find(p.Place(p.by), p.Size, p.SHA256)
	if !ok {
		return nil
	}
	v := h.byName[at.Pack]
	i, _ := v.stored.At(at.Raw)
	return v.entry(i, p.SHA256)
}
