package index

import (
	"context"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Retention is what prune asks of an index.
type Retention interface {
	// Estate gives all runs that count and all versions, with what holds what. costs also sums the cost of each run.
	Estate(ctx context.Context, costs bool) (*Estate, error)
	// Volumes gives what packs consist of, by pack (private ids).
	Volumes(ctx context.Context, packs []int64) (map[int64]Volume, error)
	// Weights estimates what runs, as positions in Estate.Runs, take in the index.
	Weights(ctx context.Context, estate *Estate, runs []int) ([]Weight, error)
	// Slack is how many bytes the index gives back when it is next cleaned, whatever is taken out of it.
	Slack(ctx context.Context) (int64, error)
	// Ledgers gives what is to stay when runs are pruned or thinned in versions.
	Ledgers(ctx context.Context, orders []LedgerOrder) ([]Ledger, error)
	// Graves gives what was pruned or thinned, by run and version: of one run, or of all.
	Graves(ctx context.Context, run string) ([]Grave, error)
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

// Weight is about how many bytes a run takes in the index.
type Weight struct {
	Words  int64 // in full text
	Rows   int64 // in tables, but for what a ledger keeps
	Ledger int64
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
	Key              VersionKey
	Root, SHA256     blob.Ref
	Size             int64
	Time             int64 // microseconds
	Fact             string
	Tombstone        string // key of the fact, "" where the version is still there
	Bytes            int64  // of the version that its extents still have
	RunPruned, Alive bool   // the run is no more; it has versions that are there
}
