package blob

import (
	"bytes"
	"cmp"
	"strings"
)

// Chain tells one content of an original, and its growth, from all others, also where two machines have given one name and number.
type Chain struct {
	Name
	Number int
	Root   Ref
}

// Compare orders chains by name, number and root.
func (c Chain) Compare(other Chain) int {
	return cmp.Or(c.Name.Compare(other.Name), cmp.Compare(c.Number, other.Number), bytes.Compare(c.Root[:], other.Root[:]))
}

// Name is what the original is called.
func (v *Version) Name() Name { return Name{v.Source, v.Path} }

// Chain is the chain that v is a state of.
func (v *Version) Chain() Chain { return Chain{v.Name(), v.Number, v.Root} }

// Place is where the bytes of e stand, as the manifest of a pack tells.
func (e *Extent) Place(pack string) Copy {
	switch {
	case e.CopyOf == nil:
		return Copy{pack, e.Raw}
	case e.CopyOf.Pack == "":
		return Copy{pack, e.CopyOf.Raw}
	}
	return *e.CopyOf
}

// Compare orders places by pack.
func (c Copy) Compare(other Copy) int {
	return cmp.Or(strings.Compare(c.Pack, other.Pack), cmp.Compare(c.Raw, other.Raw))
}

// Compare orders extents of a chain by where they begin, the longest first.
func (e *Extent) Compare(other *Extent) int {
	return cmp.Or(cmp.Compare(e.Offset, other.Offset), cmp.Compare(other.Size, e.Size))
}
