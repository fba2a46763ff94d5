package repair

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
)

// chainLimit is how many chains are in memory at a time.
const chainLimit = 1 << 16

// wants says whether the selection is to have an original.
func (s *inventory) wants(n blob.Name) bool { return s.span.Has(n) && !s.named[n] }

// selectSpan selects the chains of the span, which ends earlier where there are too many. Those of one file stay together.
func (s *inventory) selectSpan(ctx context.Context) error {
	return s.gather(ctx, s.wants, s.tombstones.VersionBudget(cmp.Or(s.repair.ChainLimit, chainLimit)))
}

// selectNamed selects the chains of some originals, however many there are.
func (s *inventory) selectNamed(ctx context.Context, names map[blob.Name]bool) error {
	return s.gather(ctx, func(n blob.Name) bool { return names[n] }, 0)
}

// deselect forgets all that is needed for looking.
func (s *inventory) deselect() {
	s.chains, s.backups, s.contents, s.candidates, s.checked = nil, nil, pack.ContentIndex{}, nil, nil
}

// gather makes a selection of the versions that are wanted, with no more than limit chains. 0 is no limit.
func (s *inventory) gather(ctx context.Context, wanted func(blob.Name) bool, limit int) error {
	s.chains, s.backups = map[blob.Chain]*chain{}, map[blob.Chain][]blob.Extent{}
	for _, name := range s.names() {
		h := s.packs[name]
		if h.replaced || h.sound && !s.span.Meets(h.first, h.last) {
			continue
		}
		versions := h.manifest.Versions
		if h.sound {
			var err error
			if versions, err = h.versions(ctx, s.repair.Packs, wanted); err != nil {
				return fmt.Errorf("pack %s: %w", name, err)
			}
		}
		for i := range versions {
			if v := &versions[i]; wanted(v.Name()) {
				s.version(h, v)
			}
		}
		s.shrink(limit)
	}
	if err := s.addIndexed(ctx, wanted, limit); err != nil {
		return fmt.Errorf("ask the index: %w", err)
	}
	for _, c := range s.chains {
		_, c.buried = s.tombstones.Of(&c.Version)
	}
	for _, h := range s.offsite {
		if !s.span.Meets(h.first, h.last) {
			continue
		}
		versions, err := h.versions(ctx, s.repair.Backup, wanted)
		if err != nil {
			return fmt.Errorf("read the backup: pack %s: %w", h.Name, err)
		}
		for i := range versions {
			key := versions[i].Chain()
			s.backups[key] = append(s.backups[key], versions[i].Extents...)
		}
	}
	return ctx.Err()
}

// shrink ends the span so that a good part of too many chains is behind it.
func (s *inventory) shrink(limit int) {
	if limit == 0 || len(s.chains) <= limit {
		return
	}
	s.span = s.span.Cut(maps.Keys(s.chains), limit)
	maps.DeleteFunc(s.chains, func(key blob.Chain, _ *chain) bool { return !s.span.Has(key.Name) })
}

// version takes in what a manifest says of a version.
func (s *inventory) version(h *packInfo, v *blob.Version) {
	c := s.chain(v, h)
	c.states = blob.MergeStates(c.states, v.States(h.manifest.Created))
	for _, e := range v.Extents {
		c.parts = append(c.parts, part{e, h})
	}
}

// chain returns the chain of a version, brought up to that state of it if it is a later one.
func (s *inventory) chain(v *blob.Version, by *packInfo) *chain {
	key := v.Chain()
	c := s.chains[key]
	if c == nil {
		c = &chain{Version: *v, newest: by}
		s.chains[key] = c
	}
	if v.Size > c.Size || v.Size == c.Size && by != nil {
		c.Version, c.newest = *v, by
	}
	c.Extents, c.Archived, c.Earlier = nil, time.Time{}, nil
	return c
}

// addIndexed adds what only the index knows: versions of which bytes lie in packs whose manifests are lost, and those that no
// manifest tells of any more, wherever their bytes are.
func (s *inventory) addIndexed(ctx context.Context, wanted func(blob.Name) bool, limit int) error {
	if s.repair.Index == nil || len(s.unreadable) == 0 {
		return nil
	}
	n := 0
	for state, err := range s.repair.Index.StatesIn(ctx, s.span) {
		if err != nil {
			return err
		}
		if n++; n%1024 == 0 {
			s.shrink(limit)
		}
		if !s.span.Has(state.Name()) {
			break // they come by name
		}
		if !wanted(state.Name()) {
			continue
		}
		have := s.chains[state.Version.Chain()]
		untold := have == nil || have.Size < state.Size
		if untold {
			s.chain(&state.Version, nil)
		}
		for _, e := range state.Extents {
			if untold || s.unreadable[e.CopyOf.Pack] {
				c := s.chain(&state.Version, nil)
				c.parts = append(c.parts, part{e, nil})
			}
		}
	}
	s.shrink(limit)
	return nil
}

func (s *inventory) sorted() []*chain {
	return slices.SortedFunc(maps.Values(s.chains), byName)
}

func byName(a, b *chain) int { return a.Version.Chain().Compare(b.Version.Chain()) }
