// Package pi reads the sessions of Pi, the coding agent (badlogic/pi-mono, now earendil-works/pi): one .jsonl a session, below
// ~/.pi/agent/sessions/--<directory>--. Versions 1 to 3 of the layout were seen (Pi 0.8 of November 2025 to 1.0), of version 4, that
// of its new harness, what others that read and write it have for tests; checked in November 2026 against its session-manager.ts,
// its docs/session-format.md and the readers of ccusage, agentsview and Ullage.
// Other programs keep such entries, too: Parse reads them for package openclaw. Layout and counting: docs/formats/pi.md.
//
// What it promises: a run and a conversation are a session, known by the id in its header. Every line is at least one row; the
// blocks of an answer are events of their own. All branches of the tree count: they were asked and paid.
//
// Where sources and readers disagree:
//
//   - A fork copies entries with their ids and timestamps, so that both together say which entry one is: ids are 8 hex digits
//     and come again in other sessions. Entries of version 1 have none and got one, by chance, when a newer program opened their
//     session and wrote it anew; forks of that time had new timestamps. What stays is the time in the message itself.
//   - Readers count the usage of answers alone. Pi also counts what summaries (compaction, branch_summary), entries of type usage
//     and the work that tools had done took, and so does this. What retainedTail of a compaction repeats counts nowhere.
//   - A cost of 0 is unknown, not free: models that the program has no price of have it, too.
package pi

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return pi{} }

type pi struct{}

var (
	_ format.Placed     = pi{}
	_ format.Withholder = pi{}
)

// Name returns "pi".
func (pi) Name() string { return "pi" }

// Version counts changes of what Parse yields.
func (pi) Version() int { return 4 }

const roleSession = "session"

// Places says where the program keeps its files, on every system alike.
func (pi) Places() []format.Place {
	place := format.Place{Name: "pi", Deletes: "a session that is deleted in /resume"}
	return place.At("~/.pi/agent/sessions", "$PI_CODING_AGENT_DIR/sessions", "$PI_CODING_AGENT_SESSION_DIR")
}

// Parse yields the records of one file.
func (pi) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return Parse(in.Reader, Session{ID: SessionOf(in.Path)})
}

// Text gives the text of one part of an event.
func (pi) Text(role string, raw []byte, _ int) (string, error) { return Text(role, raw) }

// Text gives the text of a piece of a session from its own bytes.
func Text(role string, raw []byte) (string, error) {
	return format.TextOf(role, raw, textOf)
}
