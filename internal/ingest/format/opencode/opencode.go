// Package opencode reads the sessions in OpenCode's data directory: a tree of JSON files, storage/session, message and
// part, one file per record (up to 1.1), and the SQLite database that took over its records with their ids (from 1.2); and
// what "opencode run --format json" has printed, which are the same parts. Beside them it reads plans and long outputs of tools.
//
// Producer: checked in November 2026 against OpenCode's session store of 0.4 to 1.3, and what it prints against run.ts (version 1)
// and noninteractive.ts (version 2); Kilo Code 7 has the same database, and so has Z Code (checked against its repositories/messages.ts,
// usage.ts and toTokenUsageInfo, and readers of its database). Layout and counting: docs/formats/opencode.md.
//
// Identity: a session is a run with one conversation. Its originals (files of the tree, exported rows, saved output) form
// one shared conversation, whose events are identified by the ids of the records; a record in the database outranks the
// same record in a file of the tree, and that one in saved output. Not every part names its session, so runs are anchored:
// a message states which session its parts belong to.
//
// Where readers of these files disagree: a request is a step-finish part, since message.tokens has only the last step
// and message.cost all of them; a message without such a part counts itself. Which of the two holds is known only for the
// whole session: see Resolve. Output includes reasoning. A cost of 0 is unknown, not free, except in Kilo's database.
package opencode

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
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
func (opencode) Version() int { return 12 }

// The roles of the files.
const (
	roleSession  = "session"
	roleMessage  = "message"
	rolePart     = "part"
	roleDatabase = "database"
	roleRows     = "rows"   // rows of one session or message, from a database
	roleExport   = "export" // what "opencode export" writes: a session with all of its messages
	roleOutput   = "tool-output"
	rolePlan     = "plan"
	roleStream   = "stream" // what "opencode run --format json" prints
)

// Places returns where OpenCode, Kilo Code 7, MiMo Code and Z Code keep their files.
func (opencode) Places() []format.Place {
	const deletes = "sessions that are deleted, messages that are reverted, old tool output (compaction.prune); long outputs of tools after 7 days"
	places := format.Place{Name: "opencode", Deletes: deletes}.At("~/.local/share/opencode", "$XDG_DATA_HOME/opencode", "$OPENCODE_DB")
	places = append(places, format.Place{Name: "kilo", Deletes: deletes}.At("~/.local/share/kilo", "$XDG_DATA_HOME/kilo", "$KILO_DB")...)
	places = append(places, format.Place{Name: "mimocode", Deletes: deletes}.At("~/.local/share/mimocode", "$XDG_DATA_HOME/mimocode", "$MIMOCODE_HOME/data", "$MIMOCODE_DB")...)
	return append(places, format.Place{Name: "zcode", Path: "~/.zcode/cli/db", Deletes: "sessions that are deleted, messages that are reverted"})
}

// Parse yields the records of one file.
func (opencode) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		if in.Role == roleDatabase {
			return // SQLite could not read it; each scan reports that
		}
		p := &parser{Sink: format.Sink{Yield: yield}, in: in, loc: locate(in.Path)}
		switch in.Role {
		case roleRows:
			p.rank, p.statesFree, p.inclusive = rankRows, isKilo(in.Path), isZCode(in.Path)
			p.rows()
			return
		case roleOutput, rolePlan:
			p.beside()
			return
		case roleStream:
			p.rank = rankStream
			p.stream()
			return
		}
		if !p.document() {
			return
		}
		switch in.Role {
		case roleSession:
			p.session(p.base)
		case roleMessage:
			p.message(p.treeMessage())
		case rolePart:
			p.part(p.treePart())
		case roleExport:
			p.export()
		}
	}
}

// Text returns the text of one part of an event.
func (opencode) Text(role string, raw []byte, _ int) (string, error) {
	if role == roleOutput || role == rolePlan {
		return format.LooseText(raw), nil
	}
	return format.TextOf(role, raw, pieceText)
}

// A record in the database outranks the same record in a file of the tree, and that one in saved output.
const (
	rankStream = -1
	rankRows   = 2
)

// parser is one parse of one file.
type parser struct {
	in format.Input
	format.Sink

	loc        location
	rank       int
	titled     bool            // the session here has a title, or its first prompt
	statesFree bool            // a cost of 0 is one: rows of Kilo
	inclusive  bool            // input includes the cache, output reasoning: rows of Z Code
	hasSteps   bool            // a step-finish with tokens was seen among the parts
	copied     bool            // the message was copied by a fork
	described  string          // the session whose record is in the file, too
	current    *message        // the message that the rows belong to
	runNamed   map[string]bool // runs emitted so far
	streams    map[string]*stream
	streamed   string            // the session of the line before, in saved output
	baseOrigin transcript.Origin // of base
	base       jsontext.Value    // the document or line whose bytes values are located in
}
