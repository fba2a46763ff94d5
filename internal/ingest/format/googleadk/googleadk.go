// Package googleadk reads the sessions of Google's Agent Development Kit in an SQLite database: .adk/session.db in the directory of an agent, or
// wherever a program has it keep them; and those that users save in a file.
//
// Producer: checked in December 2026 against the Python kit's SqliteSessionService, the two schemas of its DatabaseSessionService and the
// migrations between them, its models of events and answers, and how it puts streamed answers together; and against the databases of the kits
// for Go and JavaScript, and how adk run saves a session and loads it. Layout and counting: docs/formats/google-adk.md.
//
// Identity: a session is a run with one conversation. The kit calls it by a UUID unless the program has a name for it; then the time of its
// creation is a part of its id. An event is known by its id, which it keeps when a session is saved and loaded into another one, or a database is
// migrated.
//
// Usage: an answer states what its request used. A streamed answer can be two events with the same numbers.
package googleadk

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return googleADK{} }

type googleADK struct{}

var (
	_ format.Resolver = googleADK{}
	_ format.Splitter = googleADK{}
)

// Name returns "google-adk".
func (googleADK) Name() string { return "google-adk" }

// Version counts changes of what Parse yields.
func (googleADK) Version() int { return 2 }

// The roles of the files.
const (
	roleDatabase = "database"
	roleRows     = "rows"    // the events of one session
	roleSaved    = "session" // a session in a file
)

// Parse yields the records of one file.
func (googleADK) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{Rows: format.Rows{Sink: format.Sink{Yield: yield}, AppendText: appendValue}}
		switch in.Role {
		case roleRows:
			p.EachRow(in.Reader, p.row)
		case roleSaved:
			p.saved(in.Reader)
		} // SQLite could not read a database; each scan reports that
	}
}

// parser is one parse of the events of one session.
type parser struct {
	format.Rows

	isSaved bool // it is a file, which may have been loaded from another one

	calls int             // so far, of code that a model has run
	last  map[string]used // the usage stated last in the current invocation, by agent and branch
	of    string          // the current invocation
}

// conversation is the id of the only conversation in a run.
const conversation = "main"

// Resolve sets the fields of a conversation from what is known of its run.
func (googleADK) Resolve(f *transcript.Family) { format.InheritRun(f) }
