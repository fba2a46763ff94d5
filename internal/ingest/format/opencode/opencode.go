// Package opencode reads what OpenCode leaves in its data directory: a tree of JSON files, storage/session, message and
// part, one file a record (up to 1.1), and the SQLite database that took over its records with their ids (from 1.2).
// Checked in November 2026 against the program's session store of 0.4 to 1.3; Kilo Code 7 has the same database. Layout
// and counting: docs/formats/opencode.md.
//
// What it promises: a run and a conversation are a session. Everything that speaks of it (files of the tree, exported
// rows) is one shared conversation, known by the ids of its records; what the database says of a record counts before
// what a file says. Not every part names its session, so runs are anchored: a message says which session the parts
// below its id belong to.
//
// Where readers of these files disagree: a request is a step-finish part, since message.tokens has only the last step
// and message.cost all of them; a message without such a part counts itself. Which of the two holds only the whole
// session tells: Resolve. Output includes reasoning. A cost of 0 is unknown, not free.
package opencode

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return opencode{} }

type opencode struct{}

var (
	_ format.Placed        = opencode{}
	_ format.UsageResolver = opencode{}
	_ format.Splitter      = opencode{}
)

// Name returns "opencode".
func (opencode) Name() string { return "opencode" }

// Version counts changes of what Parse yields.
func (opencode) Version() int { return 3 }

// The roles of the files.
const (
	roleSession  = "session"
	roleMessage  = "message"
	rolePart     = "part"
	roleDatabase = "database"
	roleRows     = "rows" // of one session or message, from a database
)

// Places says where the program keeps its files, and Kilo Code 7 its own.
func (opencode) Places() []format.Place {
	const deletes = "sessions that are deleted, messages that are reverted, old tool output (compaction.prune)"
	own := format.Place{Name: "opencode", Deletes: deletes}.At("~/.local/share/opencode", "$XDG_DATA_HOME/opencode", "$OPENCODE_DB")
	return append(own, format.Place{Name: "kilo", Deletes: deletes}.At("~/.local/share/kilo", "$XDG_DATA_HOME/kilo")...)
}

// Parse yields the records of one file.
func (opencode) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		if in.Role == roleDatabase {
			return // SQLite could not read it, which the scan says as long as it is so
		}
		p := &parser{Sink: format.Sink{Yield: yield}, in: in, where: place(in.Path)}
		if in.Role == roleRows {
			p.rank = rowsRank
			p.rows()
			return
		}
		if !p.document() {
			return
		}
		switch in.Role {
		case roleSession:
			p.session(p.whole)
		case roleMessage:
			p.message(p.treeMessage())
		case rolePart:
			p.part(p.treePart())
		}
	}
}

// Text gives the text of one part of an event.
func (opencode) Text(role string, raw []byte, _ int) (string, error) {
	return format.TextOf(role, raw, pieceText)
}

// rowsRank makes what a database says outweigh what a file of the tree says.
const rowsRank = 2

// parser is one parse of one file.
type parser struct {
	in format.Input
	format.Sink

	where spot
	rank  int
	steps bool              // a request was seen among the parts
	asked *message          // the message that the rows belong to
	named map[string]bool   // runs that were stated
	at    transcript.Origin // of whole
	whole format.Value      // the document or line that values are cut from
}
