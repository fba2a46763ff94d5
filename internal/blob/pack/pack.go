// Package pack implements the pack format: it writes units of tar entries as gzip members, the manifest and the
// trailer, reads any range of a pack by its member table, and finds damage. docs/pack-format.md describes
// the bytes; DESIGN.md gives the reasons.
//
// A pack is written extent by extent. This package decides whether an extent shares a member or has members of its own, and
// where it lies: it sets Raw, and the target of a copy, in the extents of the versions that go into the manifest.
//
//	w, err := pack.Begin(ctx, store, writerID, now, opts)
//	if of := w.FindContent(extent); of != nil {
//		err = w.Link(version, extent, of)
//	} else {
//		err = w.Put(version, extent, content)
//	}
//	manifest, info, err := w.Seal(ctx, blob.Manifest{Versions: versions, Facts: facts})
//
// To compress on several goroutines, give each a Builder that makes Units. The goroutine that owns the Writer appends them, in
// any order.
//
// Reading needs no state except the lines of the manifest: View reads ranges of the tar stream and inflates only the
// members that they touch. A ContentIndex finds contents across many packs.
//
// The package promises that any tar and gzip read every pack without a warning, that equal input makes equal bytes (except
// for the manifest's nonce), and that what it returns is what was written: damaged bytes are blob.ErrCorrupt.
package pack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/txarchive/txarchive/internal/blob"
)

const (
	// DefaultLevel is the gzip level. Members of many small entries have level 7.
	DefaultLevel = 6
	// DefaultMemberSize is how many bytes of the tar stream a member holds; members of many small entries hold more.
	DefaultMemberSize = 160 << 10

	// ExtentSize is the most bytes of an original that one extent holds when it is first stored, so that neither a pack nor
	// the memory that an extent needs grows with the original.
	ExtentSize = 16 << 20

	// packRaw and packRecords are roughly how much a pack holds: raw bytes, and versions and facts. The index commits a pack
	// in one transaction.
	packRaw     = 48 << 20
	packRecords = 16 << 10

	minMemberSize = 8 << 10 // any header fits, even one with PAX records for the longest names
	maxMemberSize = 8 << 20
	// maxMemberRaw bounds what a reader inflates at once, whatever a pack says.
	maxMemberRaw = 32 << 20
)

// The errors of this package, besides those of blob.
var (
	// ErrEmpty is returned by Seal for a pack without versions, facts and replaced packs.
	ErrEmpty = errors.New("nothing to write to the pack")
	// ErrNameTaken says that a unit cannot be added to this pack, because tar could not extract both: the pack has
	// an entry of that name, or a file where a directory is needed. The unit goes into the next pack.
	ErrNameTaken = errors.New("the pack already has an entry of that name")
	// ErrSize says that an entry got more or fewer bytes than announced.
	ErrSize = errors.New("not the announced size")
)

// Options say how packs are written. The zero value has the defaults.
type Options struct {
	Level      int       // gzip level, 1 to 9, at least crowdLevel for many small entries; 0 is DefaultLevel
	MemberSize int       // raw bytes per member, 8 KiB to 8 MiB; 0 is DefaultMemberSize
	MaxRecords int       // number of versions and facts at which a pack is full; 0 is 16,384
	Rand       io.Reader // source of the manifest's nonce; nil is crypto/rand
}

// Member returns the raw size of a member. An extent of at least that size becomes a unit of its own.
func (o Options) Member() int64 { return int64(o.normal().MemberSize) }

func (o Options) normal() Options {
	if o.Level == 0 {
		o.Level = DefaultLevel
	}
	if o.MemberSize == 0 {
		o.MemberSize = DefaultMemberSize
	}
	if o.MaxRecords == 0 {
		o.MaxRecords = packRecords
	}
	o.Level = min(max(o.Level, 1), 9)
	o.MemberSize = min(max(o.MemberSize, minMemberSize), maxMemberSize)
	return o
}

// CorruptError says what is wrong at an offset of a pack file. It is a blob.ErrCorrupt.
type CorruptError struct {
	Pack   string // "" when its name is not known
	Offset int64
	What   string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("pack %s: at %d: %s: %v", cmp.Or(e.Pack, "(unnamed)"), e.Offset, e.What, blob.ErrCorrupt)
}

func (e *CorruptError) Unwrap() error { return blob.ErrCorrupt }

func corrupt(pack string, offset int64, format string, args ...any) error {
	return &CorruptError{pack, offset, fmt.Sprintf(format, args...)}
}

// readAt fills buf from a pack. A pack that ends too early is corrupt; errors of the store are passed on.
func readAt(ctx context.Context, name string, p blob.Pack, buf []byte, offset int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if offset < 0 || offset > p.Size()-int64(len(buf)) {
		return corrupt(name, offset, "%d bytes wanted, the pack ends at %d", len(buf), p.Size())
	}
	n, err := p.ReadAt(buf, offset)
	switch {
	case n == len(buf):
		return nil
	case err == nil, errors.Is(err, io.EOF):
		return corrupt(name, offset, "the pack ends too early")
	}
	return fmt.Errorf("read pack %s at %d: %w", name, offset, err)
}
