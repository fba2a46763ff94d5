package repair

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
)

// orphan is an entry of a pack of which nothing is known.
type orphan struct {
	info  *packInfo
	entry pack.SalvagedEntry
}

// adoptOrphans takes in what stands in packs of which nothing is known but the entries that are whole: each is an original, or
// the tail of one, by its name in the pack. What its format was, a later scan or reindex finds out by other versions.
// The originals that may have to do with them are settled before all others.
func (s *inventory) adoptOrphans(ctx context.Context, p *Plan, done *int64) error {
	strays, err := s.orphans(ctx)
	if err != nil || len(strays) == 0 {
		return err
	}
	names := map[blob.Name]bool{}
	for _, x := range strays {
		source, name := x.name()
		base, _, _ := pack.SplitTail(name)
		names[blob.Name{Source: source, Path: name}], names[blob.Name{Source: source, Path: cmp.Or(base, name)}] = true, true
	}
	if err := s.selectNamed(ctx, names); err != nil {
		return err
	}
	for _, x := range strays {
		if err := s.adopt(ctx, x); err != nil {
			return err
		}
		p.Unnamed = append(p.Unnamed, x.entry.Name)
	}
	s.named = names
	return s.locateAll(ctx, p, done)
}

// orphans are the entries of which it is not known whose they are, and that no other pack has.
func (s *inventory) orphans(ctx context.Context) (all []orphan, err error) {
	wanted := map[blob.Ref]bool{}
	for _, h := range s.damaged() {
		if h.known || h.replaced || h.salvaged == nil {
			continue
		}
		entries := slices.Clone(h.salvaged.Entries)
		slices.SortFunc(entries, func(a, b pack.SalvagedEntry) int { return strings.Compare(a.Name, b.Name) })
		for _, e := range entries {
			all = append(all, orphan{h, e})
			wanted[e.SHA256] = false
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	told := func(v *blob.Version) bool {
		for i := range v.Extents {
			if _, ok := wanted[v.Extents[i].SHA256]; ok {
				wanted[v.Extents[i].SHA256] = true
			}
		}
		return false
	}
	for _, name := range s.names() {
		h := s.packs[name]
		for i := range h.manifest.Versions {
			if !h.replaced {
				told(&h.manifest.Versions[i])
			}
		}
		if h.isAuthoritative() {
			if _, err := pack.Read(ctx, s.repair.Packs, name, told); err != nil {
				return nil, fmt.Errorf("pack %s: %w", name, err)
			}
		}
	}
	if s.repair.Index != nil {
		for state, err := range s.repair.Index.StatesIn(ctx, blob.Span{}) {
			if err != nil {
				return nil, fmt.Errorf("ask the index: %w", err)
			}
			told(&state.Version)
		}
	}
	return slices.DeleteFunc(all, func(x orphan) bool {
		_, _, stands := s.contents.Newest(x.entry.SHA256)
		return stands || wanted[x.entry.SHA256]
	}), nil
}

// name is what an entry is called as an original, or the tail of one.
func (x orphan) name() (source, name string) {
	source, name, ok := strings.Cut(x.entry.Name, "/")
	if !ok {
		source, name = "found", x.entry.Name
	}
	return plain(source), plain(name)
}

// adopt makes an entry a version, or prolongs the one that it is the tail of.
func (s *inventory) adopt(ctx context.Context, x orphan) error {
	h, e := x.info, x.entry
	source, name := x.name()
	v := blob.Version{Source: source, Path: name, Number: 1, Root: e.SHA256, Size: e.Size, SHA256: e.SHA256, ModTime: e.ModTime, Mode: e.Mode}
	base, root, offset := pack.SplitTail(name)
	if base != "" {
		v.Path = base
	}
	if c := s.owner(&v, root, offset); c != nil {
		c.parts = append(c.parts, part{blob.Extent{Offset: offset, Size: e.Size, SHA256: e.SHA256, Raw: e.Raw}, h})
		return nil
	}
	if base != "" {
		if offset > 0 {
			if grown, err := s.grown(ctx, v, root, offset, e); err != nil || grown {
				return err
			}
			v.Path = name // nobody knows what stood before it
		}
	}
	for _, c := range s.chains {
		if c.Source != v.Source || c.Path != v.Path {
			continue
		}
		v.Number = max(v.Number, c.Number+1)
		v.Format, v.Role, v.Claim = c.Format, c.Role, c.Claim
	}
	if _, buried := s.tombstones.Of(&v); buried {
		return nil
	}
	c := s.chain(&v, h)
	c.parts = append(c.parts, part{blob.Extent{Size: e.Size, SHA256: e.SHA256, Raw: e.Raw}, h})
	return nil
}

// owner returns the chain of which nothing but the end is known and whose missing bytes an entry is by its name; nil when
// there is none, or more than one.
func (s *inventory) owner(v *blob.Version, root string, offset int64) (owner *chain) {
	for _, c := range s.chains {
		named := c.Root.Short() == root || root == "" && c.Number == 1
		if c.Source != v.Source || c.Path != v.Path || !named || c.buried || offset+v.Size > c.Size {
			continue
		}
		known := slices.ContainsFunc(c.parts, func(p part) bool { return p.Offset < offset+v.Size && offset < p.Offset+p.Size })
		if known {
			continue
		}
		if owner != nil {
			return nil
		}
		owner = c
	}
	return owner
}

// grown adds a tail to the chain that ends where it begins.
func (s *inventory) grown(ctx context.Context, v blob.Version, root string, offset int64, e pack.SalvagedEntry) (bool, error) {
	for _, c := range s.chains {
		if c.Source != v.Source || c.Path != v.Path || c.Root.Short() != root || c.Size != offset || c.buried {
			continue
		}
		if err := s.settle(ctx, c); err != nil || len(c.lost) > 0 {
			return false, err
		}
		whole := sha256.New()
		for _, f := range c.found {
			if err := s.copy(ctx, whole, f); err != nil {
				return false, err
			}
		}
		tail, err := s.content(ctx, e.SHA256, e.Size)
		if err != nil || tail == nil {
			return false, err
		}
		if _, err := io.Copy(whole, tail.reader(ctx, span{0, e.Size})); err != nil {
			return false, err
		}
		h := tail.info
		c.parts = append(c.parts, part{blob.Extent{Offset: offset, Size: e.Size, SHA256: e.SHA256, Raw: e.Raw}, h})
		c.Size, c.SHA256, c.ModTime, c.newest = offset+e.Size, blob.Ref(whole.Sum(nil)), e.ModTime, h
		return true, nil
	}
	return false, nil
}

// copy writes what was found.
func (s *inventory) copy(ctx context.Context, w io.Writer, f segment) error {
	if f.at != nil {
		e := blob.Extent{Size: f.size, SHA256: f.sum, CopyOf: f.at}
		_, err := io.Copy(w, s.library.Reader(ctx, []blob.Extent{e}))
		return err
	}
	r, err := f.open(ctx)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, r)
	return errors.Join(err, r.Close())
}

// plain takes back the escapes of an entry name, as far as they can be.
func plain(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if name[i] == '%' && i+2 < len(name) {
			if c, err := strconv.ParseUint(name[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(c))
				i += 2
				continue
			}
		}
		b.WriteByte(name[i])
	}
	return b.String()
}
