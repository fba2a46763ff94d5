package prune

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
)

const (
	redactedExtent = 16 << 20 // as an ingest cuts large files
	redactedPack   = 48 << 20 // raw bytes, roughly
	// redactedLayer is how large the compressed form of a layer may become: it is made in memory.
	redactedLayer = 512 << 20
)

// Forgotten is what Apply did.
type Forgotten struct {
	Redacted int64 // versions that have marks now
	Dropped  int64 // versions that go as a whole
	Facts    int64
	Marks    int64
}

// Apply puts redacted versions in the place of those that hold a match, and has the next Run of GC drop all others,
// and the facts. The index does not know the new packs: whoever writes adopts them. It can be repeated.
func (f *Forget) Apply(ctx context.Context, found []Match) (a Forgotten, err error) {
	f.library = pack.NewLibrary(f.GC.Packs, 16<<20)
	defer func() { err = errors.Join(err, f.library.Close()) }()
	r := &redactor{forget: f, ctx: ctx, applied: &a}
	for _, m := range byChain(found) {
		if m[0].chain.dead {
			continue
		}
		if err := r.version(m); err != nil {
			return a, errors.Join(fmt.Errorf("forget: %w", err), r.abort())
		}
	}
	if err := r.seal(); err != nil {
		return a, fmt.Errorf("forget: %w", err)
	}
	for _, m := range found {
		if m.Where == InFact {
			a.Facts += m.Count
		}
	}
	f.GC.Options.Forgotten, f.GC.Options.Purge = true, true
	f.GC.Drop = f.inName
	f.GC.DropFact = f.inFact
	return a, nil
}

// byChain gathers the matches of each original.
func byChain(found []Match) (all [][]Match) {
	at := map[*chain]int{}
	for _, m := range found {
		if m.chain == nil {
			continue
		}
		i, ok := at[m.chain]
		if !ok {
			i = len(all)
			at[m.chain], all = i, append(all, nil)
		}
		all[i] = append(all[i], m)
	}
	return all
}

// redactor writes redacted versions into packs, each with the tombstones of those that they take the place of.
type redactor struct {
	forget  *Forget
	ctx     context.Context // a redactor lives as long as the call that made it
	applied *Forgotten

	writer   *pack.Writer
	builder  *pack.Builder
	manifest blob.Manifest
	names    nameSet
	late     []func(base int64)
	raw      int64
}

// version deals with one original.
func (r *redactor) version(found []Match) error {
	c := found[0].chain
	name, inner := false, ""
	var places [][2]int64
	for _, m := range found {
		name = name || m.Where == InName
		if m.Inner != "" {
			inner = m.Inner
		}
		if m.sound != nil {
			places = m.sound
		}
		r.applied.Marks += m.Count
	}
	if c.buried || name {
		return r.drop(c)
	}
	if inner == "gzip" || inner == "zstd" {
		return r.layer(c, inner)
	}
	// Of a database the bytes are marked where they lie in one piece, and the rows must then be clean.
	if inner != "" && len(places) == 0 {
		return r.drop(c)
	}
	open := func() io.Reader { return &redacted{r: r.forget.content(r.ctx, c), places: places} }
	if clean, err := r.clean(inner, open); err != nil || !clean {
		return errors.Join(err, r.dropUnless(err, c))
	}
	return r.put(c, c.Size, places, open)
}

func (r *redactor) dropUnless(err error, c *chain) error {
	if err != nil {
		return nil
	}
	return r.drop(c)
}

// clean looks at a redacted original once more: marks may have brought together what makes a match.
func (r *redactor) clean(inner string, open func() io.Reader) (bool, error) {
	places, err := r.forget.Pattern.scan(open())
	if err != nil || len(places) > 0 || inner == "" {
		return len(places) == 0, err
	}
	n, err := r.forget.inside(inner, open())
	return n == 0, err
}

// layer inflates an original, marks what is inside, and compresses it again.
func (r *redactor) layer(c *chain, inner string) error {
	inside, err := r.forget.Open(inner, r.forget.content(r.ctx, c))
	if err != nil {
		return err
	}
	places, err := r.forget.Pattern.scan(inside)
	if err != nil {
		return err
	}
	if inside, err = r.forget.Open(inner, r.forget.content(r.ctx, c)); err != nil {
		return err
	}
	out := &bounded{}
	w, err := r.forget.Compress(inner, out)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, &redacted{r: inside, places: places})
	if err = errors.Join(err, w.Close()); errors.Is(err, errTooLong) {
		return r.drop(c)
	}
	if err != nil {
		return err
	}
	open := func() io.Reader { return bytes.NewReader(out.Bytes()) }
	if clean, err := r.clean(inner, open); err != nil || !clean {
		return errors.Join(err, r.dropUnless(err, c))
	}
	return r.put(c, int64(out.Len()), nil, open)
}

var errTooLong = errors.New("too long to be redacted")

type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > redactedLayer {
		return 0, errTooLong
	}
	return b.Buffer.Write(p)
}

// drop lays a tombstone on a version that goes as a whole. It does not name what must be forgotten.
func (r *redactor) drop(c *chain) error {
	r.applied.Dropped++
	return r.bury(c, nil)
}

func (r *redactor) bury(c *chain, redaction *blob.Redaction) error {
	if err := r.begin(); err != nil {
		return err
	}
	t := blob.Bury(&c.Version, blob.PlanForget)
	t.Redacted = redaction
	shown := t
	shown.Source, shown.Path = r.forget.Pattern.Masked(t.Source), r.forget.Pattern.Masked(t.Path)
	fact := shown.Fact(r.now())
	fact.Key = t.Key()
	r.manifest.Facts = append(r.manifest.Facts, fact)
	return nil
}

func (r *redactor) now() time.Time { return r.forget.GC.Now().UTC().Truncate(time.Microsecond) }

func (r *redactor) begin() error {
	if r.writer != nil {
		return nil
	}
	g := r.forget.GC
	up, err := g.Packs.Create(r.ctx)
	if err != nil {
		return err
	}
	now := g.Now()
	if h := r.forget.holdings; !now.After(h.clock) {
		now = h.clock.Add(time.Microsecond)
	}
	r.forget.holdings.clock = now
	r.builder = pack.NewBuilder(g.Format)
	r.writer, err = pack.NewWriter(up, g.Writer, now, g.Format)
	return err
}

// put stores what takes the place of a version: under its number, with a beginning of its own.
func (r *redactor) put(c *chain, size int64, places [][2]int64, open func() io.Reader) error {
	extents, sum, err := hashes(open(), size)
	if err != nil {
		return err
	}
	v := c.Version
	v.Size, v.SHA256, v.Root = size, sum, extents[0].SHA256
	if name := pack.EntryName(v.Source, v.Path, v.Number, v.Root, 0); !r.names.add(name) {
		// Two machines have given one name to two originals.
		if err := r.seal(); err != nil {
			return err
		}
		r.names.add(name)
	}
	if err := r.begin(); err != nil {
		return err
	}
	content := open()
	at := len(r.manifest.Versions)
	v.Extents = extents
	r.manifest.Versions = append(r.manifest.Versions, v)
	for i, e := range extents {
		if err := r.extent(at, i, e, io.LimitReader(content, e.Size)); err != nil {
			return err
		}
	}
	if err := r.bury(c, &blob.Redaction{SHA256: sum, Root: v.Root, Places: places}); err != nil {
		return err
	}
	r.applied.Redacted++
	if r.raw += size; r.raw >= redactedPack {
		return r.seal()
	}
	return nil
}

// hashes cuts a stream into extents.
func hashes(r io.Reader, size int64) (extents []blob.Extent, sum blob.Ref, err error) {
	whole := sha256.New()
	for offset := int64(0); offset < size || offset == 0; {
		h := sha256.New()
		n, err := io.Copy(io.MultiWriter(whole, h), io.LimitReader(r, redactedExtent))
		if err == nil && n == 0 && size > 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, sum, err
		}
		extents = append(extents, blob.Extent{Offset: offset, Size: n, SHA256: blob.Ref(h.Sum(nil))})
		if offset += n; n == 0 {
			break
		}
	}
	return extents, blob.Ref(whole.Sum(nil)), nil
}

func (r *redactor) extent(version, i int, e blob.Extent, content io.Reader) error {
	v := &r.manifest.Versions[version]
	name := pack.EntryName(v.Source, v.Path, v.Number, v.Root, e.Offset)
	place := func(raw int64) { r.manifest.Versions[version].Extents[i].Raw = raw }
	if e.Size < int64(r.builder.MemberSize()) {
		data, err := io.ReadAll(content)
		if err != nil {
			return err
		}
		raw, err := r.builder.Small(name, data, v.ModTime, v.Mode)
		r.late = append(r.late, func(base int64) { place(base + raw) })
		if err == nil && r.builder.Full() {
			err = r.flush()
		}
		return err
	}
	large, err := r.builder.Large(name, e.Size, v.ModTime, v.Mode)
	if err != nil {
		return err
	}
	if _, err := io.Copy(large, content); err != nil {
		large.Abort()
		return err
	}
	raw := large.Raw()
	unit, err := large.Close()
	if err != nil {
		return err
	}
	base, err := r.writer.Append(unit)
	if err == nil {
		place(base + raw)
	}
	return err
}

// flush ends the shared member.
func (r *redactor) flush() error {
	unit := r.builder.Flush()
	if unit == nil {
		return nil
	}
	base, err := r.writer.Append(unit)
	if err != nil {
		return err
	}
	for _, place := range r.late {
		place(base)
	}
	r.late = nil
	return nil
}

// seal makes the pack durable.
func (r *redactor) seal() error {
	if r.writer == nil {
		return nil
	}
	if err := r.flush(); err != nil {
		return errors.Join(err, r.abort())
	}
	_, _, err := r.writer.Seal(r.ctx, r.manifest)
	r.writer, r.manifest, r.names, r.raw = nil, blob.Manifest{}, nameSet{}, 0
	return err
}

func (r *redactor) abort() error {
	if r.writer == nil {
		return nil
	}
	return r.writer.Abort()
}
