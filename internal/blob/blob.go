// Package blob defines how the archive stores the bytes of originals: what a blob is, how packs hold it, what a
// manifest records about it, and the contract of a Store that holds packs.
//
// It does not interpret the bytes. Packs are immutable, named without coordination, and either whole or absent.
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
	ErrExists   = errors.New("already exists")
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
		return errors.New("a reference must have 64 hex digits")
	}
	_, err := hex.Decode(r[:], b)
	return err
}

// Nano returns t in nanoseconds since 1970, clamped to what an int64 can hold (the years 1677 to 2262). Modification times
// of files may lie outside: the epoch of Windows is 1601.
func Nano(t time.Time) int64 {
	switch first, last := time.Unix(0, math.MinInt64), time.Unix(0, math.MaxInt64); {
	case t.Before(first):
		return math.MinInt64
	case t.After(last):
		return math.MaxInt64
	}
	return t.UnixNano()
}

// Extent is a range of bytes of a chain that one tar entry holds: a whole original, or a tail by which it grew.
type Extent struct {
	Offset int64 `json:"offset"` // in the chain
	Size   int64 `json:"size"`
	SHA256 Ref   `json:"sha256"` // of these bytes
	// Raw is the offset of the first byte in the pack's inflated tar stream. It is never 0 (a tar header precedes
	// the content) unless CopyOf is set.
	Raw int64 `json:"raw"`
	// CopyOf says where the same bytes are stored already, in this or an earlier pack. They are not stored again.
	CopyOf *Copy `json:"copy_of,omitempty"`
}

// Copy is the location of stored bytes. For a copied extent it is their location when its pack was written; if gc has
// replaced that pack since, they can still be found by the extent's SHA256.
type Copy struct {
	Pack string `json:"pack"` // "" is the same pack
	Raw  int64  `json:"raw"`
}

// Version is one state of one original, as a scan found it. Extents are those that its pack adds, in order; earlier
// packs hold the earlier extents of its chain.
//
// Source, Path and Claim hold the exact bytes, UTF-8 or not. For those that are not UTF-8, a manifest has a readable
// form and the exact bytes as source_b64, path_b64 and root_dir_b64.
type Version struct {
	Source string `json:"source"`
	Path   string `json:"path"` // slash-separated, relative to the source's root
	// Number counts the contents of this path from 1. Growth keeps it, a rewrite increments it.
	Number int `json:"version"`
	// Root is the SHA-256 of the first extent of the chain; for an empty file it is the hash of no bytes. An empty
	// version cannot grow, because all such chains of a path would have the same root: the first content starts a new
	// version.
	Root    Ref       `json:"root"`
	Size    int64     `json:"size"`
	SHA256  Ref       `json:"sha256"` // of all Size bytes
	ModTime time.Time `json:"mtime"`  // with nanoseconds; years 0 to 9999, of which an index holds the range of Nano
	Mode    uint32    `json:"mode"`   // permission bits
	Format  string    `json:"format,omitempty"`
	Role    string    `json:"role,omitempty"`
	Claim   string    `json:"root_dir,omitempty"` // root of the format that the file lies below
	Extents []Extent  `json:"extents,omitempty"`
	// Archived is when the state was archived, if another pack than this one did so. Earlier are the previous states of
	// the chain, in order. gc writes both, so that the history survives the merging of extents.
	Archived time.Time `json:"archived,omitzero"`
	Earlier  []State   `json:"earlier,omitempty"`
}

// Fact is something that no original records: a source, a pin, a tag, a tombstone, a problem of a scan. Of the facts
// with the same Kind and Key the newest counts, by Time, then by pack name. A null Value retracts the fact.
type Fact struct {
	Kind  string          `json:"fact"`
	Key   string          `json:"key"`
	Time  time.Time       `json:"time"`
	Value json.RawMessage `json:"value"`
}

// Retraction returns the fact that retracts the one with a kind and a key.
func Retraction(kind, key string, at time.Time) Fact {
	return Fact{Kind: kind, Key: key, Time: at, Value: json.RawMessage("null")}
}

// IsRetraction reports whether f retracts a fact.
func (f *Fact) IsRetraction() bool { return len(f.Value) == 0 || string(f.Value) == "null" }

// Member is one gzip member of a pack.
type Member struct {
	Offset  int64 `json:"offset"` // in the pack file
	Size    int64 `json:"size"`   // compressed bytes, header and trailer included
	Raw     int64 `json:"raw"`    // offset of its first byte in the inflated tar stream
	RawSize int64 `json:"raw_size"`
	SHA256  Ref   `json:"sha256"` // of the member as stored
}

// Manifest describes the content of a pack.
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

// Store holds packs: in a directory or a bucket. Names are relative, slash-separated, never reused and have no
// extension (a directory adds ".tar.gz"). Their parts consist of letters, digits, '.', '-' and '_' and
// do not begin with '.'. All methods are safe for concurrent use.
type Store interface {
	// Create begins a pack. Nothing is visible before Commit, which names it.
	Create(ctx context.Context) (Upload, error)
	// Open opens a pack for random access. It returns ErrNotFound when there is none.
	Open(ctx context.Context, name string) (Pack, error)
	// List yields all committed packs in name order, which is time order.
	List(ctx context.Context) iter.Seq2[Info, error]
	// Remove deletes a pack. It returns ErrNotFound when there is none.
	Remove(ctx context.Context, name string) error
}

// Upload is a pack being written.
type Upload interface {
	io.Writer
	// Commit makes the bytes durable under name, whole or not at all. It never overwrites a pack, but returns ErrExists.
	// It ends the upload even when it fails, and fails if a Write failed before.
	Commit(ctx context.Context, name string) error
	// Abort discards what was written. After Commit or another Abort it does nothing.
	Abort() error
}

// Pack is a stored pack. It stays readable until Close, even if it is removed meanwhile.
type Pack interface {
	io.ReaderAt
	io.Closer
	Size() int64
}

// ValidName reports whether name is a valid name of a pack.
func ValidName(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || strings.Trim(part, nameBytes) != "" {
			return false
		}
	}
	return true
}

const nameBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
