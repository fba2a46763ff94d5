package repair

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/txarchive/txarchive/internal/blob"
)

// segment is a run of bytes of a chain that is there.
type segment struct {
	offset, size int64
	sum          blob.Ref   // of exactly these bytes
	at           *blob.Copy // they stand in a sound pack; nil when they must be stored
	recorded     bool       // a sound pack says so
	from         string
	open         opener
}

type opener func(context.Context) (io.ReadCloser, error)

// span is a run of bytes of a chain.
type span struct{ from, to int64 }

// hashOf is the hash of exactly size bytes.
func hashOf(r io.Reader, size int64) (blob.Ref, error) {
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(r, size))
	if err == nil && n < size {
		err = io.ErrUnexpectedEOF
	}
	return blob.Ref(h.Sum(nil)), err
}

// settle finds every byte of a chain, or says that it is lost.
func (s *inventory) settle(ctx context.Context, c *chain) error {
	slices.SortStableFunc(c.parts, func(a, b part) int { return a.Compare(&b.Extent) })
	c.rewrite, c.found, c.lost = !c.newest.isAuthoritative(), nil, nil
	whole := span{0, c.Size}
	c.addSound(s)
	steps := []func(context.Context, *chain, span) ([]segment, error){s.wholes, s.pieces, s.backedUp, s.whole}
	if c.buried {
		steps = steps[:2]
	}
	for _, step := range steps {
		for _, gap := range gaps(c.found, whole) {
			more, err := step(ctx, c, gap)
			if err != nil {
				return err
			}
			c.found = append(c.found, more...)
			slices.SortFunc(c.found, func(a, b segment) int { return cmp.Compare(a.offset, b.offset) })
		}
	}
	for _, f := range c.found {
		c.rewrite = c.rewrite || !f.recorded
	}
	if c.Size == 0 && len(c.found) == 0 { // no bytes are always there
		c.found, c.rewrite = []segment{{sum: c.SHA256, from: FromPack, open: openEmpty}}, true
	}
	if c.buried {
		return nil
	}
	for _, gap := range gaps(c.found, whole) {
		c.lost = append(c.lost, blob.Loss{
			Source: c.Source, Path: c.Path, Number: c.Number, Root: c.Root, Offset: gap.from, Size: gap.to - gap.from,
			Pack: c.packOf(gap), Since: s.began,
		})
	}
	return nil
}

func openEmpty(context.Context) (io.ReadCloser, error) { return io.NopCloser(eof{}), nil }

type eof struct{}

func (eof) Read([]byte) (int, error) { return 0, io.EOF }

// packOf names the pack that had bytes, as far as one is known.
func (c *chain) packOf(gap span) string {
	for _, p := range c.parts {
		if p.Offset < gap.to && gap.from < p.Offset+p.Size {
			return p.location().Pack
		}
	}
	return ""
}

// addSound takes what stands in sound packs, the longest extents first.
func (c *chain) addSound(s *inventory) {
	end := int64(-1)
	for _, p := range c.parts {
		at, ok := s.contents.Find(p.location(), p.Size, p.SHA256) // a sound place: where the manifest says, else where the same bytes stand now
		if !ok || p.Offset < end || p.Size == 0 && (c.Size > 0 || len(c.found) > 0) {
			continue
		}
		told := p.by.isAuthoritative()
		c.found = append(c.found, segment{offset: p.Offset, size: p.Size, sum: p.SHA256, at: &at, recorded: told})
		end = p.Offset + p.Size
	}
}

// gaps are the bytes of a whole that nothing was found of. found is in order.
func gaps(all []segment, whole span) (out []span) {
	at := whole.from
	for _, f := range all {
		if f.offset > at {
			out = append(out, span{at, f.offset})
		}
		at = max(at, f.offset+f.size)
	}
	if at < whole.to {
		out = append(out, span{at, whole.to})
	}
	return out
}

// wholes fills a gap with parts whose content is elsewhere: in damaged packs, in the backup, in the source.
func (s *inventory) wholes(ctx context.Context, c *chain, gap span) ([]segment, error) {
	return s.fill(ctx, c, gap, c.parts)
}

// backedUp fills it with the parts that the chain has in the backup, which may be cut otherwise.
func (s *inventory) backedUp(ctx context.Context, c *chain, gap span) ([]segment, error) {
	var parts []part
	for _, e := range s.backups[c.Version.Chain()] {
		parts = append(parts, part{Extent: e})
	}
	slices.SortFunc(parts, func(a, b part) int { return a.Compare(&b.Extent) })
	return s.fill(ctx, c, gap, parts)
}

func (s *inventory) fill(ctx context.Context, c *chain, gap span, parts []part) (all []segment, err error) {
	for _, p := range parts {
		from, to := max(p.Offset, gap.from), min(p.Offset+p.Size, gap.to)
		if from >= to {
			continue
		}
		f, err := s.part(ctx, c, p, from, to)
		if err != nil {
			return nil, err
		}
		if f != nil {
			all = append(all, *f)
			gap.from = to
		}
	}
	return all, nil
}

// part finds the content of a part, and takes the bytes from one place to another of it.
func (s *inventory) part(ctx context.Context, c *chain, p part, from, to int64) (*segment, error) {
	have, err := s.content(ctx, p.SHA256, p.Size)
	if err != nil {
		return nil, err
	}
	if have != nil {
		return cut(ctx, have.opener(span{from - p.Offset, to - p.Offset}), span{from, to}, have.info.from)
	}
	if s.atSource(ctx, c, span{p.Offset, p.Offset + p.Size}, p.SHA256) {
		return cut(ctx, s.source(c, span{from, to}), span{from, to}, FromSource)
	}
	return nil, ctx.Err()
}

// cut makes a find of what open gives.
func cut(ctx context.Context, open opener, of span, from string) (*segment, error) {
	f := &segment{offset: of.from, size: of.to - of.from, from: from, open: open}
	r, err := open(ctx)
	if err != nil {
		return nil, err
	}
	f.sum, err = hashOf(r, f.size)
	return f, errors.Join(err, r.Close())
}

type readCloser struct {
	io.Reader
	io.Closer
}

// pieces fills a gap with what damaged packs have of parts that are whole nowhere: members that are as they were written.
func (s *inventory) pieces(ctx context.Context, c *chain, gap span) (all []segment, err error) {
	for _, p := range c.parts {
		at := p.location()
		h := s.packs[at.Pack]
		if h == nil || h.salvaged == nil || !h.salvaged.HasManifest || p.by != nil && p.by.Name != h.Name && !h.stored.Has(at.Raw, p.Size, p.SHA256) {
			continue
		}
		for _, run := range runs(h.salvaged.Sure) {
			from := max(gap.from, p.Offset+max(0, run.from-at.Raw))
			to := min(gap.to, p.Offset+min(p.Size, run.to-at.Raw))
			if from >= to {
				continue
			}
			one := &candidate{info: h, members: h.salvaged.Sure, raw: at.Raw}
			f, err := cut(ctx, one.opener(span{from - p.Offset, to - p.Offset}), span{from, to}, FromPack)
			if err != nil {
				return nil, err
			}
			all = append(all, *f)
			gap.from = to
		}
	}
	return all, nil
}

// runs are the stretches of a tar stream that members cover without a gap.
func runs(members []blob.Member) (all []span) {
	for _, m := range members {
		if n := len(all); n > 0 && all[n-1].to == m.Raw {
			all[n-1].to += m.RawSize
		} else {
			all = append(all, span{m.Raw, m.Raw + m.RawSize})
		}
	}
	return all
}

// extentSize is how much of an original one extent holds, as an ingest cuts large ones.
const extentSize = 16 << 20

// whole fills a gap with what the source has, when it begins with all of the content.
func (s *inventory) whole(ctx context.Context, c *chain, gap span) (all []segment, err error) {
	if !s.atSource(ctx, c, span{0, c.Size}, c.SHA256) {
		return nil, ctx.Err()
	}
	for gap.from < gap.to {
		of := span{gap.from, min(gap.to, gap.from+extentSize)}
		f, err := cut(ctx, s.source(c, of), of, FromSource)
		if err != nil {
			return nil, err
		}
		all = append(all, *f)
		gap.from = of.to
	}
	return all, nil
}

// source opens a run of bytes of an original where it came from.
func (s *inventory) source(c *chain, of span) opener {
	return func(context.Context) (io.ReadCloser, error) {
		var at struct{ Root string }
		if err := json.Unmarshal(s.roots[c.Source].Value, &at); err != nil || at.Root == "" {
			return nil, fmt.Errorf("source %s: %w", c.Source, fs.ErrNotExist)
		}
		f, err := s.repair.Original(at.Root, c.Path)
		if err != nil {
			return nil, err
		}
		return readCloser{io.NewSectionReader(f, of.from, of.to-of.from), f}, nil
	}
}

// atSource says whether the source of an original has a content where it should be.
func (s *inventory) atSource(ctx context.Context, c *chain, of span, sum blob.Ref) bool {
	if s.repair.Original == nil || c.buried {
		return false
	}
	r, err := s.source(c, of)(ctx)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			s.repair.Log.DebugContext(ctx, "the source does not give an original", "path", c.Source+"/"+c.Path, "err", err)
		}
		return false
	}
	got, err := hashOf(r, of.to-of.from)
	return errors.Join(err, r.Close()) == nil && got == sum
}
