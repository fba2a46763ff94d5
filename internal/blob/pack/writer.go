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

// Writer puts extents into one pack: what it is given by Put it gathers in units, others make units that it appends. It belongs to one
// goroutine. After an error that is not ErrNameTaken only Abort is left.
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
	entries      map[int64]Entry   // by Raw in the pack, links left out
	links        map[string]string // entry name to target
	pendingLinks []link            // written last, behind all that they may link to
	holds        map[contentKey]*blob.Extent
	names        nameSet // of all entries
	err          error   // why nothing more can be written
}

type contentKey struct {
	content blob.Ref
	offset  int64
}

// link is a hard link in the making.
type link struct {
	name  string
	of    *blob.Extent
	copy  *blob.Copy // to be filled in with the place of of
	mtime time.Time
	mode  uint32
}

// Begin begins a pack in a store. writer names the machine or writer (1 to 32 of a-z and 0-9), now is the time in the pack's name. The
// Writer must be ended by Seal or Abort.
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
		entries: map[int64]Entry{}, links: map[string]string{}, holds: map[contentKey]*blob.Extent{},
	}, nil
}

// Full says whether the pack is large enough to be sealed. records is how many versions and facts its manifest will have.
func (w *Writer) Full(records int) bool { return w.raw >= packRaw || records >= w.opts.MaxRecords }

// Put adds the extent e of v with its content, as Builder.Put does. e.Raw is right from Flush on. After ErrNameTaken the pack is as it
// was, and nothing of the content was read.
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

// Holds returns what the pack has of the content of e, to Link e to; nil when it has none. Tails are not the same as beginnings of
// originals, for gc joins only what nobody else needs.
func (w *Writer) Holds(e *blob.Extent) *blob.Extent { return w.holds[contentKey{e.SHA256, e.Offset}] }

func (w *Writer) recordContent(e *blob.Extent) {
	if w.Holds(e) == nil && e.Size > 0 { // an entry of no bytes costs no more than a link
		w.holds[contentKey{e.SHA256, e.Offset}] = e
	}
}

// Link makes the extent e of v a hard link to one that was put into this pack or came in a unit that was. After ErrNameTaken neither
// has changed.
func (w *Writer) Link(v *blob.Version, e, of *blob.Extent) error {
	name := nameOf(v, e)
	if err := w.reserveNames([]Entry{{Name: name}}); err != nil {
		return err
	}
	e.CopyOf = &blob.Copy{}
	w.pendingLinks = append(w.pendingLinks, link{name, of, e.CopyOf, v.ModTime, v.Mode})
	return nil
}

// Flush ends the shared unit: all that was put into the pack has its place.
func (w *Writer) Flush() error {
	_, err := w.append(w.builder.Flush())
	return err
}

// makeLinks writes the hard links, behind all that they may link to.
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

// Append puts a unit into the pack, and returns where it begins in the tar stream: the content of its entries is at
// base + Entry.Raw. After ErrNameTaken neither the pack nor the unit has changed.
func (w *Writer) Append(unit *Unit) (base int64, err error) {
	if err := w.reserveNames(unit.Entries); err != nil {
		return 0, err
	}
	return w.append(unit)
}

// append writes a unit of which the pack has the names. There may be none.
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

// reserveNames takes the names of entries, and refuses all of them where tar could not extract one: a name twice, a file that is a
// directory too, a link to nothing.
func (w *Writer) reserveNames(entries []Entry) error {
	if w.err != nil {
		return w.err
	}
	var dirs []string // that were not there
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

// Abort drops the pack. After Seal, and where there is none, it does nothing.
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
// pack durable under the name that follows from both. It returns the manifest with all its fields, and the pack's
// name and size. When it fails, the pack is dropped, and nothing of it may be acknowledged.
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

// nonce makes the name of the pack differ from all others, also when the same bytes are packed twice at one time.
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

// checkVersions sees to it that the manifest says of the pack what is so, before it becomes immutable.
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
				return fmt.Errorf("a copy of something in %q, which is no pack", e.CopyOf.Pack)
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
