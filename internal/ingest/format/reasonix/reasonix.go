// Package reasonix reads the sessions of Reasonix, a coding agent for DeepSeek: those of version 0, in TypeScript, and those
// of the later versions, in Go, in a directory sessions of their home and in one for each project.
//
// Producer: checked in November 2026 against esengine/DeepSeek-Reasonix (src/memory/session.ts, src/core/events.ts and
// eventize.ts, src/telemetry/usage.ts; internal/agent, internal/store, internal/provider, internal/stats, internal/eventwire,
// internal/serve, internal/config/paths.go, internal/migration), and four readers, among them vshulcz/deja-vu. Layout and
// counting: docs/formats/reasonix.md.
//
// Identity: a session is a run with one conversation; it is called by the name of its files. The messages are in up to three
// files (a list, its backup, a log), which are rewritten and copied to other directories. So all files together make up the
// conversation: what is said is identified by its words, and by how many times they were said before. Only the Go versions
// state a time in messages, and only in some.
//
// Usage: version 0 writes a request to the log of the session and to a ledger of all sessions, without an id: its numbers
// identify it. The Go versions write it to a ledger for each day, which names no session, and some to the frames of a
// session, which have no time.
package reasonix

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return reasonix{} }

type reasonix struct{}

var (
	_ format.Placed        = reasonix{}
	_ format.UsageResolver = reasonix{}
	_ format.Withholder    = reasonix{}
)

// Name returns "reasonix".
func (reasonix) Name() string { return "reasonix" }

// Version counts changes of what Parse yields.
func (reasonix) Version() int { return 1 }

// The roles of files.
const (
	roleMessages = "messages" // a list of messages
	roleEvents   = "events"   // the log of a session: of version 0, or of the Go versions
	roleArchive  = "archive"  // messages that a compaction has removed, of no session
	roleFrames   = "frames"   // what was shown of a session
	roleTurns    = "turns"    // the same in late versions 1
	roleMeta     = "meta"     // what version 0 notes about a session
	roleBranch   = "branch"   // what the Go versions note
	roleAgent    = "agent"    // what they note about a sub-agent
	roleTitles   = "titles"   // of sessions that they have taken over
	roleState    = "state"    // a plan, or a change that waits for the user
	roleLedger   = "ledger"   // the requests of version 0
	roleStats    = "stats"    // those of the Go versions in a day
)

// Places returns where the program keeps its files: in its home, in the directories of settings that were its home before,
// and elsewhere if the user has moved it. The home itself also holds keys.
func (reasonix) Places() []format.Place {
	homes := []string{"~/.reasonix", "$REASONIX_HOME", "$REASONIX_STATE_HOME"}
	for _, config := range format.ConfigHomes {
		homes = append(homes, config+"/reasonix")
	}
	var all []format.Place
	for _, home := range homes {
		place := format.Place{Name: "reasonix"}
		all = append(all, place.At(home+"/"+sessionsDir, home+"/"+projectsDir, home+"/"+archiveDir, home+"/"+statsDir)...)
		place.Path, place.Deletes = home+"/"+ledgerName, "after a year, once the file is large"
		all = append(all, place)
	}
	return all
}

// Parse yields the records of one file.
func (reasonix) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := newParser(in, yield)
		switch in.Role {
		case roleMeta, roleBranch, roleAgent, roleTitles, roleState:
			p.document(in)
		case roleLedger:
			p.EachRow(in.Reader, p.ledgerRow)
		case roleStats:
			p.Session = statsRun
			p.NameRun()
			p.EachRow(in.Reader, p.statsRow)
		case roleFrames:
			p.n = -1
			p.NameRun()
			p.EachRow(in.Reader, p.frame)
		case roleTurns:
			p.n = -1
			p.NameRun()
			p.EachRow(in.Reader, p.turn)
		case roleArchive:
			p.NameRun()
			p.EachRow(in.Reader, p.archived)
		default:
			p.messages(in)
		}
	}
}

// Text returns the text of one part of an event.
func (reasonix) Text(role string, raw []byte, _ int) (string, error) {
	return format.TextOf(role, raw, textOf)
}
