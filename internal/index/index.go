// Package index is the contract of the archive's index: the rows that are prepared from records, the interfaces
// that an engine implements, and the types of queries and results. It contains no SQL.
//
// The index is a cache of the packs. Everything an engine stores can be rebuilt from manifests and originals, in
// any order of files, and the rebuilt index gives the same answers.
package index

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/price"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Errors of an index, beside ErrTooOld and ErrLimit.
var (
	ErrNotFound  = errors.New("not found")
	ErrAmbiguous = errors.New("ambiguous")
	ErrTooNew    = errors.New("index is newer than this program")
	ErrDamaged   = errors.New("index is damaged")
	ErrNowhere   = fmt.Errorf("nowhere else: %w", ErrDamaged) // bytes that are to be dropped with their pack
	ErrFull      = errors.New("the disk of the index is full")
	ErrDisk      = errors.New("the disk of the index fails")
	ErrTorn      = errors.New("the index that was being built has part of a transaction")
)

// Writer adds stored packs and parsed records to an index.
type Writer interface {
	// Commit adds one batch in one transaction, whole or not at all. A pack that is already indexed is left
	// alone. Readers see the batch when Commit returns.
	Commit(context.Context, Batch) error
	// EnsureNewer moves the times of facts that are not yet stored forward where they are not later than what is recorded
	// under the same key, as when clocks differ or are set back. Otherwise the older fact would stay in force.
	EnsureNewer(ctx context.Context, facts []blob.Fact) error
	// Tidy does a bounded piece of the maintenance that commits defer.
	Tidy(context.Context) error
}

// Batch is what one commit adds: usually the contents of one pack.
type Batch struct {
	Pack   *PackRow   // nil when no pack is added (reparsing)
	Packs  []*PackRow // further packs whose versions have extents in each other
	Facts  []FactRow
	Parsed []*Parsed // in any order
	// Resolvers returns the resolver of a format.
	Resolvers func(format string) Resolver
	Prices    *price.Book
}

// Resolver gives names and verdicts to what several originals of a run state, by the rules of one format.
type Resolver struct {
	Resolve func(*transcript.Family) // nil for a format that has none
	Usage   bool                     // Resolve needs usage; otherwise Family.Usage is empty
}

// All returns every pack of the batch.
func (b *Batch) All() []*PackRow {
	if b.Pack == nil {
		return b.Packs
	}
	return append([]*PackRow{b.Pack}, b.Packs...)
}

// PackRow is a pack and what it stores. The commit removes the packs that it replaces from the index: their
// contents are from then on located where the new pack, or another one, has the same bytes.
type PackRow struct {
	Name     string
	Size     int64
	Created  time.Time
	Writer   string
	Members  []blob.Member
	Versions []blob.Version
	Replaces []string
	Dead     []VersionKey // versions that the replaced packs declare and this one does not
}

// NewPackRow returns the row of a pack of size bytes.
func NewPackRow(m *blob.Manifest, size int64) *PackRow {
	return &PackRow{Name: m.Pack, Size: size, Created: m.Created, Writer: m.Writer, Members: m.Members, Versions: m.Versions, Replaces: m.Replaces}
}

// FactRow is a fact and the pack whose manifest states it.
type FactRow struct {
	blob.Fact
	Pack string
}
