package repair

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
)

// unnamed takes in what stands in packs of which nothing is known but the entries that are whole: each is an original, or
// the tail of one, by its name in the pack. What its format was, a later scan or reindex finds out by other versions.
func (s *survey) unnamed(ctx context.Context, p *Plan) error {
	wanted := map[blob.Ref]bool{}
	for _, c := range s.chains {
		for _, part := range c.parts {
			wanted[part.sum] = true
		}
	}
	for _, h := range s.wrecks() {
		if h.told || h.replaced || h.wreck == nil {
			continue
		}
		entries := slices.Clone(h.wreck.Entries)
		slices.SortFunc(entries, func(a, b pack.WreckEntry) int { return strings.Compare(a.Name, b.Name) })
		for _, e := range entries {
			if wanted[e.SHA256] {
				continue // it is known whose it is, or another pack has it
			}
			if _, stands := s.bySum[e.SHA256]; stands {
				continue
			}
			if err := s.adopt(ctx, h, e); err != nil {
				return err
			}
			p.Unnamed = append(p.Unnamed, e.Name)
		}
	}
	return nil
}

// adopt makes an entry a version, or prolongs the one that it is the tail of.
func (s *survey) adopt(ctx context.Context, h *holding, e pack.WreckEntry) error {
	source, name, ok := strings.Cut(e.Name, "/")
	if !ok {
		source, name = "found", e.Name
	}
	source, name = plain(source), plain(name)
	v := blob.Version{Source: source, Path: name, Number: 1, Root: e.SHA256, Size: e.Size, SHA256: e.SHA256, ModTime: e.ModTime, Mode: e.Mode}
	base, root, offset := pack.SplitTail(name)
	if base != "" {
		v.Path = base
	}
	if c := s.owner(&v, root, offset); c != nil {
		c.parts = append(c.parts, part{offset, e.Size, e.SHA256, place{h.Name, e.Raw}, h})
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
	if _, buried := s.graves.Of(&v); buried {
		return nil
	}
	c := s.chain(&v, h)
	c.parts = append(c.parts, part{0, e.Size, e.SHA256, place{h.Name, e.Raw}, h})
	return nil
}

// owner returns the chain of which nothing but the end is known and whose missing bytes an entry is by its name; nil when
// there is none, or more than one.
func (s *survey) owner(v *blob.Version, root string, offset int64) (owner *chain) {
	for _, c := range s.chains {
		named := c.Root.Short() == root || root == "" && c.Number == 1
		if c.Source != v.Source || c.Path != v.Path || !named || c.buried || offset+v.Size > c.Size {
			continue
		}
		known := slices.ContainsFunc(c.parts, func(p part) bool { return p.offset < offset+v.Size && offset < p.offset+p.size })
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
func (s *survey) grown(ctx context.Context, v blob.Version, root string, offset int64, e pack.WreckEntry) (bool, error) {
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
		h := tail.holding
		c.parts = append(c.parts, part{offset, e.Size, e.SHA256, place{h.Name, e.Raw}, h})
		c.Size, c.SHA256, c.ModTime, c.said = offset+e.Size, blob.Ref(whole.Sum(nil)), e.ModTime, h
		return true, nil
	}
	return false, nil
}

// copy writes what was found.
func (s *survey) copy(ctx context.Context, w io.Writer, f found) error {
	if f.at != nil {
		e := blob.Extent{Size: f.size, SHA256: f.sum, CopyOf: &blob.Copy{Pack: f.at.pack, Raw: f.at.raw}}
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
