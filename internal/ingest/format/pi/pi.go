// Package pi reads the sessions of Pi, the coding agent (badlogic/pi-mono, now earendil-works/pi): one .jsonl file per session, below
// ~/.pi/agent/sessions/--<directory>--.
//
// Producer: versions 1 to 3 of the layout were seen (Pi 0.8 of November 2025 to 1.0); of version 4, that of its new harness, only the
// test data of other programs that read and write it. Checked in November 2026 against its session-manager.ts,
// its docs/session-format.md and the readers of ccusage, agentsview and Ullage.
// Its fork Oh My Pi (can1357/oh-my-pi; ~/.omp/agent/sessions) was checked against its session-entries.ts and parts of real files.
// Its other forks were checked in November 2026 against the session-manager.ts of Gajae Code (version 5) and that of Prime Agent, and the
// readers of tokscale, ccstats and others: Senpi and Kimchi write what Pi writes, Gajae Code what Oh My Pi does, with patches of earlier lines.
// Other programs keep such entries, too: Parse reads them for package openclaw. Layout and counting: docs/formats/pi.md.
//
// Identity: a session is a run with one conversation, identified by the id in its header. Every line gives at least one row; the
// blocks of an answer are events of their own. All branches of the tree count: all were sent and paid for.
//
// Where sources and readers disagree:
//
//   - A fork copies entries with their ids and timestamps, so only both together identify an entry: ids are 8 hex digits
//     and recur in other sessions. Entries of version 1 have no ids and were given random ones when a newer Pi opened and rewrote their
//     session; forks of that time had new timestamps. The time in the message itself stays the same.
//   - Other readers count only the usage of answers. Pi also counts the usage of summaries (compaction, branch_summary), of entries of type
//     usage and of models that tools asked, and so does this package. What retainedTail of a compaction repeats counts nowhere.
//   - Saved output of --mode json, as its docs/json.md and print-mode.ts have it, has each message several times and no entries. Its
//     message_end has the message as it was stored, with its own time but without id.
//   - A cost of 0 is unknown, not free: Pi also writes it for models without a price.
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
	_ format.Resolver   = pi{}
)

// Name returns "pi".
func (pi) Name() string { return "pi" }

// Version counts changes of what Parse yields.
func (pi) Version() int { return 11 }

// The roles of the files.
const (
	roleSession = "session"
	roleOutput  = "output" // what "pi --mode json" printed
)

// Places returns where Pi and its forks keep their files, the same on every system unless a variable of Linux is set.
func (pi) Places() []format.Place {
	place := format.Place{Name: "pi", Deletes: "a session that is deleted in /resume"}
	all := place.At("~/.pi/agent/sessions", "~/.omp/agent/sessions", "$PI_CODING_AGENT_DIR/sessions", "$PI_CODING_AGENT_SESSION_DIR")
	for _, fork := range []struct {
		name  string
		paths []string
	}{
		{"senpi", []string{
			"~/.senpi/agent/sessions", "~/.omo/agent/sessions", "$SENPI_CODING_AGENT_DIR/sessions", "$SENPI_CODING_AGENT_SESSION_DIR",
			"$OMO_CODING_AGENT_SESSION_DIR",
		}},
		{"gajae-code", []string{
			"~/.gjc/agent/sessions", "~/.local/share/gjc/sessions", "~/Library/Application Support/gjc/sessions", "$XDG_DATA_HOME/gjc/sessions",
			"$GJC_CODING_AGENT_DIR/sessions",
		}},
		{"kimchi", []string{"~/.config/kimchi/harness/sessions"}},
		{"prime-agent", []string{
			"~/.prime/agent/sessions", "~/.prime/agent/session-artifacts", "$PRIME_AGENT_CODING_AGENT_DIR/sessions",
			"$PRIME_AGENT_CODING_AGENT_DIR/session-artifacts", "$PRIME_AGENT_SESSION_DIR",
		}},
	} {
		place.Name = fork.name
		all = append(all, place.At(fork.paths...)...)
	}
	return all
}

// Parse yields the records of one file.
func (pi) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	if in.Role == roleOutput {
		return Parse(in.Reader, Session{ID: SessionOf(in.Path), Shared: true, printed: true})
	}
	return Parse(in.Reader, Session{ID: SessionOf(in.Path), Parent: parentOf(in.Path)})
}

// Text returns the text of one part of an event.
func (pi) Text(role string, raw []byte, _ int) (string, error) { return Text(role, raw) }

// Text returns the text of a part of a session from its own bytes.
func Text(role string, raw []byte) (string, error) {
	return format.TextOf(role, raw, textOf)
}
