// Package blob says where the original bytes of the archive are kept: what a blob is, how its bytes lie in
// packs, what a manifest tells of them, and the contract of a place that holds packs.
//
// It does not know what the bytes mean. Packs are immutable, named without coordination, and whole or absent.
package blob

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"math"
	"strings"
	"time"
)

// The errors of this package and of every Store.
var (
	ErrNotFound = errors.New("not found")
	ErrExists   = errors.New("exists already")
	ErrCorrupt  = errors.New("corrupt")
	ErrTooNew   = errors.New("pack format is newer than this program") // a later txarchive wrote the pack
)

// Ref is the SHA-256 of raw content.
type Ref [sha256.Size]byte

// RefOf returns the Ref of b.
func RefOf(b []byte) Ref { return sha256.Sum256(b) }

func (r Ref) String() string { return hex.EncodeToString(r[:]) }

// Short returns the first 8 hex digits, as used in entry names.
func (r Ref) Short() string { return hex.EncodeToString(r[:4]) }

// MarshalText writes r as hex.
func (r Ref) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads 64 hex digits.
func (r *Ref) UnmarshalText(b []byte) error {
	if len(b) != hex.EncodedLen(len(r)) {
		return errors.New("a reference has 64 hex digits")
	}
	_, err := hex.Decode(r[:], b)
	return err
}

// Nano is a time in nanoseconds since 1970, or the nearest of 1677 to 2262 that an int64 can say. Files may have any: 1601 is
// where Windows begins to count.
func Nano(t time.Time) int64 {
	switch first, last := time.Unix(0, math.MinInt64), time.Unix(0, math.MaxInt64); {
	case t.Before(first):
		return math.MinInt64
	case t.After(last):
		return math.MaxInt64
	}
	return t.UnixNano()
}

// Extent is a run of bytes of a chain that one tar entry holds: a whole original, or a tail by which it grew.
type Extent struct {
	Offset int64 `json:"offset"` // in the chain
	Size   int64 `json:"size"`
	SHA256 Ref   `json:"sha256"` // of these bytes
	// Raw is the offset of the first byte in the pack's inflated tar stream, never 0 (a tar header stands before
	// it). It is 0 when CopyOf is set.
	Raw int64 `json:"raw"`
	// CopyOf says that the same bytes stand elsewhere, in this or an earlier pack, and are not stored again.
	CopyOf *Copy `json:"copy_of,omitempty"`
}

// Copy is a place where bytes stand: of a copied extent, where they stood when its pack was written. When gc has since
// replaced that pack, the extent's SHA256 still finds them.
type Copy struct {
	Pack string `json:"pack"` // "" is the same pack
	Raw  int64  `json:"raw"`
}

// Version is one state of one original as a scan met it. Extents are those that its pack added, in order; the
// earlier ones of its chain stand in earlier packs.
//
// Source, Path and Claim hold the exact bytes, UTF-8 or not. In a manifest, what is not UTF-8 stands beside a
// readable form as source_b64, path_b64 and root_dir_b64.
type Version struct {
	Source string `json:"source"`
	Path   string `json:"path"` // slash-separated, relative to the source's root
	// Number counts the contents of this path from 1: growth keeps it, a rewrite raises it.
	Number int `json:"version"`
	// Root is the SHA-256 of the first extent of the chain; an empty file has that of no bytes. Nothing can grow
	// from an empty version, else all such chains of a path would have one root: content begins a new version.
	Root    Ref       `json:"root"`
	Size    int64     `json:"size"`
	SHA256  Ref       `json:"sha256"` // of all Size bytes
	ModTime time.Time `json:"mtime"`  // with nanoseconds; years 0 to 9999, of which an index knows those that Nano does
	Mode    uint32    `json:"mode"`   // permission bits
	Format  string    `json:"format,omitempty"`
	Role    string    `json:"role,omitempty"`
	Claim   string    `json:"root_dir,omitempty"` // root of the format that the file lies below
	Extents []Extent  `json:"extents,omitempty"`
	// Archived is when the state was archived, where that was not by the pack that says so; Earlier are the states of
	// the chain before, in order. gc writes both, so that joined extents still tell what there was when.
	Archived time.Time `json:"archived,omitzero"`
	Earlier  []State   `json:"earlier,omitempty"`
}

// Fact is what no original can tell: a source, a pin, a tag, a tombstone, a problem of a scan. Of facts with
// one Kind and Key the newest counts, by Time, then by pack name; a null Value takes the fact back.
type Fact struct {
	Kind  string          `json:"fact"`
	Key   string          `json:"key"`
	Time  time.Time       `json:"time"`
	Value json.RawMessage `json:"value"`
}

// Member is one gzip member of a pack.
type Member struct {
	Offset  int64 `json:"offset"` // in the pack file
	Size    int64 `json:"size"`   // compressed bytes, header and trailer included
	Raw     int64 `json:"raw"`    // offset of its first byte in the inflated tar stream
	RawSize int64 `json:"raw_size"`
	SHA256  Ref   `json:"sha256"` // of the member as stored
}

// Manifest is what a pack says of itself.
type Manifest struct {
	Pack     string // name in a Store
	Writer   string
	Created  time.Time
	Replaces []string
	Versions []Version
	Facts    []Fact
	Members  []Member // all but the manifest's own and the trailer
}

// Info names a pack and its size in bytes.
type Info struct {
	Name string
	Size int64
}

// Store is a place that holds packs: a directory, a bucket. Names are relative, slash-separated, used once and
// have no extension (a directory adds ".tar.gz"). Their parts are made of letters, digits, '.', '-' and '_' and
// do not begin with '.'. All methods may be called from several goroutines at once.
type Store interface {
	// Create begins a pack. Nothing is visible before Commit, which names it.
	Create(ctx context.Context) (Upload, error)
	// Open gives random access to a pack. ErrNotFound when there is none.
	Open(ctx context.Context, name string) (Pack, error)
	// List yields all packs in name order, which is time order. What is not committed is not listed.
	List(ctx context.Context) iter.Seq2[Info, error]
	// Remove deletes a pack. ErrNotFound when there is none.
	Remove(ctx context.Context, name string) error
}

// Upload is a pack being written.
type Upload interface {
	io.Writer
	// Commit makes the bytes durable under name, whole or not at all. It never overwrites: ErrExists. It ends the
	// upload, also when it fails; it fails when a Write did.
	Commit(ctx context.Context, name string) error
	// Abort drops what was written. After Commit, or a second time, it does nothing.
	Abort() error
}

// Pack is a stored pack. It stays readable until Close, also when it is removed meanwhile.
type Pack interface {
	io.ReaderAt
	io.Closer
	Size() int64
}

// ValidName says whether name may name a pack.
func ValidName(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || strings.Trim(part, nameBytes) != "" {
			return false
		}
	}
	return true
}

const nameBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
