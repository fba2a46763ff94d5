package gc

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

const (
	// packTarget is the size up to which packs are merged: what an ingest writes at most.
	packTarget = 64 << 20
	// versionsTarget is how many versions the manifest of a merged pack has at most: a manifest is held in memory while
	// it is written.
	versionsTarget = 1 << 14
	// Packs of one tier are merged when there are at least mergeFew of them. The first tier is packs of less than
	// tierBase bytes, each further one goes up to tierStep times as much. So a byte is rewritten once for each tier,
	// six times at most. Packs larger than the last tier are left alone.
	mergeFew  = 8
	tierBase  = 16 << 10
	tierStep  = 8
	tierCount = 5 // 16 KiB, 128 KiB, 1 MiB, 8 MiB, 64 MiB
)

// group is a set of packs that become one.
type group []*volume

func (g group) size() (n int64) {
	for _, v := range g {
		n += v.Size
	}
	return n
}

// dirty reports whether a pack has unneeded content.
func (v *volume) dirty() bool { return v.unused > 0 }

// plan chooses the packs to rewrite, those with the largest unneeded share first if not all must be, and those to
// merge. unused is how many unneeded bytes will stay.
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
	groups = groupPacks(dirty[:n], true, h.factsLimit)
	for _, tier := range slices.Sorted(maps.Keys(tiers)) {
		if few := tiers[tier]; len(few) >= mergeFew {
			groups = append(groups, groupPacks(few, false, h.factsLimit)...)
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

// groupPacks groups packs, in the order of their age, up to the limits of one pack and up to facts bytes of facts. Groups
// of a single pack are included only if alone is set, that is, if rewriting removes something.
func groupPacks(volumes []*volume, alone bool, facts int) (groups []group) {
	volumes = slices.Clone(volumes)
	slices.SortFunc(volumes, func(a, b *volume) int { return strings.Compare(a.Name, b.Name) })
	var open group
	bytes, lines, factsLeft := int64(packTarget), versionsTarget, facts
	end := func() {
		if len(open) > 1 || len(open) == 1 && alone {
			groups = append(groups, open)
		}
		open, bytes, lines, factsLeft = nil, packTarget, versionsTarget, facts
	}
	for _, v := range volumes {
		kept := v.Size - v.unused
		if kept > bytes || len(v.chains) > lines || v.factBytes > factsLeft {
			end()
		}
		open, bytes, lines, factsLeft = append(open, v), bytes-kept, lines-len(v.chains), factsLeft-v.factBytes
	}
	end()
	return groups
}
