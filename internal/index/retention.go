package index

import (
	"context"
	"iter"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Retention is what prune asks of an index.
type Retention interface {
	// Estate gives all runs that count and all versions, with what holds what. costs also sums the cost of each run.
	Estate(ctx context.Context, costs bool) (*Estate, error)
	// Volumes gives what packs consist of, by pack (private ids).
	Volumes(ctx context.Context, packs []int64) (map[int64]Volume, error)
	// Frees estimates by how much the index shrinks when runs leave it, once it is cleaned.
	Frees(ctx context.Context, estate *Estate, leaving *Leaving) (Freed, error)
	// Ledgers gives what is to stay when runs are pruned or thinned in versions.
	Ledgers(ctx context.Context, orders []LedgerOrder) ([]Ledger, error)
	// Graves yields what was pruned or thinned, by run and version: of one run, or of all ("").
	Graves(ctx context.Context, run string) iter.Seq2[Grave, error]
}

// Estate is the runs that there are and what they are stored in.
type Estate struct {
	Runs     []EstateRun     // by id
	Versions []EstateVersion // by source, path and number
	Extents  []EstateExtent  // of all of them, in no order
}

// Volume is what one pack consists of.
type Volume struct {
	Name     string
	Members  []blob.Member // by place
	Manifest int64         // bytes of all else
}

// EstateExtent is where bytes of a chain lie. Ids are private.
type EstateExtent struct{ Chain, Pack, Raw, Size int64 }

// EstateRun is a run as policies look at it. Times are microseconds, 0 is unknown.
type EstateRun struct {
	ID, Native, Format, Group, Project, Flow, Agent, Status, Model, Title, Parent string
	Outcome                                                                       transcript.Outcome
	Started, Ended, Active                                                        int64
	Cost                                                                          transcript.Count // nano-USD
	Thinned                                                                       string           // tier, "" for none
	Stub                                                                          bool
	Transcripts, Rows, Calls                                                      int64 // of the index
}

// Leaving is what is taken out of an index, and what is put in instead.
type Leaving struct {
	Runs      []LeavingRun
	Originals int      // that go
	Ledgers   []Ledger // that come, or some of them
	Times     float64  // so many times as many come
}

// LeavingRun is a run, as position in Estate.Runs, whose words go, and maybe more.
type LeavingRun struct {
	Run    int
	Rows   bool // all else goes but what a ledger keeps
	Ledger bool // that, too
}

// Freed is what an index gives back, in bytes.
type Freed struct {
	Bytes int64   // with what it gives back whenever it is cleaned
	Words []int64 // of them, of full text, as Leaving.Runs
}

// EstateVersion is a version and the runs, as positions in Estate.Runs, that hold it: those of which it says something,
// else those that it only names. One that nobody holds is an original that no format reads.
type EstateVersion struct {
	ID           int64 // private, as Chain
	Chain        int64
	Source, Path string
	Number       int
	SHA256       blob.Ref
	Size         int64
	Stored       int64 // its share of packs
	Buried       bool  // only a ledger is left of it
	Holders      []int
}

// LedgerOrder says what is to happen to runs in a version. Only Run, Action, Tier, Over, Plan, Rule and Reason of Runs
// are looked at.
type LedgerOrder struct {
	Version int64 // private id
	Bury    bool
	Drop    map[string]bool // runs whose usage goes as well
	Undo    map[string]bool // runs of which nothing is to be kept, because all comes back
	Runs    []LedgerRun
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

// Grave is what was pruned or thinned of a run in a version.
type Grave struct {
	LedgerRun        // without Claim, Usage and Hints
	Format           string
	Version          int64 // private id
	Key              VersionKey
	Root, SHA256     blob.Ref
	Size             int64
	Time             int64 // microseconds
	Fact             string
	Tombstone        string // key of the fact, "" where the version is still there
	Bytes            int64  // of the version that its extents still have
	RunPruned, Alive bool   // the run is no more; it has versions that are there
}
