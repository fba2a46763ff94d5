package index

import (
	"context"
	"iter"
	"slices"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Retention has the queries of prune.
type Retention interface {
	// Inventory opens a snapshot of all runs that count and of all versions.
	Inventory(ctx context.Context, o InventoryOptions) (Inventory, error)
	// Volumes returns the layout of packs, by pack (private ids).
	Volumes(ctx context.Context, packs []int64) (map[int64]Volume, error)
	// EstimateFreed estimates by how much the index shrinks, once it is cleaned, when runs are removed from it.
	EstimateFreed(ctx context.Context, leaving *Removal) (Freed, error)
	// Ledgers returns what is to remain when runs are pruned or thinned in versions.
	Ledgers(ctx context.Context, orders []LedgerOrder) ([]Ledger, error)
	// PrunedVersions yields what was pruned or thinned, by run and version: of one run, or of all ("").
	PrunedVersions(ctx context.Context, run string) iter.Seq2[PrunedVersion, error]
}

// DisplacedReader finds what was pruned and is not among the PrunedVersions.
type DisplacedReader interface {
	// Displaced returns the tombstones that plans have written of originals whose place another original of the same name and number
	// has taken: copies of an archive had archived both. Those whose ledgers do not stand are left out, for nothing is to come back.
	Displaced(ctx context.Context) ([]Displaced, error)
}

// Displaced is the tombstone of an original that the index has no room for.
type Displaced struct {
	blob.Tombstone
	Time   int64  // microseconds
	Ledger string // the pack with its ledger
}

// InventoryOptions ask for what takes long to find out, and is zero otherwise.
type InventoryOptions struct {
	Costs      bool // of runs
	Superseded bool // which versions are
}

// Inventory lists runs and the versions and packs that store them. There may be millions: results are streamed, and a
// yielded value is valid until the next one. It must be closed.
type Inventory interface {
	// Len returns the number of runs that count. They are numbered from 0 in the order of their ids.
	Len() int
	// Runs yields the runs in an arbitrary order that is the same each time.
	Runs() iter.Seq2[*InventoryRun, error]
	// Versions yields all versions, in no particular order.
	Versions() iter.Seq2[*InventoryVersion, error]
	// VersionsByPath yields all versions by path, source and number, which takes longer.
	VersionsByPath() iter.Seq2[*InventoryVersion, error]
	// Packs yields the packs with bytes that nothing needs any more when versions (private ids) are removed.
	Packs(removed func(version int64) bool) iter.Seq2[*InventoryPack, error]
	Close() error
}

// Volume is the layout of one pack.
type Volume struct {
	Name     string
	Members  []blob.Member // by offset
	Manifest int64         // bytes of everything else
}

// InventoryPack lists the extents of a pack, in no particular order.
type InventoryPack struct {
	ID      int64 // private
	Extents []InventoryExtent
}

// InventoryExtent is an extent in a pack. Removed: all versions that use it are removed. Kept: some version that uses
// it remains. Neither is set for an extent that no version used before.
type InventoryExtent struct {
	Raw, Size     int64
	Removed, Kept bool
}

// InventoryRun has the properties of a run that policies use. Times are microseconds, 0 is unknown.
type InventoryRun struct {
	Number, ParentNumber                                                                  int // -1: no parent
	ID, Native, Format, Source, Group, Project, Flow, Agent, Status, Model, Title, Parent string
	Tags                                                                                  []string // those that originals state, not those of facts
	Outcome                                                                               transcript.Outcome
	Started, Ended, Active                                                                int64
	Bytes                                                                                 int64            // stored bytes: its share of packs
	Cost                                                                                  transcript.Count // nano-USD
	Thinned                                                                               string           // tier, "" for none
	Rows                                                                                  int64            // rows in the index
	Earlier                                                                               int64            // versions that are Superseded
	EarlierBytes                                                                          int64            // stored bytes of these
	Family                                                                                int              // number of a run that represents its family: runs connected as forks, parents and children
}

// Removal describes what is removed from an index and the ledgers that replace it.
type Removal struct {
	Runs         []RemovedRun
	Originals    int      // number of removed originals
	Ledgers      []Ledger // ledgers that are added, or a sample of them
	LedgerFactor float64  // how many ledgers are added for each one in Ledgers
}

// RemovedRun is a run whose words are removed, and possibly more.
type RemovedRun struct {
	ID, Format  string
	RowCount    int64 // rows in the index
	Thinned     bool  // before: it has no words any more
	DropsRows   bool  // everything else is removed too, except what a ledger keeps
	DropsLedger bool  // the ledger is removed too
	// Versions are those (private ids) that are removed of a run that stays. Then RowCount is that of their rows, and nothing else of
	// the run is removed.
	Versions []int64
}

// Freed is by how many bytes an index shrinks.
type Freed struct {
	Bytes int64   // in all, with what any cleaning would free
	Words []int64 // the share of the full-text index, in the order of Removal.Runs
}

// InventoryVersion is a version and its holders: the numbers, sorted, of the runs that it describes, or else of those
// that it only mentions. A version without holders is an original that no format reads. One that is Kept is not removed
// with its holders, for it has rows of other runs that do not count, such as prompts of sessions of which nothing else
// is left.
type InventoryVersion struct {
	ID           int64 // private
	Source, Path string
	Number       int
	SHA256       blob.Ref
	Size         int64
	Tombstoned   bool // only its ledger is left
	Kept         bool
	Superseded   bool  // nothing counts from it, and a later version of the file, which is whole and is not superseded, states all that it does, of the same runs
	Rows         int64 // rows in the index, if it is Superseded
	Holders      []int32
}

// LedgerOrder says what is to be done with runs in a version. Only Run, Action, Tier, Over, Plan, Rule and Reason of
// Runs are used.
type LedgerOrder struct {
	Version    int64 // private id
	Tombstone  bool
	Tombstoned bool            // it has one already; Tombstone is set as well
	Drop       map[string]bool // runs whose usage is dropped as well
	Undo       map[string]bool // runs that need no ledger, because all of their rows are restored
	Runs       []LedgerRun
}

// Superseded reports whether the version goes only as an earlier one of runs that stay: a later version states all that it does,
// and its ledger says nothing but why it went.
func (o *LedgerOrder) Superseded() bool {
	return o.Tombstone && len(o.Runs) > 0 && !slices.ContainsFunc(o.Runs, func(r LedgerRun) bool { return r.Drops() || r.Tier != LedgerVersions })
}

// Payloads describes which payloads of one original can be replaced by marks without changing anything but text, and
// which must stay.
type Payloads struct {
	VersionKey
	Marked []byte     // the original with marks instead of payloads, nil when nothing is replaced
	Places [][2]int64 // where the marks are; none when the original is compressed
	Bytes  int64      // bytes that the marks replace
	Left   int        // payloads that stay; 0 with a Why: unknown
	Why    string     // why they stay
}

// PrunedVersion describes what was pruned or thinned of a run in a version.
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
	Ended            bool   // the tombstone was taken back when no bytes were left: the content was archived again as a later version
	Bytes            int64  // of the version's bytes, those that extents still have; -1 without extents (an empty version has one)
	RunPruned, Alive bool   // the run is gone; it still has versions that are not
}
