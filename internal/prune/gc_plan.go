package prune

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

const (
	// packTarget is up to which size packs are put together: what an ingest writes at most.
	packTarget = 64 << 20
	// linesTarget is how many versions packs tell of that are put together: a manifest is held in memory while it is written.
	linesTarget = 1 << 14
	// Packs of one tier are merged when there are mergeFew of them: less than tierBase bytes, then tierStep times as
	// much, and so on. So a byte is written anew once for each tier, six times at most. What is larger than the last
	// tier is left alone.
	mergeFew  = 8
	tierBase  = 16 << 10
	tierStep  = 8
	tierCount = 5 // 16 KiB, 128 KiB, 1 MiB, 8 MiB, 64 MiB
)

// group is packs that become one.
type group []*volume

func (g group) size() (n int64) {
	for _, v := range g {
		n += v.Size
	}
	return n
}

// dirty says that a pack has something that nobody needs.
func (v *volume) dirty() bool { return v.unused > 0 }

// plan chooses the packs that are rewritten, those that have most to lose first when not all of them must, and those
// that are merged. unused is how many bytes that nobody needs will stay.
func (h *holdings) plan(o *Options, damaged map[string]bool) (groups []group, unused int64) {
	var dirty []*volume
	tiers := map[int][]*volume{}
	total := int64(0)
	for _, v := range h.volumes {
		total += v.Size
		unused += v.unused
		switch tier := tierOf(v.Size); {
		case damaged[v.Name]:
		case v.dirty():
			dirty = append(dirty, v)
		case tier < tierCount:
			tiers[tier] = append(tiers[tier], v)
		}
	}
	slices.SortFunc(dirty, func(a, b *volume) int {
		return cmp.Or(cmp.Compare(float64(b.unused)/float64(b.Size), float64(a.unused)/float64(a.Size)), strings.Compare(a.Name, b.Name))
	})
	limit, n := o.MaxUnused.of(total), 0
	for n < len(dirty) && unused > limit {
		unused -= dirty[n].unused
		n++
	}
	groups = bunch(dirty[:n], true, h.room)
	for _, tier := range slices.Sorted(maps.Keys(tiers)) {
		if few := tiers[tier]; len(few) >= mergeFew {
			groups = append(groups, bunch(few, false, h.room)...)
		}
	}
	return groups, unused
}

func tierOf(size int64) int {
	tier := 0
	for limit := int64(tierBase); size >= limit && tier < tierCount; limit *= tierStep {
		tier++
	}
	return tier
}

// bunch puts packs together, in the order of their age, up to what one pack should have, with so many bytes of facts at most. Packs
// alone are only worth it when something goes.
func bunch(volumes []*volume, alone bool, facts int) (groups []group) {
	volumes = slices.Clone(volumes)
	slices.SortFunc(volumes, func(a, b *volume) int { return strings.Compare(a.Name, b.Name) })
	var open group
	room, lines, says := int64(packTarget), linesTarget, facts
	end := func() {
		if len(open) > 1 || len(open) == 1 && alone {
			groups = append(groups, open)
		}
		open, room, lines, says = nil, packTarget, linesTarget, facts
	}
	for _, v := range volumes {
		keeps := v.Size - v.unused
		if keeps > room || len(v.told) > lines || v.says > says {
			end()
		}
		open, room, lines, says = append(open, v), room-keeps, lines-len(v.told), says-v.says
	}
	end()
	return groups
}
