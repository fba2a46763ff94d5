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

// segment is a range of bytes of a chain that was found.
type segment struct {
	offset, size int64
	sum          blob.Ref   // of exactly these bytes
	at           *blob.Copy // place in a sound pack; nil if they must be stored
	recorded     bool       // the manifest of a sound pack has it
	from         string
	open         opener
}

type opener func(context.Context) (io.ReadCloser, error)

// span is a range of bytes.
type span struct{ from, to int64 }

// hashOf returns the hash of exactly size bytes of r.
func hashOf(r io.Reader, size int64) (blob.Ref, error) {
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(r, size))
	if err == nil && n < size {
		err = io.ErrUnexpectedEOF
	}
	return blob.Ref(h.Sum(nil)), err
}

// locate searches for every byte of a chain. It sets what was found and what is lost of it.
func (inv *inventory) locate(ctx context.Context, c *chain) error {
	slices.SortStableFunc(c.parts, func(a, b part) int { return a.Compare(&b.Extent) })
	c.rewrite, c.found, c.lost = !c.newest.isAuthoritative(), nil, nil
	whole := span{0, c.Size}
	needed, apart := blob.Needed(slices.Clone(c.parts), func(p *part) *blob.Extent { return &p.Extent }, c.Size, inv.isHeld)
	if apart {
		if err := inv.saveAll(ctx, c, needed); err != nil {
			return err
		}
	} else {
		c.addSound(inv)
	}
	steps := []func(context.Context, *chain, span) ([]segment, error){inv.fromParts, inv.fromSoundMembers, inv.fromOutside, inv.fromSource}
	if c.deleted {
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
	if c.Size == 0 && len(c.found) == 0 { // an empty original is always found
		c.found, c.rewrite = []segment{{sum: c.SHA256, from: FromPack, open: openEmpty}}, true
	}
	if c.deleted {
		return nil
	}
	for _, gap := range gaps(c.found, whole) {
		c.lost = append(c.lost, blob.Loss{
			Source: c.Source, Path: c.Path, Number: c.Number, Root: c.Root, Offset: gap.from, Size: gap.to - gap.from,
			Pack: c.packOf(gap), Since: inv.started,
		})
	}
	return nil
}

func openEmpty(context.Context) (io.ReadCloser, error) { return io.NopCloser(emptyReader{}), nil }

type emptyReader struct{}

func (emptyReader) Read([]byte) (int, error) { return 0, io.EOF }

// packOf returns the pack that held bytes of a gap, "" if unknown.
func (c *chain) packOf(gap span) string {
	for _, p := range c.parts {
		if p.Offset < gap.to && gap.from < p.Offset+p.Size {
			return p.location().Pack
		}
	}
	return ""
}

// isHeld reports whether a pack has a part, or had it before it was damaged.
func (inv *inventory) isHeld(p *part) bool {
	if _, ok := inv.contents.Find(p.location(), p.Size, p.SHA256); ok {
		return true
	}
	pi := inv.packs[p.location().Pack]
	return pi != nil && !pi.sound && !pi.replaced
}

// saveAll adds each part of a chain that copies of the archive have archived apart, as parts that cover the same bytes may contradict each other.
func (inv *inventory) saveAll(ctx context.Context, c *chain, parts []part) error {
	for _, p := range parts {
		if at, ok := inv.contents.Find(p.location(), p.Size, p.SHA256); ok {
			c.found = append(c.found, segment{offset: p.Offset, size: p.Size, sum: p.SHA256, at: &at, recorded: p.by.isAuthoritative()})
			continue
		}
		f, err := inv.fillFromPart(ctx, c, p, p.Offset, p.Offset+p.Size)
		if err != nil {
			return err
		}
		if f != nil {
			c.found = append(c.found, *f)
		}
	}
	return nil
}

// addSound adds the parts that are in sound packs and in no other of them.
func (c *chain) addSound(inv *inventory) {
	end := int64(-1)
	for _, p := range c.parts {
		at, ok := inv.contents.Find(p.location(), p.Size, p.SHA256) // where the manifest says, else where the content is now
		if !ok || p.Offset+p.Size <= end || p.Size == 0 && (c.Size > 0 || len(c.found) > 0) {
			continue
		}
		recorded := p.by.isAuthoritative()
		c.found = append(c.found, segment{offset: p.Offset, size: p.Size, sum: p.SHA256, at: &at, recorded: recorded})
		end = p.Offset + p.Size
	}
}

// gaps returns the ranges of whole that no segment covers. all is in order.
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

// fromParts fills a gap with parts of the chain whose content is found in damaged packs, in the backup or in the source.
func (inv *inventory) fromParts(ctx context.Context, c *chain, gap span) ([]segment, error) {
	return inv.fill(ctx, c, gap, c.parts)
}

// fromOutside fills a gap with the parts of the chain in the backup or in replaced packs, which may be cut differently.
func (inv *inventory) fromOutside(ctx context.Context, c *chain, gap span) ([]segment, error) {
	var parts []part
	for _, e := range inv.outside[c.Version.Chain()] {
		parts = append(parts, part{Extent: e})
	}
	slices.SortFunc(parts, func(a, b part) int { return a.Compare(&b.Extent) })
	return inv.fill(ctx, c, gap, parts)
}

func (inv *inventory) fill(ctx context.Context, c *chain, gap span, parts []part) (all []segment, err error) {
	for _, p := range parts {
		from, to := max(p.Offset, gap.from), min(p.Offset+p.Size, gap.to)
		if from >= to {
			continue
		}
		f, err := inv.fillFromPart(ctx, c, p, from, to)
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

// fillFromPart finds the content of a part, and returns the segment of it between two offsets of the chain, or nil.
func (inv *inventory) fillFromPart(ctx context.Context, c *chain, p part, from, to int64) (*segment, error) {
	have, err := inv.findContent(ctx, p.SHA256, p.Size)
	if err != nil {
		return nil, err
	}
	if have != nil {
		return newSegment(ctx, have.opener(span{from - p.Offset, to - p.Offset}), span{from, to}, have.info.from)
	}
	if inv.sourceHas(ctx, c, span{p.Offset, p.Offset + p.Size}, p.SHA256) {
		return newSegment(ctx, inv.sourceOpener(c, span{from, to}), span{from, to}, FromSource)
	}
	return nil, ctx.Err()
}

// newSegment returns the segment of the bytes that open gives, with their hash.
func newSegment(ctx context.Context, open opener, of span, from string) (*segment, error) {
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

// fromSoundMembers fills a gap with pieces of parts that are whole nowhere: those in members of damaged packs that are still as
// they were written.
func (inv *inventory) fromSoundMembers(ctx context.Context, c *chain, gap span) (all []segment, err error) {
	for _, p := range c.parts {
		at := p.location()
		pi := inv.packs[at.Pack]
		if pi == nil || pi.salvaged == nil || !pi.salvaged.HasManifest || p.by != nil && p.by.Name != pi.Name && !pi.stored.Has(at.Raw, p.Size, p.SHA256) {
			continue
		}
		for _, run := range contiguousRanges(pi.salvaged.Sure) {
			from := max(gap.from, p.Offset+max(0, run.from-at.Raw))
			to := min(gap.to, p.Offset+min(p.Size, run.to-at.Raw))
			if from >= to {
				continue
			}
			one := &candidate{info: pi, members: pi.salvaged.Sure, raw: at.Raw}
			f, err := newSegment(ctx, one.opener(span{from - p.Offset, to - p.Offset}), span{from, to}, FromPack)
			if err != nil {
				return nil, err
			}
			all = append(all, *f)
			gap.from = to
		}
	}
	return all, nil
}

// contiguousRanges returns the ranges of a tar stream that members cover without a gap.
func contiguousRanges(members []blob.Member) (all []span) {
	for _, m := range members {
		if n := len(all); n > 0 && all[n-1].to == m.Raw {
			all[n-1].to += m.RawSize
		} else {
			all = append(all, span{m.Raw, m.Raw + m.RawSize})
		}
	}
	return all
}

// extentSize is how much of an original one extent holds, as in an ingest.
const extentSize = 16 << 20

// fromSource fills a gap from the source, if the file there begins with the whole content of the chain.
func (inv *inventory) fromSource(ctx context.Context, c *chain, gap span) (all []segment, err error) {
	if !inv.sourceHas(ctx, c, span{0, c.Size}, c.SHA256) {
		return nil, ctx.Err()
	}
	for gap.from < gap.to {
		of := span{gap.from, min(gap.to, gap.from+extentSize)}
		f, err := newSegment(ctx, inv.sourceOpener(c, of), of, FromSource)
		if err != nil {
			return nil, err
		}
		all = append(all, *f)
		gap.from = of.to
	}
	return all, nil
}

// sourceOpener returns an opener of a range of an original in its source.
func (inv *inventory) sourceOpener(c *chain, of span) opener {
	return func(context.Context) (io.ReadCloser, error) {
		var at struct{ Root string }
		if err := json.Unmarshal(inv.roots[c.Source].Value, &at); err != nil || at.Root == "" {
			return nil, fmt.Errorf("source %s: %w", c.Source, fs.ErrNotExist)
		}
		f, err := inv.repair.Original(at.Root, c.Path)
		if err != nil {
			return nil, err
		}
		return readCloser{io.NewSectionReader(f, of.from, of.to-of.from), f}, nil
	}
}

// sourceHas reports whether the original in the source has the content with that hash in a range.
func (inv *inventory) sourceHas(ctx context.Context, c *chain, of span, sum blob.Ref) bool {
	if inv.repair.Original == nil || c.deleted {
		return false
	}
	r, err := inv.sourceOpener(c, of)(ctx)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			inv.repair.Log.DebugContext(ctx, "the source does not have the original", "path", c.Source+"/"+c.Path, "err", err)
		}
		return false
	}
	got, err := hashOf(r, of.to-of.from)
	return errors.Join(err, r.Close()) == nil && got == sum
}
