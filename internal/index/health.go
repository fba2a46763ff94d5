package index

import (
	"context"
	"iter"
	"time"
)

// Health is what an index can tell of how the archive fares. Some of it depends on when and where things were
// stored, so no view shows it.
type Health interface {
	// SourceStats yields what is stored of each source, by name.
	SourceStats(ctx context.Context) iter.Seq2[SourceStats, error]
	// Unknown yields the event types that a parser did not know, the most frequent first.
	Unknown(ctx context.Context) iter.Seq2[UnknownType, error]
	// Gaps yields the originals in which the numbers that their producer gave to events leave some out.
	Gaps(ctx context.Context) iter.Seq2[Gap, error]
}

// LocalState keeps what one machine alone needs to know. It may be lost at any time, with the index.
type LocalState interface {
	// SaveLocal keeps texts under keys.
	SaveLocal(ctx context.Context, notes map[string]string) error
	// LoadLocal returns all that was kept under keys with a prefix.
	LoadLocal(ctx context.Context, prefix string) (map[string]string, error)
}

// SourceStats is what is stored of one source.
type SourceStats struct {
	Source     string
	Files      int64 // by their newest versions, as is Bytes
	Bytes      int64
	Versions   int64
	LastStored time.Time // when the newest pack was written that has bytes of it; zero when none has
}

// UnknownType is a native type that a parser did not know, of one version of its producer.
type UnknownType struct {
	Format  string
	Version string // of the producer, "" where it states none
	Type    string
	Events  int64
	Run     string // one that has it
}

// Gap is where numbers of events are missing in an original.
type Gap struct {
	Key        VersionKey
	Format     string
	Run        string // the first that the original speaks of, "" for none
	Gaps       int64
	Missing    int64 // numbers that are left out, in all
	After, Seq int64 // the first gap: the numbers on both sides of it
}
