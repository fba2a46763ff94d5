package archive

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"slices"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
)

// Two copies of an archive may have archived the growth of one file in other steps, or even differently. When their packs come together,
// extents of the chain overlap, and no manifest says which of them follow each other. The hashes of the states do: a history follows all
// ways through the extents and finds those that lead to a state. Reading every byte is slow, but such chains are few.

// history is what became of a chain that was archived apart.
type history struct {
	version *placedVersion
	states  []blob.State
	reached map[prefix]*step
	failed  error // of the last extent that could not be read
}

// prefix identifies how a chain begins.
type prefix struct {
	size int64
	sum  blob.Ref
}

// prefixOf returns how a chain began when it was a state.
func prefixOf(s blob.State) prefix { return prefix{s.Size, s.SHA256} }

// step is a place in a chain that was reached on one way through its extents.
type step struct {
	prefix
	before *step
	part   int // that leads here; -1 at the start
	hash   hash.Cloner
}

// maxWays bounds how many ways to one place of a chain are followed. Only copies that contradict each other have more than one.
const maxWays = 32

// histories returns the histories of all versions of the span that were archived apart.
func (a *Archive) histories(ctx context.Context, c *catalog) (map[*catalogVersion]*history, error) {
	all, names := map[*catalogVersion]*history{}, map[blob.Name]bool{}
	for _, v := range c.versions {
		if v.apart {
			all[v], names[v.Name()] = &history{version: c.place(v), reached: map[prefix]*step{}}, true
		}
	}
	if len(all) == 0 {
		return all, nil
	}
	for _, p := range c.packs {
		if !p.read || !p.listed || p.replaced || !c.span.Load().Overlaps(p.first, p.last) {
			continue
		}
		r, err := a.readVersions(ctx, blob.Info{Name: p.name, Size: p.size}, func(n blob.Name) bool { return names[n] })
		if errors.Is(err, blob.ErrNotFound) {
			continue // gc has removed it meanwhile
		}
		if err != nil {
			return nil, err
		}
		m := r.Manifest()
		for i := range m.Versions {
			v := &m.Versions[i]
			if h := all[c.versions[v.Chain()]]; h != nil {
				h.states = blob.MergeStates(h.states, slices.DeleteFunc(v.States(m.Created), func(s blob.State) bool {
					return !c.until.IsZero() && s.Archived.After(c.until)
				}))
			}
		}
	}
	for _, h := range all {
		if err := h.follow(ctx, a.library); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// places returns where ways may divide or meet, and where states end, in order.
func (h *history) places() []int64 {
	all := map[int64]bool{0: true}
	for i := range h.version.parts {
		p := &h.version.parts[i]
		all[p.Offset], all[p.Offset+p.Size] = true, true
	}
	for _, s := range h.states {
		all[s.Size] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// follow finds out which states can be reached.
func (h *history) follow(ctx context.Context, library *pack.Library) error {
	known := map[prefix]bool{}
	for _, s := range h.states {
		known[prefixOf(s)] = true
	}
	ways := []*step{{part: -1, hash: sha256.New().(hash.Cloner)}}
	places := h.places()
	for _, to := range places[1:] {
		var further []*step
		for _, s := range ways {
			for i := range h.version.parts {
				if !h.leadsOn(s, i) {
					continue
				}
				next, err := h.advance(ctx, library, s, i, to)
				if ctx.Err() != nil {
					return ctx.Err()
				}
				if err != nil {
					h.failed = err
					continue
				}
				if !slices.ContainsFunc(further, func(o *step) bool { return o.part == next.part && o.sum == next.sum }) {
					further = append(further, next)
				}
			}
		}
		for _, s := range further {
			if known[s.prefix] && h.reached[s.prefix] == nil {
				h.reached[s.prefix] = s
			}
		}
		if len(further) > maxWays { // those that lead to states first
			slices.SortStableFunc(further, func(a, b *step) int {
				switch {
				case known[a.prefix] == known[b.prefix]:
					return 0
				case known[a.prefix]:
					return -1
				}
				return 1
			})
			further = further[:maxWays]
		}
		ways = further
	}
	return nil
}

// leadsOn reports whether a way may go on with a part: with the same one, with one that begins there, and at the end of one with any.
func (h *history) leadsOn(s *step, i int) bool {
	p := &h.version.parts[i]
	if h.version.at[i].Pack == "" || p.Offset > s.size || p.Offset+p.Size <= s.size {
		return false
	}
	return i == s.part || p.Offset == s.size || s.part < 0 || h.version.parts[s.part].Offset+h.version.parts[s.part].Size == s.size
}

func (h *history) advance(ctx context.Context, library *pack.Library, s *step, part int, to int64) (*step, error) {
	sum, err := s.hash.Clone()
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(sum, library.Reader(ctx, []blob.Extent{h.extent(part, s.size, to)})); err != nil {
		return nil, err
	}
	return &step{prefix{to, blob.Ref(sum.Sum(nil))}, s, part, sum}, nil
}

// extent returns a range of a part, for a Library.
func (h *history) extent(part int, from, to int64) blob.Extent {
	at := h.version.at[part]
	return blob.Extent{Offset: from, Size: to - from, CopyOf: &blob.Copy{Pack: at.Pack, Raw: at.Raw + from - h.version.parts[part].Offset}}
}

// way returns the extents of a state, for a Library, and whether it was reached. A nil history reaches none.
func (h *history) way(to prefix) (extents []blob.Extent, ok bool) {
	if h == nil {
		return nil, false
	}
	s := h.reached[to]
	if s == nil {
		return nil, false
	}
	for ; s.before != nil; s = s.before {
		extents = append(extents, h.extent(s.part, s.before.size, s.size))
	}
	slices.Reverse(extents)
	return extents, true
}

// others returns the states that neither the present state continues nor another of them, each content once.
func (h *history) others() (all []blob.State) {
	present := prefix{h.version.Size, h.version.SHA256}
	for i, s := range h.states {
		c := prefixOf(s)
		if c == present || i+1 < len(h.states) && prefixOf(h.states[i+1]) == c {
			continue
		}
		if !slices.ContainsFunc(h.states, func(o blob.State) bool { return h.continues(prefixOf(o), c) }) {
			all = append(all, s)
		}
	}
	return all
}

// continues reports whether one content begins with another.
func (h *history) continues(longer, shorter prefix) bool {
	if longer.size <= shorter.size {
		return false
	}
	s := h.reached[longer]
	for s != nil && s.size > shorter.size {
		s = s.before
	}
	return s != nil && s.prefix == shorter
}

// unreached returns the error for a state that no way leads to.
func (h *history) unreached() error {
	v := h.version
	return fmt.Errorf("the extents of %s/%s version %d do not lead to what was archived: %w", v.Source, v.Path, v.Number, cmp.Or(h.failed, error(blob.ErrCorrupt)))
}
