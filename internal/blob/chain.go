package blob

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// Chain identifies one content of an original and its growth. Root makes it unique even if two machines have used the same
// name and number.
type Chain struct {
	Name
	Number int
	Root   Ref
}

// Compare orders chains by name, number and root.
func (c Chain) Compare(other Chain) int {
	return cmp.Or(c.Name.Compare(other.Name), cmp.Compare(c.Number, other.Number), bytes.Compare(c.Root[:], other.Root[:]))
}

// Name returns the name of the original.
func (v *Version) Name() Name { return Name{v.Source, v.Path} }

// Chain returns the chain that v is a state of.
func (v *Version) Chain() Chain { return Chain{v.Name(), v.Number, v.Root} }

// Place returns where the bytes of e are stored. pack is the pack whose manifest has e.
func (e *Extent) Place(pack string) Copy {
	switch {
	case e.CopyOf == nil:
		return Copy{pack, e.Raw}
	case e.CopyOf.Pack == "":
		return Copy{pack, e.CopyOf.Raw}
	}
	return *e.CopyOf
}

// Compare orders places by pack, then by offset.
func (c Copy) Compare(other Copy) int {
	return cmp.Or(strings.Compare(c.Pack, other.Pack), cmp.Compare(c.Raw, other.Raw))
}

// Compare orders the extents of a chain by offset, the longest first, so that none comes before one that outranks it.
func (e *Extent) Compare(other *Extent) int {
	return cmp.Or(cmp.Compare(e.Offset, other.Offset), cmp.Compare(other.Size, e.Size), bytes.Compare(e.SHA256[:], other.SHA256[:]))
}

// Outranks reports whether e has the bytes of another extent of its chain, so that the other need not be read: it is within e. Of two with
// the same place, which are of two copies of an archive that contradict each other, it is the one with the smaller hash.
func (e *Extent) Outranks(other *Extent) bool {
	if e.Offset == other.Offset && e.Size == other.Size {
		return bytes.Compare(e.SHA256[:], other.SHA256[:]) < 0
	}
	return e.Offset <= other.Offset && e.Offset+e.Size >= other.Offset+other.Size
}

// Needed returns the parts of a chain that its states need, of all that manifests state, which are sorted by the Compare of their extents:
// each content once. If parts overlap, two copies of an archive have archived the growth of one file apart: apart reports that. As they may
// contradict each other, all that is stored is needed then.
func Needed[P any](parts []P, extent func(*P) *Extent, size int64, stored func(*P) bool) (needed []P, apart bool) {
	parts = slices.CompactFunc(parts, func(a, b P) bool {
		x, y := extent(&a), extent(&b)
		return x.Offset == y.Offset && x.Size == y.Size && x.SHA256 == y.SHA256
	})
	if size == 0 {
		return parts[:min(1, len(parts))], false
	}
	end := int64(0)
	for i := range parts {
		e := extent(&parts[i])
		if e.Size == 0 || e.Offset+e.Size <= end && !stored(&parts[i]) { // gc has joined it with others
			continue
		}
		needed, apart, end = append(needed, parts[i]), apart || e.Offset < end, max(end, e.Offset+e.Size)
	}
	return needed, apart
}
