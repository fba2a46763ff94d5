package index

import (
	"context"
	"iter"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Retention is what prune asks of an index.
type Retention interface {
	// Inventory opens what is said of all runs that count and all versions, as of now. costs also sums the cost of each run.
	Inventory(ctx context.Context, costs bool) (Inventory, error)
	// Volumes gives what packs consist of, by pack (private ids).
	Volumes(ctx context.Context, packs []int64) (map[int64]Volume, error)
	// EstimateFreed estimates by how much the index shrinks when runs leave it, once it is cleaned.
	EstimateFreed(ctx context.Context, leaving *Removal) (Freed, error)
	// Ledgers gives what is to stay when runs are pruned or thinned in versions.
	Ledgers(ctx context.Context, orders []LedgerOrder) ([]Ledger, error)
	// PrunedVersions yields what was pruned or thinned, by run and version: of one run, or of all ("").
	PrunedVersions(ctx context.Context, run string) iter.Seq2[PrunedVersion, error]
}

// Inventory is the runs that there are and what they are stored in. There may be millions: what is gone through is not kept, and what
// is yielded is good until the next. It must be closed.
type Inventory interface {
	// Len is how many runs count: they are called by the numbers below it, and are in the order of their ids.
	Len() int
	// Runs yields them in no order, the same each time.
	Runs() iter.Seq2[*InventoryRun, error]
	// Versions yields all, in no order.
	Versions() iter.Seq2[*InventoryVersion, error]
	// VersionsByPath yields them by path, source and number, which takes longer.
	VersionsByPath() iter.Seq2[*InventoryVersion, error]
	// Packs yields those with bytes that nothing needs any more when versions (private ids) go.
	Packs(goes func(version int64) bool) iter.Seq2[*InventoryPack, error]
	Close() error
}

// Volume is what one pack consists of.
type Volume struct {
	Name     string
	Members  []blob.Member // by place
	Manifest int64         // bytes of all else
}

// InventoryPack is all that stands in a pack, in no order.
type InventoryPack struct {
	ID      int64 // private
	Extents []InventoryExtent
}

// InventoryExtent is where bytes of a content lie. It goes with all versions that have it, or some of them stay; neither is said of one that
// was without a version before.
type InventoryExtent struct {
	Raw, Size   int64
	Goes, Stays bool
}

// InventoryRun is a run as policies look at it. Times are microseconds, 0 is unknown.
type InventoryRun struct {
	Number, ParentNumber                                                                  int // -1: no parent
	ID, Native, Format, Source, Group, Project, Flow, Agent, Status, Model, Title, Parent string
	Outcome                                                                               transcript.Outcome
	Started, Ended, Active                                                                int64
	Bytes                                                                                 int64            // stored: its share of packs
	Cost                                                                                  transcript.Count // nano-USD
	Thinned                                                                               string           // tier, "" for none
	Rows                                                                                  int64            // of the index
	Family                                                                                int              // number of one of those that are forks, parents and children of each other
}

// Removal is what is taken out of an index, and what is put in instead.
type Removal struct {
	Runs      []RemovedRun
	Originals int      // that go
	Ledgers   []Ledger // that come, or some of them
	Times     float64  // so many times as many come
}

// RemovedRun is a run whose words go, and maybe more.
type RemovedRun struct {
	ID, Format string
	Held       int64 // rows of the index
	Thinned    bool  // before: it has no words
	Rows       bool  // all else goes but what a ledger keeps
	Ledger     bool  // that, too
}

// Freed is what an index gives back, in bytes.
type Freed struct {
	Bytes int64   // with what it gives back whenever it is cleaned
	Words []int64 // of them, of full text, as Removal.Runs
}

// InventoryVersion is a version and the runs, by number and sorted, that hold it: those of which it says something, else those that it only
// names. One that nobody holds is an original that no format reads. One that stays goes with none of them, for it has rows of other runs that
// do not count, such as prompts of sessions of which nothing else is left.
type InventoryVersion struct {
	ID           int64 // private
	Source, Path string
	Number       int
	SHA256       blob.Ref
	Size         int64
	Tombstoned   bool // only a ledger is left of it
	Stays        bool
	Holders      []int32
}

// LedgerOrder says what is to happen to runs in a version. Only Run, Action, Tier, Over, Plan, Rule and Reason of Runs
// are looked at.
type LedgerOrder struct {
	Version    int64 // private id
	Tombstone  bool
	Tombstoned bool            // it is already: Tombstone is set as well
	Drop       map[string]bool // runs whose usage goes as well
	Undo       map[string]bool // runs of which nothing is to be kept, because all comes back
	Runs       []LedgerRun
}

// Payloads is what can be dropped of one original without changing anything but text, and what stays of it.
type Payloads struct {
	VersionKey
	Marked []byte     // the original with its marks, nil when it stays whole
	Places [][2]int64 // of the marks; none when the original is compressed
	Bytes  int64      // that are under marks
	Left   int        // payloads that stay; 0 with a Why: unknown
	Why    string     // they do
}

// PrunedVersion is what was pruned or thinned of a run in a version.
type PrunedVersion struct {
	LedgerRun        // without Claim, Usage and Hints
	Format           string
	Version          int64 // private id
	Key              VersionKey
	Root, SHA256     blob.Ref
	Size             int64
	Time             int64 // microseconds
	Fact             string
	Tombstone        string // key of the fact, "" where the version is still there
	Ended            bool   // the tombstone was taken back when no bytes were left: the content came again, as a later version
	Bytes            int64  // of the version that its extents still have, -1 where there are none: an empty one has one
	RunPruned, Alive bool   // the run is no more; it has versions that are there
}
