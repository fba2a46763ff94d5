// Package goose reads the sessions of Goose, Block's agent: the database sessions/sessions.db (from 1.10), and the files
// sessions/<session>.jsonl of earlier versions, which Goose imports into it.
//
// Producer: checked in November 2026 against the session store of Goose 1.0 to 1.45 (schemas 0 to 15; 16 and 17 add nothing that is read),
// its messages and its documentation on logs. Layout and counting: docs/formats/goose.md.
//
// Identity: a session is a run with one conversation. The database numbers sessions anew each day, so such a session is
// identified by its number and its creation time. Messages are identified by their id, creation time and content: Goose gives
// one id to several messages, writes all of them again under other rowids when it compacts a conversation, and copies them to a session
// that continues another.
//
// A request is a row of usage_ledger; its input is the whole prompt. Without such rows (schemas before 15), the counts in the session's own
// row count, as one sum for the session. A sum that Goose carried forward into the ledger is what was used before there was one: of it and of
// what an earlier state of the session stated, the greater counts.
package goose

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return goose{} }

type goose struct{}

var (
	_ format.Placed     = goose{}
	_ format.Resolver   = goose{}
	_ format.Splitter   = goose{}
	_ format.Withholder = goose{}
)

// Name returns "goose".
func (goose) Name() string { return "goose" }

// Version counts changes of what Parse yields.
func (goose) Version() int { return 10 }

// The roles of the files.
const (
	roleDatabase = "database"
	roleRows     = "rows" // the rows of one session
	roleFile     = "file" // a session of a version before the database
)

// Places returns where Goose keeps sessions on Linux, macOS and Windows, and where early versions did.
func (goose) Places() []format.Place {
	const deletes = "sessions that are deleted, and messages behind one that is edited"
	var all []format.Place
	for _, dir := range []string{"~/.local/share/goose", "$XDG_DATA_HOME/goose", "$GOOSE_PATH_ROOT/data", "~/AppData/Roaming/Block/goose/data", "$APPDATA/Block/goose/data",
		"~/Library/Application Support/Block/goose", "~/.config/goose"} {
		all = append(all, format.Place{Name: "goose", Path: dir + "/" + sessionsDir, Deletes: deletes})
	}
	return all
}

// Parse yields the records of one file.
func (goose) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{in: in, Rows: format.Rows{Sink: format.Sink{Yield: yield}, AppendText: appendValue}, seen: map[string]int{}}
		switch in.Role {
		case roleRows:
			p.EachRow(in.Reader, p.row)
		case roleFile:
			p.Session = format.Stem(in.Path)
			p.EachRow(in.Reader, p.entry)
		}
	}
}

// The ranks of a session's originals: the database outranks the file that it imported.
const (
	rankFile = 1
	rankRows = 2
)

// parser is one parse of one file.
type parser struct {
	in format.Input
	format.Rows

	nativeID string         // the session's id as Goose writes it
	seen     map[string]int // occurrences of a message id
	carried  bool           // a sum of the session was carried forward into the ledger
}

// conversation is the id of the only conversation in a session.
const conversation = "main"

// emitConversation yields the session and its conversation, once.
func (p *parser) emitConversation(rank int) {
	if !p.Begun {
		p.Begun = true
		p.Emit(&transcript.Run{ID: p.Session, Rank: rank})
		p.Emit(&transcript.Conversation{ID: conversation, Run: p.Session, Rank: rank})
	}
}

// parseTime reads a time in seconds, or in milliseconds if it is too large for seconds.
func parseTime(v jsontext.Value) transcript.Time {
	n, _ := v.Int()
	return timestamp.Epoch(n)
}
