package pack

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/blob"
)

// The trailer is a member like others, with a second subfield "TM" that locates the manifest.
const (
	trailerMagic = "\x1f\x8b\x08\x04\x00\x00\x00\x00\x00\xff\x48\x00TX\x08\x00"
	trailerField = "TM\x38\x00" // then offset, size and raw offset of 8 bytes each, and a SHA-256
	// The content of the member: the 1024 zeros that end a tar archive, deflated, their CRC-32 and length.
	trailerBody = "\x63\x60\x18\x05\xa3\x60\x14\x8c\x54\x00\x00" + "\x2e\xaf\xb5\xef" + "\x00\x04\x00\x00"
	trailerRaw  = 1024
	trailerSize = len(trailerMagic) + 8 + len(trailerField) + 24 + sha256.Size + len(trailerBody)
)

// manifestLocation locates the manifest of a pack, as the trailer states it.
type manifestLocation struct {
	offset int64    // in the pack file
	size   int64    // of its members, as stored
	raw    int64    // of its tar header in the tar stream
	sum    blob.Ref // of its members, as stored
}

func (p manifestLocation) trailer() []byte {
	b := make([]byte, 0, trailerSize)
	b = append(b, trailerMagic...)
	b = binary.LittleEndian.AppendUint32(b, uint32(trailerSize))
	b = binary.LittleEndian.AppendUint32(b, trailerRaw)
	b = append(b, trailerField...)
	b = binary.LittleEndian.AppendUint64(b, uint64(p.offset))
	b = binary.LittleEndian.AppendUint64(b, uint64(p.size))
	b = binary.LittleEndian.AppendUint64(b, uint64(p.raw))
	b = append(b, p.sum[:]...)
	return append(b, trailerBody...)
}

// parseTrailer parses a trailer. It accepts only what trailer writes: every byte is either fixed or part of a field.
func parseTrailer(b []byte) (p manifestLocation, ok bool) {
	if len(b) != trailerSize {
		return manifestLocation{}, false
	}
	fields := b[len(trailerMagic)+8+len(trailerField):]
	p.offset = int64(binary.LittleEndian.Uint64(fields))
	p.size = int64(binary.LittleEndian.Uint64(fields[8:]))
	p.raw = int64(binary.LittleEndian.Uint64(fields[16:]))
	copy(p.sum[:], fields[24:])
	return p, bytes.Equal(p.trailer(), b)
}

// check returns the last part of a pack's name. tail is the manifest's members and the trailer.
func check(tail []byte) string {
	sum := sha256.Sum256(tail)
	return hex.EncodeToString(sum[:])[:checkDigits]
}

// Reader is a pack whose manifest has been read.
type Reader struct {
	pack     blob.Pack
	manifest blob.Manifest
	summary  summary
	location manifestLocation
}

// Filter reports whether a version is wanted.
type Filter func(*blob.Version) bool

// Open reads the trailer and the manifest of a pack, and nothing else. If name is not "", it also checks that the pack
// is the one of that name, and returns ErrCorrupt otherwise. The Reader does not close p.
func Open(ctx context.Context, p blob.Pack, name string) (*Reader, error) {
	return OpenFiltered(ctx, p, name, nil)
}

// OpenFiltered is like Open, but the manifest has only the versions that keep accepts.
func OpenFiltered(ctx context.Context, p blob.Pack, name string, keep Filter) (*Reader, error) {
	return open(ctx, p, name, selection{keep: keep})
}

// OpenOriginals is like Open, but reads only the versions of originals that wanted accepts: the manifest has no facts, and
// Stored and Names return nothing. It exists for code that processes all originals span by span and so reads each manifest many
// times: a line that is not wanted takes a tenth of the time.
func OpenOriginals(ctx context.Context, p blob.Pack, name string, wanted func(blob.Name) bool) (*Reader, error) {
	return open(ctx, p, name, selection{originals: wanted})
}

// Opener is the part of a blob.Store that opens packs.
type Opener interface {
	Open(ctx context.Context, name string) (blob.Pack, error)
}

// Read opens a pack of a store, reads its manifest as OpenFiltered does, and closes it.
func Read(ctx context.Context, store Opener, name string, keep Filter) (*Reader, error) {
	return read(ctx, store, name, selection{keep: keep})
}

// ReadOriginals opens a pack of a store, reads its manifest as OpenOriginals does, and closes it.
func ReadOriginals(ctx context.Context, store Opener, name string, wanted func(blob.Name) bool) (*Reader, error) {
	return read(ctx, store, name, selection{originals: wanted})
}

func read(ctx context.Context, store Opener, name string, wanted selection) (*Reader, error) {
	p, err := store.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	r, err := open(ctx, p, name, wanted)
	return r, errors.Join(err, p.Close())
}

func open(ctx context.Context, p blob.Pack, name string, wanted selection) (*Reader, error) {
	at := p.Size() - int64(trailerSize)
	if at < 0 {
		return nil, corrupt(name, 0, "%d bytes are too few for a pack", p.Size())
	}
	trailer := make([]byte, trailerSize)
	if err := readAt(ctx, name, p, trailer, at); err != nil {
		return nil, err
	}
	where, ok := parseTrailer(trailer)
	if !ok {
		return nil, corrupt(name, at, "no trailer")
	}
	if where.size <= 0 || where.offset != at-where.size {
		return nil, corrupt(name, at, "the trailer says that the manifest ends at %d", where.offset+where.size)
	}
	r, err := openManifest(ctx, p, name, where, wanted)
	if err != nil {
		return nil, err
	}
	if name != "" && name != r.manifest.Pack {
		return nil, corrupt(name, where.offset, "manifest and trailer belong to %s", r.manifest.Pack)
	}
	return r, r.checkMembers(name)
}

// openManifest reads the manifest at where, which its trailer follows.
func openManifest(ctx context.Context, p blob.Pack, name string, where manifestLocation, wanted selection) (*Reader, error) {
	// p.Size bounds the allocation, whatever the trailer says.
	if where.offset < 0 || where.size <= 0 || where.size > p.Size() {
		return nil, corrupt(name, where.offset, "no room for a manifest")
	}
	tail := make([]byte, where.size, where.size+int64(trailerSize))
	if err := readAt(ctx, name, p, tail, where.offset); err != nil {
		return nil, err
	}
	if blob.RefOf(tail) != where.sum {
		return nil, corrupt(name, where.offset, "the manifest is damaged")
	}
	lines, id, wrong := manifestLines(tail)
	if wrong != "" {
		return nil, corrupt(name, where.offset, "%s", wrong)
	}
	m, summary, stated, err := decodeManifest(lines, wanted)
	if errors.Is(err, blob.ErrTooNew) {
		return nil, fmt.Errorf("pack %s: %w", packName(id, check(append(tail, where.trailer()...))), err)
	}
	if err != nil || stated != id {
		return nil, corrupt(name, where.offset, "the manifest of %s: %v", id, err)
	}
	summary.stored = slices.Clone(summary.stored) // without spare capacity: callers keep it for every pack
	m.Pack = packName(id, check(append(tail, where.trailer()...)))
	return &Reader{pack: p, manifest: m, summary: summary, location: where}, nil
}

// manifestLines inflates the members of a manifest. It returns the content and the pack id in the name of its tar entry.
func manifestLines(tail []byte) (lines []byte, id, wrong string) {
	raw := make([]byte, 0, rawLength(tail))
	for len(tail) > 0 {
		size, _, ok := parseMember(tail)
		if !ok || size > int64(len(tail)) {
			return nil, "", "the manifest has a bad member"
		}
		data, wrong := inflate(tail[:size])
		if wrong != "" {
			return nil, "", "the manifest has a bad member: " + wrong
		}
		raw, tail = append(raw, data...), tail[size:]
	}
	h, size, ok := parseHeader(raw)
	if !ok || int64(len(raw)) != int64(size)+h.size+padding(h.size) {
		return nil, "", "the manifest is not a tar entry"
	}
	id, ok = strings.CutPrefix(h.name, manifestDir+"/")
	id, ok2 := strings.CutSuffix(id, ".ndjson")
	if !ok || !ok2 || !validID(id) {
		return nil, "", "the last entry is not a manifest"
	}
	return raw[size : int64(size)+h.size], id, ""
}

// rawLength returns the length to which the members of a manifest inflate, as their headers state it.
func rawLength(tail []byte) (n int64) {
	for {
		size, raw, ok := parseMember(tail)
		if !ok || size > int64(len(tail)) {
			return n
		}
		n, tail = n+raw, tail[size:]
	}
}

// checkMembers checks that the members are contiguous from the start of the pack to the manifest.
func (r *Reader) checkMembers(name string) error {
	offset, raw := int64(0), int64(0)
	for _, m := range r.manifest.Members {
		if m.Offset != offset || m.Raw != raw || !plausible(m.Size, m.RawSize) {
			return corrupt(name, offset, "the manifest has a member at %d", m.Offset)
		}
		offset, raw = offset+m.Size, raw+m.RawSize
	}
	if offset != r.location.offset || raw != r.location.raw {
		return corrupt(name, offset, "the members end here, the manifest begins at %d", r.location.offset)
	}
	return nil
}

// Manifest returns the manifest, with the pack's name. The caller must not change what it points to.
func (r *Reader) Manifest() blob.Manifest { return r.manifest }

// Stored returns the contents that the pack holds, of all versions.
func (r *Reader) Stored() Contents {
	r.summary.stored = contentsOf(r.summary.stored)
	return r.summary.stored
}

// Names returns the first and the last name, in order, of all originals with versions in the manifest.
func (r *Reader) Names() (first, last blob.Name) { return r.summary.first, r.summary.last }
