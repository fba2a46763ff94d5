// Package openaiagents reads the sessions that OpenAI's Agents SDK for Python keeps in an SQLite database of the user's choice.
//
// Producer: checked in December 2026 against the SDK's SQLiteSession (from the first one, of July 2025, on), AsyncSQLiteSession,
// SQLAlchemySession and AdvancedSQLiteSession, which all use the same two tables, the last one with two more; and against what wraps them: a
// session that is encrypted, and one that has OpenAI make its history shorter. The SDK for JavaScript has no session on disk.
// Layout and counting: docs/formats/openai-agents.md.
//
// Identity: a session has the name that the user's program gives it, such as that of a customer, so the time of its creation is a part of its
// id. A session that is cleared is deleted, and one of the same name is another run. A message is identified by its number, which no later one
// gets again, and its time.
//
// A branch has rows that refer to messages before it: there they are copied history.
//
// Usage: only AdvancedSQLiteSession has it, as the sum of a turn; a branch has only that of its own turns.
package openaiagents

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return openaiAgents{} }

type openaiAgents struct{}

var (
	_ format.Resolver = openaiAgents{}
	_ format.Splitter = openaiAgents{}
)

// Name returns "openai-agents".
func (openaiAgents) Name() string { return "openai-agents" }

// Version counts changes of what Parse yields.
func (openaiAgents) Version() int { return 1 }

// The roles of the files.
const (
	roleDatabase = "database"
	roleRows     = "rows" // the rows of one session
)

// Parse yields the records of one file.
func (openaiAgents) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		if in.Role != roleRows {
			return // SQLite could not read the database; each scan reports that
		}
		p := &parser{Rows: format.Rows{Sink: format.Sink{Yield: yield}, AppendText: appendValue}}
		p.EachRow(in.Reader, p.row)
		p.emitModel()
	}
}

// parser is one parse of the rows of one session.
type parser struct {
	format.Rows

	branches map[string]bool // the conversations that were yielded
	models   map[string]bool // of the answers that name one
}

// Resolve sets the fields of a conversation from what is known of its run.
func (openaiAgents) Resolve(f *transcript.Family) {
	for _, c := range f.Conversations {
		c.Title, c.Model = f.Run.Title, f.Run.Model
	}
}
