package blob

import (
	"bytes"
	"cmp"
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

// Compare orders the extents of a chain by offset, the longest first.
func (e *Extent) Compare(other *Extent) int {
	return cmp.Or(cmp.Compare(e.Offset, other.Offset), cmp.Compare(other.Size, e.Size))
}

// Cover returns the parts of a version, which are sorted by the Compare of their extents, that follow one another from its first byte to its
// last: as few as possible, and among equals those that come first. It returns nil if bytes are missing, or size is 0.
func Cover[P any](parts []P, extent func(*P) *Extent, size int64) []P {
	type way struct{ steps, next int } // from an offset to the end
	ways := map[int64]way{}
	for i := len(parts) - 1; i >= 0; i-- {
		e := extent(&parts[i])
		rest, ok := ways[e.Offset+e.Size]
		if e.Offset+e.Size >= size {
			rest, ok = way{}, true
		}
		if have, known := ways[e.Offset]; !ok || e.Size == 0 || known && have.steps < rest.steps+1 {
			continue
		}
		ways[e.Offset] = way{rest.steps + 1, i}
	}
	var chosen []P
	for at := int64(0); at < size; {
		w, ok := ways[at]
		if !ok {
			return nil
		}
		chosen = append(chosen, parts[w.next])
		at += extent(&parts[w.next]).Size
	}
	return chosen
}
