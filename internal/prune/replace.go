package prune

import (
	"cmp"
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

const (
	redactedExtent = 16 << 20 // as an ingest cuts large files
	redactedPack   = 48 << 20 // raw bytes, roughly
	// redactedTold is of how many versions a pack tells, about as many as one of an ingest: the index takes it in all at once.
	redactedTold = 16 << 10
)

// replacer writes versions with marks into packs, with the facts that put them in the place of others.
type replacer struct {
	gc    *GC
	ctx   context.Context // a replacer lives as long as the call that made it
	clock time.Time       // the packs become younger than this

	writer   *pack.Writer
	builder  *pack.Builder
	manifest blob.Manifest
	names    pack.Names
	late     []func(base int64)
	same     map[blob.Ref]int // versions of the manifest, by content
	copies   [][3]int         // version, the one where it lies, and which extent of both
	raw      int64

	standing graveSet
}

func (r *replacer) now() time.Time { return r.gc.Now().UTC().Truncate(time.Microsecond) }

func (r *replacer) begin() error {
	if r.writer != nil {
		return nil
	}
	g := r.gc
	up, err := g.Packs.Create(r.ctx)
	if err != nil {
		return err
	}
	now := g.Now()
	if !now.After(r.clock) {
		now = r.clock.Add(time.Microsecond)
	}
	r.clock = now
	r.builder = pack.NewBuilder(g.Format)
	r.writer, err = pack.NewWriter(up, g.Writer, now, g.Format)
	return err
}

// store stores what takes the place of a version: under its number, with a beginning of its own. Earlier states of the
// version become those of what takes its place.
func (r *replacer) store(v blob.Version, size int64, open func() io.Reader) (blob.Version, error) {
	first, err := firstCut(size, open)
	if err != nil {
		return v, err
	}
	earlier := &prefixes{states: slices.Clone(v.Earlier), hash: sha256.New()}
	extents, sum, err := hashes(io.TeeReader(open(), earlier), size, first)
	if err != nil {
		return v, err
	}
	if extents[0].SHA256 == v.Root {
		return v, fmt.Errorf("what takes the place of %d bytes begins as they do", v.Size) // the tombstone would lie on it as well
	}
	v.Size, v.SHA256, v.Root, v.Earlier = size, sum, extents[0].SHA256, earlier.states
	if name := pack.EntryName(v.Source, v.Path, v.Number, v.Root, 0); !r.names.Add(name) {
		// Two machines have given one name to two originals.
		if err := r.seal(); err != nil {
			return v, err
		}
		r.names.Add(name)
	}
	if err := r.begin(); err != nil {
		return v, err
	}
	at := len(r.manifest.Versions)
	v.Extents = extents
	r.manifest.Versions = append(r.manifest.Versions, v)
	if first, ok := r.same[sum]; ok && size > 0 {
		return v, r.link(at, first)
	}
	if r.same == nil {
		r.same = map[blob.Ref]int{}
	}
	r.same[sum] = at
	content := open()
	for i, e := range extents {
		if err := r.extent(at, i, e, io.LimitReader(content, e.Size)); err != nil {
			return v, err
		}
	}
	r.raw += size
	return v, nil
}

// firstCut is where the first extent ends. A chain is known by the hash of that, so it must differ from those of all that
// this takes the place of, also where the first megabytes are the same: where it is cut follows from the whole content.
func firstCut(size int64, open func() io.Reader) (int64, error) {
	if size <= redactedExtent {
		return redactedExtent, nil
	}
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(open(), size)); err != nil {
		return 0, err
	}
	const half = redactedExtent / 2
	return half + int64(binary.BigEndian.Uint32(h.Sum(nil))%half), nil
}

// link has a version lie where another one of the pack does, which has the same content.
func (r *replacer) link(version, first int) error {
	v, f := &r.manifest.Versions[version], &r.manifest.Versions[first]
	for i := range v.Extents {
		e := &v.Extents[i]
		if err := r.builder.Link(pack.EntryName(v.Source, v.Path, v.Number, v.Root, e.Offset), pack.EntryName(f.Source, f.Path, f.Number, f.Root, e.Offset),
			v.ModTime, v.Mode); err != nil {
			return err
		}
		r.copies = append(r.copies, [3]int{version, first, i})
	}
	return nil
}

// sealFull seals a pack that has as much as one should.
func (r *replacer) sealFull() error {
	if r.raw >= redactedPack || max(len(r.manifest.Versions), len(r.manifest.Facts)) >= cmp.Or(r.gc.replacedTold, redactedTold) {
		return r.seal()
	}
	return nil
}

// prefixes hashes what is written to it up to the size of each of some states, which are in order.
type prefixes struct {
	states []blob.State
	next   int
	size   int64
	hash   hash.Hash
}

func (p *prefixes) Write(b []byte) (int, error) {
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

// hashes cuts a stream into extents, of which the first has so many bytes.
func hashes(r io.Reader, size, first int64) (extents []blob.Extent, sum blob.Ref, err error) {
	whole := sha256.New()
	for offset := int64(0); offset < size || offset == 0; {
		h := sha256.New()
		n, err := io.Copy(io.MultiWriter(whole, h), io.LimitReader(r, first))
		first = redactedExtent
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

func (r *replacer) extent(version, i int, e blob.Extent, content io.Reader) error {
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
	unit, err := r.builder.LargeUnit(name, e.Size, v.ModTime, v.Mode, content)
	if err != nil {
		return err
	}
	base, err := r.writer.Append(unit)
	if err == nil {
		place(base + unit.Entries[0].Raw)
	}
	return err
}

// flush ends the shared member.
func (r *replacer) flush() error {
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
func (r *replacer) seal() error {
	if r.writer == nil {
		return nil
	}
	if err := r.flush(); err != nil {
		return errors.Join(err, r.abort())
	}
	all := r.manifest.Versions
	for _, c := range r.copies {
		all[c[0]].Extents[c[2]].CopyOf = &blob.Copy{Raw: all[c[1]].Extents[c[2]].Raw}
	}
	if err := r.gc.Index.Date(r.ctx, r.manifest.Facts); err != nil {
		return errors.Join(err, r.abort())
	}
	_, _, err := r.writer.Seal(r.ctx, r.manifest)
	r.writer, r.manifest, r.names, r.same, r.copies, r.raw = nil, blob.Manifest{}, pack.Names{}, nil, nil, 0
	return err
}

func (r *replacer) abort() error {
	if r.writer == nil {
		return nil
	}
	return r.writer.Abort()
}
