package index

import (
	"context"
	"iter"
	"time"
)

// Health has the index's figures on the condition of the archive. Some of them depend on when and where things were
// stored, so no view shows them.
type Health interface {
	// SourceStats yields what is stored of each source, by name.
	SourceStats(ctx context.Context) iter.Seq2[SourceStats, error]
	// Unknown yields the event types that a parser did not know, the most frequent first.
	Unknown(ctx context.Context) iter.Seq2[UnknownType, error]
	// Gaps yields the originals in which the producer's own numbering of events has gaps.
	Gaps(ctx context.Context) iter.Seq2[Gap, error]
}

// LocalState stores values that concern only this machine. They may be lost at any time, with the index.
type LocalState interface {
	// SaveLocal stores values under keys.
	SaveLocal(ctx context.Context, notes map[string]string) error
	// LoadLocal returns all values whose keys have a prefix.
	LoadLocal(ctx context.Context, prefix string) (map[string]string, error)
}

// SourceStats is what is stored of one source.
type SourceStats struct {
	Source     string
	Files      int64 // Files and Bytes count newest versions only
	Bytes      int64
	Versions   int64
	LastStored time.Time // when something of the source was last archived; zero when nothing was
}

// UnknownType is a native type that a parser did not know, of one version of its producer.
type UnknownType struct {
	Format  string
	Version string // of the producer, "" where it states none
	Type    string
	Events  int64
	Run     string // an example
}

// Gap describes the gaps in the numbering of events of one original.
type Gap struct {
	Key        VersionKey
	Format     string
	Run        string // the first run that the original describes, "" for none
	Gaps       int64
	Missing    int64 // missing numbers, in all gaps
	After, Seq int64 // the first gap: the numbers on both sides of it
}
