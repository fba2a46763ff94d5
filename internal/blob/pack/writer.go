package pack

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
)

// Writer writes one pack. Put collects extents in units of the Writer's own; Append adds units that Builders made. It is not
// safe for concurrent use. After any error but ErrNameTaken only Abort may be called.
type Writer struct {
	up           blob.Upload
	opts         Options
	id           string
	writer       string
	created      time.Time
	offset       int64
	raw          int64
	builder      *Builder
	members      []blob.Member
	entries      map[int64]Entry   // by Raw in the pack, without links
	links        map[string]string // entry name to target
	pendingLinks []link            // written last, after everything that they may link to
	contents     map[contentKey]*blob.Extent
	names        nameSet // of all entries
	err          error   // why nothing more can be written
}

type contentKey struct {
	content blob.Ref
	offset  int64
}

// link is a hard link that is not written yet.
type link struct {
	name  string
	of    *blob.Extent // target
	copy  *blob.Copy   // to be set to the place of the target
	mtime time.Time
	mode  uint32
}

// Begin begins a pack in a store. writer identifies the machine or writer (1 to 32 of a-z and 0-9), now is the time in the
// pack's name. The Writer must be ended by Seal or Abort.
func Begin(ctx context.Context, store blob.Store, writer string, now time.Time, opts Options) (*Writer, error) {
	id, err := packID(writer, now)
	if err != nil {
		return nil, fmt.Errorf("begin pack: %w", err)
	}
	up, err := store.Create(ctx)
	if err != nil {
		return nil, err
	}
	opts = opts.normal()
	return &Writer{
		up: up, opts: opts, id: id, writer: writer, created: now.UTC().Truncate(time.Microsecond), builder: NewBuilder(opts),
		entries: map[int64]Entry{}, links: map[string]string{}, contents: map[contentKey]*blob.Extent{},
	}, nil
}

// Full reports whether the pack is large enough to be sealed. records is how many versions and facts its manifest will have.
func (w *Writer) Full(records int) bool { return w.raw >= packRaw || records >= w.opts.MaxRecords }

// Put adds the extent e of v with its content, as Builder.Put does. e.Raw is valid after Flush. After ErrNameTaken the pack is
// unchanged, and nothing of the content was read.
func (w *Writer) Put(v *blob.Version, e *blob.Extent, content io.Reader) error {
	name := nameOf(v, e)
	if err := w.reserveNames([]Entry{{Name: name}}); err != nil {
		return err
	}
	w.recordContent(e)
	unit, err := w.builder.put(name, v, e, content)
	if err != nil {
		w.err = err
		return err
	}
	_, err = w.append(unit)
	return err
}

// FindContent returns an extent of this pack with the content of e, as a target for Link, or nil. A tail never matches the beginning of
// an original: gc merges an extent only if nothing else refers to it.
func (w *Writer) FindContent(e *blob.Extent) *blob.Extent {
	return w.contents[contentKey{e.SHA256, e.Offset}]
}

func (w *Writer) recordContent(e *blob.Extent) {
	if w.FindContent(e) == nil && e.Size > 0 { // an empty entry is no larger than a link
		w.contents[contentKey{e.SHA256, e.Offset}] = e
	}
}

// Link makes the extent e of v a hard link to another extent of this pack. After ErrNameTaken neither the pack nor the extents
// have changed.
func (w *Writer) Link(v *blob.Version, e, of *blob.Extent) error {
	name := nameOf(v, e)
	if err := w.reserveNames([]Entry{{Name: name}}); err != nil {
		return err
	}
	e.CopyOf = &blob.Copy{}
	w.pendingLinks = append(w.pendingLinks, link{name, of, e.CopyOf, v.ModTime, v.Mode})
	return nil
}

// Flush writes the shared unit, so that every extent that was put into the pack has its Raw.
func (w *Writer) Flush() error {
	_, err := w.append(w.builder.Flush())
	return err
}

// makeLinks writes the hard links, after everything that they may link to.
func (w *Writer) makeLinks() error {
	if err := w.Flush(); err != nil {
		return err
	}
	for i := range w.pendingLinks {
		l := &w.pendingLinks[i]
		of, ok := w.entries[l.of.Raw]
		if !ok {
			return fmt.Errorf("entry %q links to what is not in the pack", l.name)
		}
		l.copy.Raw = l.of.Raw
		if _, err := w.append(w.builder.link(l, of.Name)); err != nil {
			return err
		}
	}
	w.pendingLinks = nil
	return w.Flush()
}

// Append adds a unit to the pack, and returns where it begins in the tar stream: the content of an entry is at
// base + Entry.Raw. After ErrNameTaken neither the pack nor the unit has changed.
func (w *Writer) Append(unit *Unit) (base int64, err error) {
	if err := w.reserveNames(unit.Entries); err != nil {
		return 0, err
	}
	return w.append(unit)
}

// append writes a unit whose names are reserved. unit may be nil.
func (w *Writer) append(unit *Unit) (base int64, err error) {
	base = w.raw
	if unit == nil || w.err != nil {
		return base, w.err
	}
	for _, m := range unit.members {
		if err := w.write(m); err != nil {
			return 0, err
		}
	}
	for _, entry := range unit.Entries {
		entry.Raw += base
		if entry.extent != nil {
			entry.extent.Raw = entry.Raw
			w.recordContent(entry.extent)
		}
		if entry.Link != "" {
			w.links[entry.Name] = entry.Link
		} else {
			w.entries[entry.Raw] = entry
		}
	}
	unit.members = nil
	return base, nil
}

func (w *Writer) write(m stored) error {
	if _, err := w.up.Write(m.data); err != nil {
		w.err = fmt.Errorf("write pack %s: %w", w.id, err)
		return w.err
	}
	size := int64(len(m.data))
	w.members = append(w.members, blob.Member{Offset: w.offset, Size: size, Raw: w.raw, RawSize: m.raw, SHA256: m.sum})
	w.offset += size
	w.raw += m.raw
	return nil
}

// reserveNames reserves the names of entries, or none of them if tar could not extract one: a duplicate name, a file that is
// also a directory, a link without a target.
func (w *Writer) reserveNames(entries []Entry) error {
	if w.err != nil {
		return w.err
	}
	var dirs []string // new directories
	for i, entry := range entries {
		var err error
		ok := !strings.HasPrefix(entry.Name, manifestDir+"/")
		if ok {
			dirs, ok = w.names.add(entry.Name, dirs)
		}
		switch {
		case !ok:
			err = fmt.Errorf("entry %q: %w", entry.Name, ErrNameTaken)
		case entry.Link != "" && (entry.Link == entry.Name || !w.names.files[entry.Link]):
			delete(w.names.files, entry.Name)
			err = fmt.Errorf("entry %q links to %q, which does not come before it in the pack", entry.Name, entry.Link)
		}
		if err != nil {
			w.names.remove(entries[:i], dirs)
			return err
		}
	}
	return nil
}

// Abort discards the pack. After Seal, and on a nil Writer, it does nothing.
func (w *Writer) Abort() error {
	if w == nil {
		return nil
	}
	if w.err == nil {
		w.err = errors.New("the pack was aborted")
	}
	return w.up.Abort()
}

// Seal ends the pack: it writes the manifest with m's Versions, Facts and Replaces, and the trailer, and makes the
// pack durable under the name derived from both. It returns the manifest with all fields set, and the pack's
// name and size. If it fails, the pack is discarded, and nothing in it may be acknowledged.
func (w *Writer) Seal(ctx context.Context, m blob.Manifest) (blob.Manifest, blob.Info, error) {
	m, info, err := w.seal(ctx, m)
	if err != nil {
		return blob.Manifest{}, blob.Info{}, errors.Join(fmt.Errorf("seal pack %s: %w", w.id, err), w.Abort())
	}
	w.err = errors.New("the pack is sealed")
	return m, info, nil
}

func (w *Writer) seal(ctx context.Context, m blob.Manifest) (blob.Manifest, blob.Info, error) {
	if w.err != nil {
		return m, blob.Info{}, w.err
	}
	if len(m.Versions) == 0 && len(m.Facts) == 0 && len(m.Replaces) == 0 {
		return m, blob.Info{}, ErrEmpty
	}
	if err := w.makeLinks(); err != nil {
		return m, blob.Info{}, err
	}
	if err := w.checkVersions(m.Versions); err != nil {
		return m, blob.Info{}, err
	}
	m.Writer, m.Created, m.Members = w.writer, w.created, w.members
	nonce, err := w.nonce()
	if err != nil {
		return m, blob.Info{}, err
	}
	lines, err := encodeManifest(m, w.id, nonce)
	if err != nil {
		return m, blob.Info{}, err
	}
	tail, err := w.tail(lines)
	if err != nil {
		return m, blob.Info{}, err
	}
	if _, err := w.up.Write(tail); err != nil {
		return m, blob.Info{}, err
	}
	m.Pack = packName(w.id, check(tail))
	if err := w.up.Commit(ctx, m.Pack); err != nil {
		return m, blob.Info{}, err
	}
	return m, blob.Info{Name: m.Pack, Size: w.offset + int64(len(tail))}, nil
}

// nonce makes the name of the pack unique, even if the same bytes are packed twice at the same time.
func (w *Writer) nonce() (string, error) {
	source := w.opts.Rand
	if source == nil {
		source = rand.Reader
	}
	b := make([]byte, 8)
	if _, err := io.ReadFull(source, b); err != nil {
		return "", fmt.Errorf("draw a nonce: %w", err)
	}
	return hex.EncodeToString(b), nil
}

// tail returns the members of the manifest and the trailer.
func (w *Writer) tail(lines []byte) ([]byte, error) {
	entry, err := w.builder.begin(manifestName(w.id), int64(len(lines)), w.created, 0o600)
	if err != nil {
		return nil, err
	}
	if _, err := entry.Write(lines); err != nil {
		return nil, err
	}
	unit, err := entry.Close()
	if err != nil {
		return nil, err
	}
	var tail bytes.Buffer
	for _, m := range unit.members {
		tail.Write(m.data)
	}
	place := manifestLocation{offset: w.offset, size: int64(tail.Len()), raw: w.raw, sum: blob.RefOf(tail.Bytes())}
	tail.Write(place.trailer())
	return tail.Bytes(), nil
}

// checkVersions checks that the manifest matches the pack before both become immutable.
func (w *Writer) checkVersions(versions []blob.Version) error {
	for _, v := range versions {
		if v.Number < 1 {
			return fmt.Errorf("version %d of %s/%s: versions count from 1", v.Number, v.Source, v.Path)
		}
		for _, e := range v.Extents {
			if err := w.checkExtent(v, e); err != nil {
				return fmt.Errorf("version %d of %s/%s, extent at %d: %w", v.Number, v.Source, v.Path, e.Offset, err)
			}
		}
	}
	return nil
}

func (w *Writer) checkExtent(v blob.Version, e blob.Extent) error {
	name := nameOf(&v, &e)
	raw := e.Raw
	if e.CopyOf != nil {
		if e.CopyOf.Pack != "" {
			if !blob.ValidName(e.CopyOf.Pack) {
				return fmt.Errorf("a copy of something in %q, which is not a pack", e.CopyOf.Pack)
			}
			return nil
		}
		raw = e.CopyOf.Raw
	}
	entry, ok := w.entries[raw]
	switch {
	case !ok:
		return fmt.Errorf("no entry of the pack has its content at %d", raw)
	case entry.Size != e.Size:
		return fmt.Errorf("%d bytes, the entry has %d", e.Size, entry.Size)
	case e.CopyOf != nil && w.links[name] != entry.Name:
		return fmt.Errorf("no hard link %q to %q", name, entry.Name)
	case e.CopyOf == nil && name != entry.Name:
		return fmt.Errorf("the entry should be called %q, not %q", name, entry.Name)
	}
	return nil
}
