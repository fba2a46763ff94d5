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

// orphan is an entry of a pack whose manifest is lost and whose original is unknown.
type orphan struct {
	info  *packInfo
	entry pack.SalvagedEntry
}

// adoptOrphans turns the orphans into versions: by the name of its entry, each is an original or the tail of one. Their formats
// are set by a later scan or reindex, from other versions. The originals that may be related to orphans are planned
// before all others.
func (inv *inventory) adoptOrphans(ctx context.Context, p *Plan, done *int64) error {
	orphans, err := inv.orphans(ctx)
	if err != nil || len(orphans) == 0 {
		return err
	}
	names := map[blob.Name]bool{}
	for _, x := range orphans {
		source, name := x.name()
		base, _, _ := pack.SplitTail(name)
		names[blob.Name{Source: source, Path: name}], names[blob.Name{Source: source, Path: cmp.Or(base, name)}] = true, true
	}
	if err := inv.selectNamed(ctx, names); err != nil {
		return err
	}
	for _, x := range orphans {
		if err := inv.adopt(ctx, x); err != nil {
			return err
		}
		p.Unnamed = append(p.Unnamed, x.entry.Name)
	}
	inv.handled = names
	return inv.locateChains(ctx, p, done)
}

// orphans returns the entries whose original is unknown and whose content no other pack, manifest or index row has.
func (inv *inventory) orphans(ctx context.Context) (all []orphan, err error) {
	storedElsewhere := map[blob.Ref]bool{}
	for _, pi := range inv.damaged() {
		if pi.known || pi.replaced || pi.salvaged == nil {
			continue
		}
		entries := slices.Clone(pi.salvaged.Entries)
		slices.SortFunc(entries, func(a, b pack.SalvagedEntry) int { return strings.Compare(a.Name, b.Name) })
		for _, e := range entries {
			all = append(all, orphan{pi, e})
			storedElsewhere[e.SHA256] = false
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	markStored := func(v *blob.Version) bool {
		for i := range v.Extents {
			if _, ok := storedElsewhere[v.Extents[i].SHA256]; ok {
				storedElsewhere[v.Extents[i].SHA256] = true
			}
		}
		return false
	}
	for _, name := range inv.names() {
		pi := inv.packs[name]
		for i := range pi.manifest.Versions {
			if !pi.replaced {
				markStored(&pi.manifest.Versions[i])
			}
		}
		if pi.isAuthoritative() {
			if _, err := pack.Read(ctx, inv.repair.Packs, name, markStored); err != nil {
				return nil, fmt.Errorf("pack %s: %w", name, err)
			}
		}
	}
	if inv.repair.Index != nil {
		for state, err := range inv.repair.Index.StatesIn(ctx, blob.Span{}) {
			if err != nil {
				return nil, fmt.Errorf("read the index: %w", err)
			}
			markStored(&state.Version)
		}
	}
	return slices.DeleteFunc(all, func(x orphan) bool {
		_, _, stored := inv.contents.Newest(x.entry.SHA256)
		return stored || storedElsewhere[x.entry.SHA256]
	}), nil
}

// name returns source and path of an original, or of the tail of one, from the name of its entry.
func (x orphan) name() (source, name string) {
	source, name, ok := strings.Cut(x.entry.Name, "/")
	if !ok {
		source, name = "found", x.entry.Name
	}
	return unescape(source), unescape(name)
}

// adopt makes an entry a new version, or adds it to the version whose tail it is.
func (inv *inventory) adopt(ctx context.Context, x orphan) error {
	pi, e := x.info, x.entry
	source, name := x.name()
	v := blob.Version{Source: source, Path: name, Number: 1, Root: e.SHA256, Size: e.Size, SHA256: e.SHA256, ModTime: e.ModTime, Mode: e.Mode}
	base, root, offset := pack.SplitTail(name)
	if base != "" {
		v.Path = base
	}
	if c := inv.owner(&v, root, offset); c != nil {
		c.parts = append(c.parts, part{blob.Extent{Offset: offset, Size: e.Size, SHA256: e.SHA256, Raw: e.Raw}, pi})
		return nil
	}
	if base != "" {
		if offset > 0 {
			if appended, err := inv.appendTail(ctx, v, root, offset, e); err != nil || appended {
				return err
			}
			v.Path = name // what precedes the tail is unknown
		}
	}
	for _, c := range inv.chains {
		if c.Source != v.Source || c.Path != v.Path {
			continue
		}
		v.Number = max(v.Number, c.Number+1)
		v.Format, v.Role, v.Claim = c.Format, c.Role, c.Claim
	}
	if _, deleted := inv.tombstones.Of(&v); deleted {
		return nil
	}
	c := inv.upsertChain(&v, pi)
	c.parts = append(c.parts, part{blob.Extent{Size: e.Size, SHA256: e.SHA256, Raw: e.Raw}, pi})
	return nil
}

// owner returns the chain that an entry belongs to by its name, and of whose bytes there nothing is known; nil if there is none, or
// more than one.
func (inv *inventory) owner(v *blob.Version, root string, offset int64) (owner *chain) {
	for _, c := range inv.chains {
		matches := c.Root.Short() == root || root == "" && c.Number == 1
		if c.Source != v.Source || c.Path != v.Path || !matches || c.deleted || offset+v.Size > c.Size {
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

// appendTail adds a tail to the chain that ends where it begins, and reports whether there is one.
func (inv *inventory) appendTail(ctx context.Context, v blob.Version, root string, offset int64, e pack.SalvagedEntry) (bool, error) {
	for _, c := range inv.chains {
		if c.Source != v.Source || c.Path != v.Path || c.Root.Short() != root || c.Size != offset || c.deleted {
			continue
		}
		if err := inv.locate(ctx, c); err != nil || len(c.lost) > 0 {
			return false, err
		}
		whole := sha256.New()
		for _, f := range c.found {
			if err := inv.copySegment(ctx, whole, f); err != nil {
				return false, err
			}
		}
		tail, err := inv.findContent(ctx, e.SHA256, e.Size)
		if err != nil || tail == nil {
			return false, err
		}
		if _, err := io.Copy(whole, tail.reader(ctx, span{0, e.Size})); err != nil {
			return false, err
		}
		pi := tail.info
		c.parts = append(c.parts, part{blob.Extent{Offset: offset, Size: e.Size, SHA256: e.SHA256, Raw: e.Raw}, pi})
		c.Size, c.SHA256, c.ModTime, c.newest = offset+e.Size, blob.Ref(whole.Sum(nil)), e.ModTime, pi
		return true, nil
	}
	return false, nil
}

// copySegment writes the bytes of a segment to w.
func (inv *inventory) copySegment(ctx context.Context, w io.Writer, f segment) error {
	if f.at != nil {
		e := blob.Extent{Size: f.size, SHA256: f.sum, CopyOf: f.at}
		_, err := io.Copy(w, inv.library.Reader(ctx, []blob.Extent{e}))
		return err
	}
	r, err := f.open(ctx)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, r)
	return errors.Join(err, r.Close())
}

// unescape reverses the escapes of an entry name as far as possible.
func unescape(name string) string {
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
