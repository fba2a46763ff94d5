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

	extent *blob.Extent // extent that the entry holds, whose Raw is to be set; nil in a unit that CopyUnit read
}

// Unit is written to a pack in one piece, and is what gc moves or drops: one member with whole small entries, or
// the members of one large entry. Append takes ownership of it.
type Unit struct {
	Entries []Entry
	members []stored
	raw     int64
}

// StoredSize returns how many bytes the unit takes in the pack, and in memory until it is appended.
func (u *Unit) StoredSize() int64 {
	size := int64(0)
	for _, m := range u.members {
		size += int64(len(m.data))
	}
	return size
}

// Builder makes units. It is not safe for concurrent use, and may be used for any number of packs.
type Builder struct {
	opts    Options
	enc     encoder
	crowd   encoder // for units of many entries
	small   []byte  // raw bytes of the small entries since the last Flush
	entries []Entry
	names   nameSet // of entries that Put added; a Writer checks the names of its own
	window  []byte  // raw bytes of the large entry that are not in a member yet
	first   []byte  // buffer for the first member of the large entry, raw
	large   *LargeWriter
}

// NewBuilder returns a Builder.
func NewBuilder(opts Options) *Builder {
	opts = opts.normal()
	return &Builder{opts: opts, enc: encoder{level: opts.Level}, crowd: encoder{level: max(opts.Level, crowdLevel)}}
}

// Put adds the extent e of v, with its content: an extent smaller than a member to the shared unit, a larger one as a unit of its
// own. It returns the unit that this completes, or nil. Writer.Append sets e.Raw, so e must not move until then.
// If content is shorter than e.Size, Put returns ErrSize; if it is longer, the rest is not read. After an error, e is in no unit.
// After ErrNameTaken, Flush the shared unit and put the extent again.
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

// link adds a hard link to an entry that precedes it in the pack.
func (b *Builder) link(l *link, target string) *Unit {
	b.small = newHeader(l.name, target, 0, l.mtime, l.mode).append(b.small)
	b.entries = append(b.entries, Entry{Name: l.name, Link: target, Raw: int64(len(b.small))})
	if b.full() {
		return b.Flush()
	}
	return nil
}

// full reports whether the shared unit is as large as a member should be.
func (b *Builder) full() bool {
	size := b.opts.MemberSize
	if b.isCrowded() {
		size = size * 8 / 5 // 256 KiB by default: small entries compress worse in less
	}
	return len(b.small) >= size
}

func (b *Builder) isCrowded() bool { return len(b.entries) >= crowded }

// A unit of at least this many entries (10 KiB each) is compressed at a higher level: a tenth of its size is headers and manifest
// lines, and everything else that is done for an entry takes ten times as long. It is 3 % smaller, and ingesting such entries takes
// 4 % more CPU.
const (
	crowded    = 16
	crowdLevel = 7
)

// Flush completes the shared unit and returns it, compressed. It returns nil if there are no small entries.
func (b *Builder) Flush() *Unit {
	if len(b.small) == 0 {
		return nil
	}
	enc := b.enc
	if b.isCrowded() {
		enc = b.crowd
	}
	unit := &Unit{Entries: b.entries, members: []stored{enc.member(b.small)}, raw: int64(len(b.small))}
	b.small, b.entries = b.small[:0], nil
	b.names.clear()
	return unit
}
