package prune

import (
	"cmp"
	"slices"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
)

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
	dead, buried bool // a buried chain is dead when the grace is over
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

func (c *chain) key() blob.Chain { return blob.Chain{Name: c.name(), Number: c.Number, Root: c.Root} }

func (c *chain) name() blob.Name { return blob.Name{Source: c.Source, Path: c.Path} }

// take makes a version the present state.
func (c *chain) take(v *blob.Version, k *kind) {
	c.kind, c.Size, c.SHA256, c.ModTime, c.Mode = k, v.Size, v.SHA256, v.ModTime, v.Mode
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

// part is an extent of a chain, as a manifest has it. at is nil when no pack has its bytes.
type part struct {
	blob.Extent
	by string // the pack whose manifest that is
	at *entry
}

// cover chooses the fewest parts that make up a whole of size bytes, the newest where there are several. Where bytes
// are missing, nothing is left out.
func cover(parts []part, size int64) []part {
	slices.SortStableFunc(parts, func(a, b part) int {
		return cmp.Or(a.Compare(&b.Extent), cmp.Compare(b.by, a.by))
	})
	if size == 0 {
		return parts[:min(1, len(parts))]
	}
	type way struct{ steps, next int }
	ways := map[int64]way{size: {}}
	for i := len(parts) - 1; i >= 0; i-- {
		p := &parts[i]
		rest, ok := ways[p.Offset+p.Size]
		if have, known := ways[p.Offset]; !ok || p.Size == 0 || known && have.steps < rest.steps+1 {
			continue
		}
		ways[p.Offset] = way{rest.steps + 1, i}
	}
	if _, ok := ways[0]; !ok {
		return parts
	}
	var chosen []part
	for at := int64(0); at < size; {
		p := parts[ways[at].next]
		chosen = append(chosen, p)
		at += p.Size
	}
	return chosen
}
