package index

import (
	"context"
	"iter"

	"github.com/txarchive/txarchive/internal/blob"
)

// Catalog knows which originals are stored. A scan asks it before it stores a file.
type Catalog interface {
	// Sources returns the names of all sources that have versions in the index. It may also name some that have none.
	Sources(ctx context.Context) ([]string, error)
	// Newest returns the newest version of a file. ErrNotFound when there is none.
	Newest(ctx context.Context, source, path string) (State, error)
	// HasSize reports whether any version has this size, so that content of this size may be stored already.
	HasSize(ctx context.Context, size int64) (bool, error)
	// ByRef returns where content is stored. ErrNotFound when no version has it.
	ByRef(ctx context.Context, ref blob.Ref) (Stored, error)
}

// StateReader reads the states of many versions, for what reads their originals again. parsers is the current version of
// each format's parser.
type StateReader interface {
	// States yields every version of every file.
	States(ctx context.Context) iter.Seq2[State, error]
	// ToReparse yields the versions that must be parsed again from their packs.
	ToReparse(ctx context.Context, parsers map[string]int) iter.Seq2[State, error]
	// Unparsed yields those versions of ToReparse that have a parser, in no particular order.
	Unparsed(ctx context.Context, parsers map[string]int) iter.Seq2[Placed, error]
	// AllVersions yields every version that was not pruned, in no particular order.
	AllVersions(ctx context.Context) iter.Seq2[Placed, error]
	// StatesOf yields the states of versions, in the given order. Those that no longer exist are left out.
	StatesOf(ctx context.Context, versions []Placed) iter.Seq2[State, error]
}

// PackLister lists the packs that the index knows.
type PackLister interface {
	// Packs yields the names of the indexed packs.
	Packs(ctx context.Context) iter.Seq2[string, error]
	// Replaced yields the names of packs that others have replaced. They must never be indexed again, not even if they come back,
	// long after they were deleted, with a copy or a backup of the archive.
	Replaced(ctx context.Context) iter.Seq2[string, error]
}

// FactReader reads what the manifests of packs state and no original does.
type FactReader interface {
	// Facts yields the newest fact of every key of a kind ("" is every kind), without those that were taken back.
	Facts(ctx context.Context, kind string) iter.Seq2[blob.Fact, error]
}

// State is what the index knows about a version. Extents are those of its whole chain and name their packs in CopyOf.
type State struct {
	blob.Version
	Parser     int   // version of the parser that made its rows, 0 when it was not parsed
	Parsed     int64 // records before this offset are indexed
	Reparse    bool  // all of its rows must be made again
	Tombstoned bool  // it was pruned; its Extents remain until gc
	Apart      bool  // two copies of the archive have archived its growth apart: its Extents may overlap, and may not be of one content
}

// Stored locates content that is the whole of some version. Extents name their packs in CopyOf.
type Stored struct {
	Extents []blob.Extent
	Root    blob.Ref
	Size    int64
}

// Placed is a version and where its first extent begins: the pack, and the offset in the pack's inflated tar
// stream. Ids are private; those of packs rise in the order in which the packs were indexed.
type Placed struct{ Version, Pack, Raw int64 }
