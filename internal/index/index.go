// Package index is the contract of the archive's index: the rows that are prepared from records, the interfaces
// that an engine implements, and the types of queries and results. It contains no SQL.
//
// The index is a cache of the packs. Everything an engine stores can be rebuilt from manifests and originals, in
// any order of files, and the rebuilt index gives the same answers.
package index

import (
	"context"
	"errors"
	"iter"
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
	ErrFull      = errors.New("the disk of the index is full")
	ErrDisk      = errors.New("the disk of the index fails")
	ErrTorn      = errors.New("the index that was being built has part of a transaction")
)

// Writer adds stored packs and parsed records to an index.
type Writer interface {
	// Commit adds one batch in one transaction, whole or not at all. A pack that is already indexed is left
	// alone. Readers see the batch when Commit returns.
	Commit(context.Context, Batch) error
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

// State is what the index knows about a version. Extents are those of its whole chain and name their packs in CopyOf.
type State struct {
	blob.Version
	Parser     int   // version of the parser that made its rows, 0 when it was not parsed
	Parsed     int64 // records before this offset are indexed
	Reparse    bool  // all of its rows must be made again
	Tombstoned bool  // it was pruned; its Extents remain until gc
}

// Stored locates content that is the whole of some version. Extents name their packs in CopyOf.
type Stored struct {
	Extents []blob.Extent
	Root    blob.Ref
	Size    int64
}

// Stat is what a scan remembers of a file. ModTime is in nanoseconds; -1 means that the file must be read again
// whatever its stat.
type Stat struct {
	Size    int64
	ModTime int64
	Inode   uint64
	Ignored bool // belongs to no known root and was not archived
}

// Unparsed is a version and where its first extent begins: the pack, and the offset in the pack's inflated tar
// stream. Ids are private; those of packs rise in the order in which the packs were indexed.
type Unparsed struct{ Version, Pack, Raw int64 }

// Catalog is what ingest asks the index before it writes.
type Catalog interface {
	// Sources returns the names of all sources that have versions in the index. It may also name some that have none.
	Sources(ctx context.Context) ([]string, error)
	// Unclaimed yields the paths of those files of a source that were archived under none of the formats in parsers.
	Unclaimed(ctx context.Context, source string, parsers map[string]int) iter.Seq2[string, error]
	// Newest returns the newest version of a file. ErrNotFound when there is none.
	Newest(ctx context.Context, source, path string) (State, error)
	// HasSize reports whether any version has this size, so that content of this size may be stored already.
	HasSize(ctx context.Context, size int64) (bool, error)
	// ByRef returns where content is stored. ErrNotFound when no version has it.
	ByRef(ctx context.Context, ref blob.Ref) (Stored, error)
	// Recall returns the value that Remember stored under a key, "" when there is none or it was lost.
	Recall(ctx context.Context, key string) (string, error)
	Remember(ctx context.Context, key, value string) error
	// ToReparse yields the versions that must be parsed again from their packs. parsers is the current version of
	// each format's parser.
	ToReparse(ctx context.Context, parsers map[string]int) iter.Seq2[State, error]
	// Unparsed yields those versions of ToReparse that have a parser, in no particular order.
	Unparsed(ctx context.Context, parsers map[string]int) iter.Seq2[Unparsed, error]
	// StatesOf yields the states of some of them, in the given order. Versions that no longer exist are left out.
	StatesOf(ctx context.Context, versions []Unparsed) iter.Seq2[State, error]
	// States yields every version of every file.
	States(ctx context.Context) iter.Seq2[State, error]
	// Packs yields the names of the indexed packs.
	Packs(ctx context.Context) iter.Seq2[string, error]
	// Replaced yields the names of packs that others have replaced, until Cleaner.Removed reports that they are
	// deleted. They must never be indexed again.
	Replaced(ctx context.Context) iter.Seq2[string, error]
	// Facts yields the newest fact of every key of a kind ("" is every kind), without those that were taken back.
	Facts(ctx context.Context, kind string) iter.Seq2[blob.Fact, error]
	// EnsureNewer moves the times of new facts forward where they are not later than what is recorded under the
	// same key, as when clocks differ or are set back. Otherwise the older fact would stay in force.
	EnsureNewer(ctx context.Context, facts []blob.Fact) error
	// Stats returns what the last scans saw of a source, by a hash of the path. SaveStats replaces entries and
	// deletes those in gone.
	Stats(ctx context.Context, source string) (*StatCache, error)
	SaveStats(ctx context.Context, source string, stats map[uint64]Stat, gone []uint64) error
}
