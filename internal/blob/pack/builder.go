package pack

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/txarchive/txarchive/internal/blob"
)

// Entry is one tar entry of a Unit.
type Entry struct {
	Name string
	Link string // name of the entry that this one is a hard link to; "" for content
	Raw  int64  // of the first byte of content, from the start of the unit
	Size int64

	extent *blob.Extent // that it holds, to be filled in with its place; nil in a unit that CopyUnit read
}

// Unit is what goes into a pack in one piece, and what gc moves or drops: a member of whole small entries, or
// the members of one large entry. Append takes it over.
type Unit struct {
	Entries []Entry
	members []stored
	raw     int64
}

// StoredSize is how many bytes the unit takes in the pack, and in memory until then.
func (u *Unit) StoredSize() int64 {
	size := int64(0)
	for _, m := range u.members {
		size += int64(len(m.data))
	}
	return size
}

// Builder makes units. It belongs to one goroutine and may be used for any number of packs.
type Builder struct {
	opts    Options
	enc     encoder
	crowd   encoder // of units with many entries
	small   []byte  // raw bytes of the small entries since the last Flush
	entries []Entry
	names   nameSet // of entries, as far as others than a Writer put them
	window  []byte  // of the large entry
	first   []byte  // member of it, raw
	large   *LargeWriter
}

// NewBuilder returns a Builder.
func NewBuilder(opts Options) *Builder {
	opts = opts.normal()
	return &Builder{opts: opts, enc: encoder{level: opts.Level}, crowd: encoder{level: max(opts.Level, crowdLevel)}}
}

// Put adds the extent e of v, with its content: one of less than a member to the unit that is shared, a larger one as a unit of its
// own. It returns the unit that is complete by that, or nil. Where a Writer puts the unit it sets e.Raw, so e stays where it is.
// Less content than e.Size is ErrSize, of more the rest is not read; after an error, e is not in any unit. ErrNameTaken says that the
// shared unit cannot have it: Flush, and put it again.
func (b *Builder) Put(v *blob.Version, e *blob.Extent, content io.Reader) (*Unit, error) {
	name := nameOf(v, e)
	if e.Size >= int64(b.opts.MemberSize) {
		return b.put(name, v, e, content)
	}
	dirs, ok := b.names.add(name, nil)
	if !ok {
		return nil, fmt.Errorf("entry %q: %w", name, ErrNameTaken)
	}
	unit, err := b.put(name, v, e, content)
	if err != nil {
		b.names.remove([]Entry{{Name: name}}, dirs)
	}
	return unit, err
}

func (b *Builder) put(name string, v *blob.Version, e *blob.Extent, content io.Reader) (*Unit, error) {
	if e.Size >= int64(b.opts.MemberSize) {
		w, err := b.begin(name, e.Size, v.ModTime, v.Mode)
		if err != nil {
			return nil, err
		}
		w.extent = e
		if _, err := io.Copy(w, io.LimitReader(content, e.Size)); err != nil {
			w.Abort()
			return nil, err
		}
		return w.Close()
	}
	before := len(b.small)
	b.small = newHeader(name, "", e.Size, v.ModTime, v.Mode).append(b.small)
	raw := len(b.small)
	b.small = slices.Grow(b.small, int(e.Size))[:raw+int(e.Size)]
	if _, err := io.ReadFull(content, b.small[raw:]); err != nil {
		b.small = b.small[:before]
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = fmt.Errorf("entry %q lacks bytes of %d: %w", name, e.Size, ErrSize)
		}
		return nil, err
	}
	b.small = appendPadding(b.small, e.Size)
	b.entries = append(b.entries, Entry{Name: name, Raw: int64(raw), Size: e.Size, extent: e})
	if b.full() {
		return b.Flush(), nil
	}
	return nil, nil
}

// link adds a hard link to an entry that comes before it in the pack.
func (b *Builder) link(l *link, target string) *Unit {
	b.small = newHeader(l.name, target, 0, l.mtime, l.mode).append(b.small)
	b.entries = append(b.entries, Entry{Name: l.name, Link: target, Raw: int64(len(b.small))})
	if b.full() {
		return b.Flush()
	}
	return nil
}

// full says that the unit of small entries is as large as a member should be.
func (b *Builder) full() bool {
	size := b.opts.MemberSize
	if b.isCrowded() {
		size = size * 8 / 5 // 256 KiB: in less, small entries find less that repeats
	}
	return len(b.small) >= size
}

func (b *Builder) isCrowded() bool { return len(b.entries) >= crowded }

// A unit of at least so many entries, 10 KiB each, is compressed at a higher level: its headers and manifest lines are a tenth of it, and
// all else that is done for an entry takes ten times as long. It is 3 % smaller for 4 % more CPU of a load of such.
const (
	crowded    = 16
	crowdLevel = 7
)

// Flush compresses the small entries into a unit. It returns nil when there are none.
func (b *Builder) Flush() *Unit {
	if len(b.small) == 0 {
		return nil
	}
	enc := &b.enc
	if b.isCrowded() {
		enc = &b.crowd
	}
	unit := &Unit{Entries: b.entries, members: []stored{enc.member(b.small)}, raw: int64(len(b.small))}
	b.small, b.entries = b.small[:0], nil
	b.names.clear()
	return unit
}
