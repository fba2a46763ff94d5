// Package crush reads the sessions of Crush, Charm's agent: the database crush.db in the directory .crush of a project, and
// opencode.db in .opencode, as the same program wrote it under its earlier name, OpenCode (not the OpenCode of package opencode).
//
// Producer: checked in November 2026 against the migrations, the message store and the agent of Crush, from its first version of summer 2025
// on, and of its predecessor. Layout and counting: docs/formats/crush.md.
//
// Identity: a session is a run with one conversation. Its id is a UUID; that of a sub-agent is the message and the call that started it,
// or, in early versions, the call alone, which is unique only together with its parent. Messages are identified by their UUIDs.
//
// Usage: a session states what it cost, and that includes what its children cost: each session counts with the difference. The numbers of
// tokens are those of its last request, since the program uses them to see how full the context is. They do not count.
package crush

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return crush{} }

type crush struct{}

var (
	_ format.Placed     = crush{}
	_ format.Resolver   = crush{}
	_ format.Splitter   = crush{}
	_ format.Withholder = crush{}
)

// Name returns "crush".
func (crush) Name() string { return "crush" }

// Version counts changes of what Parse yields.
func (crush) Version() int { return 4 }

// The roles of the files.
const (
	roleDatabase = "database"
	roleRows     = "rows" // the rows of one session
)

// Places returns the databases of the projects that the program has listed, and those of projects that are the home directory itself.
func (crush) Places() []format.Place {
	const deletes = "sessions that are deleted"
	listed := format.Place{Name: "crush", Holds: databaseName, Listed: format.Listing{Base: "path", Dir: "data_dir"}, Deletes: deletes}
	all := listed.At("~/.local/share/crush/"+listName, "$XDG_DATA_HOME/crush/"+listName, "$CRUSH_GLOBAL_DATA/"+listName,
		"~/AppData/Local/crush/"+listName, "$LOCALAPPDATA/crush/"+listName)
	all = append(all, format.Place{Name: "crush", Path: "~/" + dataDir, Holds: databaseName, Deletes: deletes})
	return append(all, format.Place{Name: "crush", Path: "~/" + earlyDir, Holds: earlyName, Deletes: deletes})
}

// Parse yields the records of one file.
func (crush) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		if in.Role != roleRows {
			return // SQLite could not read the database; each scan reports that
		}
		p := &parser{project: projectOf(in.Path), Rows: format.Rows{Sink: format.Sink{Yield: yield}, AppendText: appendValue}}
		p.EachRow(in.Reader, p.row)
	}
}

// parser is one parse of the rows of one session.
type parser struct {
	format.Rows
	project string // directory that has the database
}

// conversation is the id of the only conversation in a session.
const conversation = "main"

// emitConversation yields the session and its conversation, once.
func (p *parser) emitConversation() {
	if !p.Begun {
		p.Begun = true
		p.Emit(&transcript.Run{ID: p.Session, Project: p.project})
		p.Emit(&transcript.Conversation{ID: conversation, Run: p.Session, Project: p.project})
	}
}

// parseTime reads a time in seconds, or in milliseconds if it is too large for seconds.
func parseTime(v jsontext.Value) transcript.Time {
	n, _ := v.Int()
	return timestamp.Epoch(n)
}
