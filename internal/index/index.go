// Package index says what the archive's index is asked and told: rows that were prepared from records, the
// contract of an engine that keeps them, and the shapes that questions and answers have. It knows no SQL.
//
// The index is a cache of the packs. Whatever an engine holds can be made again from manifests and originals,
// in any order of files, and then answers the same.
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

// The errors of an index.
var (
	ErrNotFound  = errors.New("not found")
	ErrAmbiguous = errors.New("ambiguous")
	ErrTooNew    = errors.New("index is newer than this program")
	ErrDamaged   = errors.New("index is damaged")
	ErrFull      = errors.New("the disk of the index is full")
	ErrDisk      = errors.New("the disk of the index refuses")
	ErrTorn      = errors.New("the index that was being built holds part of a transaction")
)

// Writer is an index that takes what was stored and parsed.
type Writer interface {
	// Commit adds one batch in one transaction, whole or not at all. A pack that is there already is left
	// alone. When it returns, readers see the batch.
	Commit(context.Context, Batch) error
	// Tidy does a bounded piece of the upkeep that commits leave undone.
	Tidy(context.Context) error
}

// Batch is what one commit adds: usually what one pack holds.
type Batch struct {
	Pack   *PackRow   // nil when no pack is added (parsing again)
	Packs  []*PackRow // further ones, whose versions lie in each other
	Facts  []FactRow
	Parsed []*Parsed // in any order
	// Resolvers gives the resolver of a format.
	Resolvers func(format string) Resolver
	Prices    *price.Book
}

// Resolver is how a format names and judges what stands in several originals of a run.
type Resolver struct {
	Resolve func(*transcript.Family) // nil for a format without
	Usage   bool                     // it looks at usage; otherwise Family.Usage is empty
}

// All returns every pack of the batch.
func (b *Batch) All() []*PackRow {
	if b.Pack == nil {
		return b.Packs
	}
	return append([]*PackRow{b.Pack}, b.Packs...)
}

// PackRow is a pack and what it stores. The packs that it replaces leave the index with the commit: whatever lay in
// them is from then on where the new pack, or another, has the same bytes.
type PackRow struct {
	Name     string
	Size     int64
	Created  time.Time
	Writer   string
	Members  []blob.Member
	Versions []blob.Version
	Replaces []string
	Dead     []VersionKey // that the packs which it replaces told of, and that it does not
}

// NewPackRow is the row of a pack of size bytes.
func NewPackRow(m *blob.Manifest, size int64) *PackRow {
	return &PackRow{Name: m.Pack, Size: size, Created: m.Created, Writer: m.Writer, Members: m.Members, Versions: m.Versions, Replaces: m.Replaces}
}

// FactRow is a fact and the pack that tells it.
type FactRow struct {
	blob.Fact
	Pack string
}

// State is what the index knows of a version. Its Extents are all of its chain's and name their packs in CopyOf.
type State struct {
	blob.Version
	Parser     int   // version of the parser that made its rows, 0 when it was not parsed
	Parsed     int64 // records before this offset are indexed
	Again      bool  // all of its rows must be made again
	Tombstoned bool  // it was pruned; its Extents are there until gc
}

// Stored is content that some version has as a whole. Extents name their packs in CopyOf.
type Stored struct {
	Extents []blob.Extent
	Root    blob.Ref
	Size    int64
}

// Stat is what a scan remembers of a file. ModTime is in nanoseconds, -1 when the file must be read again
// whatever it says.
type Stat struct {
	Size    int64
	ModTime int64
	Inode   uint64
	Ignored bool // belongs to nothing known and was left alone
}

// Unparsed is a version and where it begins. Ids are private, those of packs in the order in which they were indexed.
type Unparsed struct{ Version, Pack, Raw int64 }

// Catalog is what the way in asks before it writes.
type Catalog interface {
	// Sources returns the names of the sources of which the index has versions, among others of which it has none.
	Sources(ctx context.Context) ([]string, error)
	// Unclaimed yields the paths of files of a source that were archived as nothing that one of these parsers reads.
	Unclaimed(ctx context.Context, source string, parsers map[string]int) iter.Seq2[string, error]
	// Newest returns the newest version of a file. ErrNotFound when there is none.
	Newest(ctx context.Context, source, path string) (State, error)
	// HasSize says whether any version has this size, so that its content may be known.
	HasSize(ctx context.Context, size int64) (bool, error)
	// ByRef returns where content lies. ErrNotFound when no version has it.
	ByRef(ctx context.Context, ref blob.Ref) (Stored, error)
	// Recall returns what Remember was told under a key, "" when nothing or when it was lost.
	Recall(ctx context.Context, key string) (string, error)
	Remember(ctx context.Context, key, value string) error
	// ToReparse yields the versions that must be parsed again from their packs. parsers is the current version of
	// each format's parser.
	ToReparse(ctx context.Context, parsers map[string]int) iter.Seq2[State, error]
	// Unparsed yields those of them that there is a parser for, in no order. StatesOf yields what is known of
	// some, in their order; those that are no more are left out.
	Unparsed(ctx context.Context, parsers map[string]int) iter.Seq2[Unparsed, error]
	StatesOf(ctx context.Context, versions []Unparsed) iter.Seq2[State, error]
	// States yields every version of every file.
	States(ctx context.Context) iter.Seq2[State, error]
	// Packs yields the names of the packs that are indexed.
	Packs(ctx context.Context) iter.Seq2[string, error]
	// Replaced yields the names of packs that others have replaced, until Removed says that they are gone. They are
	// never to be indexed again.
	Replaced(ctx context.Context) iter.Seq2[string, error]
	// Facts yields the newest fact of every key of a kind ("" is every kind), taken back ones left out.
	Facts(ctx context.Context, kind string) iter.Seq2[blob.Fact, error]
	// EnsureNewer gives those of new facts a later time that are not later than what was told of their keys before, as when clocks differ
	// or go back: else the older ones would stay in force.
	EnsureNewer(ctx context.Context, facts []blob.Fact) error
	// Stats returns what the last scans saw of a source, by a hash of the path. SaveStats replaces entries and forgets gone ones.
	Stats(ctx context.Context, source string) (*StatCache, error)
	SaveStats(ctx context.Context, source string, stats map[uint64]Stat, gone []uint64) error
}
