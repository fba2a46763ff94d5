package gc

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
)

// Replacer writes replacement versions into packs, with the facts that make them replace others.
type Replacer struct {
	gc    *GC
	ctx   context.Context // a replacer lives no longer than the call that created it
	clock time.Time       // new packs are younger than this

	writer   *pack.Writer // nil between packs
	manifest blob.Manifest
}

// NewReplacer returns a replacer with the packs, the writer id, the format and the clock of a GC.
func NewReplacer(ctx context.Context, g *GC) *Replacer { return &Replacer{gc: g, ctx: ctx} }

// After makes the packs that are written from now on younger than a time.
func (r *Replacer) After(t time.Time) { r.clock = t }

// AddFacts adds facts to the pack.
func (r *Replacer) AddFacts(facts ...blob.Fact) {
	r.manifest.Facts = append(r.manifest.Facts, facts...)
}

// Abort discards the pack that has not been sealed.
func (r *Replacer) Abort() error { return r.writer.Abort() }

func (r *Replacer) now() time.Time { return r.gc.Now().UTC().Truncate(time.Microsecond) }

// Begin starts a pack unless one is open.
func (r *Replacer) Begin() (err error) {
	if r.writer == nil {
		r.writer, err = r.gc.begin(r.ctx, &r.clock)
	}
	return err
}

// Store stores the replacement of a version, under its number but with a different first extent. The earlier states
// of v become those of the replacement.
func (r *Replacer) Store(v blob.Version, size int64, open func() io.Reader) (blob.Version, error) {
	first, err := firstCut(size, open)
	if err != nil {
		return v, err
	}
	earlier := &prefixHasher{states: slices.Clone(v.Earlier), hash: sha256.New()}
	extents, sum, err := HashExtents(io.TeeReader(open(), earlier), size, first)
	if err != nil {
		return v, err
	}
	if extents[0].SHA256 == v.Root {
		return v, fmt.Errorf("what takes the place of %d bytes begins as they do", v.Size) // the tombstone would cover it as well
	}
	v.Size, v.SHA256, v.Root, v.Earlier = size, sum, extents[0].SHA256, earlier.states
	v.Extents = extents
	return v, r.Put(&v, v.Extents, open())
}

// Put adds a version to the manifest and its extents to the pack, or to the next pack if two machines have used the
// same name for two originals.
func (r *Replacer) Put(v *blob.Version, extents []blob.Extent, content io.Reader) error {
	for i := range extents {
		e := &extents[i]
		err := r.extent(v, e, io.LimitReader(content, e.Size))
		if errors.Is(err, pack.ErrNameTaken) && i == 0 {
			if err = r.Seal(); err == nil {
				err = r.extent(v, e, io.LimitReader(content, e.Size))
			}
		}
		if err != nil {
			return err
		}
	}
	r.manifest.Versions = append(r.manifest.Versions, *v)
	return nil
}

func (r *Replacer) extent(v *blob.Version, e *blob.Extent, content io.Reader) error {
	if err := r.Begin(); err != nil {
		return err
	}
	of := r.writer.FindContent(e)
	if of == nil {
		return r.writer.Put(v, e, content)
	}
	if err := r.writer.Link(v, e, of); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, content)
	return err
}

// firstCut returns where the first extent ends. A chain is identified by the hash of its first extent, which must
// differ from those of all chains that this one replaces, even if the first megabytes are equal. So the cut depends
// on the whole content.
func firstCut(size int64, open func() io.Reader) (int64, error) {
	if size <= pack.ExtentSize {
		return pack.ExtentSize, nil
	}
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(open(), size)); err != nil {
		return 0, err
	}
	const half = pack.ExtentSize / 2
	return half + int64(binary.BigEndian.Uint32(h.Sum(nil))%half), nil
}

// SealFull seals the pack if it is full.
func (r *Replacer) SealFull() error {
	if r.writer.Full(max(len(r.manifest.Versions), len(r.manifest.Facts))) {
		return r.Seal()
	}
	return nil
}

// prefixHasher hashes what is written to it up to the sizes of some states, which are in ascending order.
type prefixHasher struct {
	states []blob.State
	next   int
	size   int64
	hash   hash.Hash
}

func (p *prefixHasher) Write(b []byte) (int, error) {
	from := 0
	for ; p.next < len(p.states) && p.states[p.next].Size <= p.size+int64(len(b)); p.next++ {
		to := int(p.states[p.next].Size - p.size)
		p.hash.Write(b[from:to])
		p.states[p.next].SHA256, from = blob.Ref(p.hash.Sum(nil)), to
	}
	p.hash.Write(b[from:])
	p.size += int64(len(b))
	return len(b), nil
}

// HashExtents divides a stream into extents, the first of which has first bytes.
func HashExtents(r io.Reader, size, first int64) (extents []blob.Extent, sum blob.Ref, err error) {
	whole := sha256.New()
	for offset := int64(0); offset < size || offset == 0; {
		h := sha256.New()
		n, err := io.Copy(io.MultiWriter(whole, h), io.LimitReader(r, first))
		first = pack.ExtentSize
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

// Seal makes the pack durable.
func (r *Replacer) Seal() error {
	if r.writer == nil {
		return nil
	}
	if err := r.gc.Index.EnsureNewer(r.ctx, r.manifest.Facts); err != nil {
		return errors.Join(err, r.writer.Abort())
	}
	_, _, err := r.writer.Seal(r.ctx, r.manifest)
	r.writer, r.manifest = nil, blob.Manifest{}
	return err
}
