package pack

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Entry is one tar entry of a Unit.
type Entry struct {
	Name string
	Link string // name of the entry that this one is a hard link to; "" for content
	Raw  int64  // of the first byte of content, from the start of the unit
	Size int64
}

// Unit is what goes into a pack in one piece, and what gc moves or drops: a member of whole small entries, or
// the members of one large entry. Append takes it over.
type Unit struct {
	Entries []Entry
	members []stored
	raw     int64
}

// RawSize is how long the unit is in the tar stream, headers and padding included.
func (u *Unit) RawSize() int64 { return u.raw }

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
	window  []byte // of the large entry
	first   []byte // member of it, raw
	large   *LargeWriter
}

// NewBuilder returns a Builder.
func NewBuilder(opts Options) *Builder {
	opts = opts.normal()
	return &Builder{opts: opts, enc: encoder{level: opts.Level}, crowd: encoder{level: max(opts.Level, crowdLevel)}}
}

// MemberSize says from which size on an entry is Large.
func (b *Builder) MemberSize() int { return b.opts.MemberSize }

// Small adds a whole entry of less than MemberSize bytes to the unit that Flush ends, and returns where its
// content begins in that unit.
func (b *Builder) Small(name string, content []byte, mtime time.Time, mode uint32) (raw int64, err error) {
	if len(content) >= b.opts.MemberSize {
		return 0, fmt.Errorf("entry %q of %d bytes is not small: %w", name, len(content), ErrSize)
	}
	if err := checkEntry(name); err != nil {
		return 0, err
	}
	size := int64(len(content))
	b.small = newHeader(name, "", size, mtime, mode).append(b.small)
	raw = int64(len(b.small))
	b.small = appendPadding(append(b.small, content...), size)
	b.entries = append(b.entries, Entry{Name: name, Raw: raw, Size: size})
	return raw, nil
}

// Link adds a hard link to an entry that comes before it in the pack: for the same content under another name.
func (b *Builder) Link(name, target string, mtime time.Time, mode uint32) error {
	for _, name := range []string{name, target} {
		if err := checkEntry(name); err != nil {
			return err
		}
	}
	b.small = newHeader(name, target, 0, mtime, mode).append(b.small)
	b.entries = append(b.entries, Entry{Name: name, Link: target, Raw: int64(len(b.small))})
	return nil
}

// checkEntry refuses names that EntryName never makes and tar would misunderstand.
func checkEntry(name string) error {
	if name == "" || len(name) > 2*maxName || strings.HasSuffix(name, "/") || name[0] == '/' || strings.ContainsRune(name, 0) ||
		len(name) > maxUstar && !utf8.ValidString(name) {
		return fmt.Errorf("%q is no name of an entry", name)
	}
	return nil
}

// Full says that the unit of small entries is as large as a member should be: time to Flush.
func (b *Builder) Full() bool {
	size := b.opts.MemberSize
	if b.isCrowd() {
		size = size * 8 / 5 // 256 KiB: in less, small entries find less that repeats
	}
	return len(b.small) >= size
}

func (b *Builder) isCrowd() bool { return len(b.entries) >= crowded }

// Pending is how many raw bytes wait for Flush.
func (b *Builder) Pending() int { return len(b.small) }

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
	if b.isCrowd() {
		enc = &b.crowd
	}
	unit := &Unit{Entries: b.entries, members: []stored{enc.member(b.small)}, raw: int64(len(b.small))}
	b.small, b.entries = b.small[:0], nil
	return unit
}
