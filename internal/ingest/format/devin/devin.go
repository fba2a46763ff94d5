// Package devin reads the sessions of Devin CLI, Cognition's coding agent for the terminal, which also works in Devin's editor: the database
// sessions.db in the program's directory.
//
// Producer: closed. Checked in November 2026 against descriptions of its tables and messages, as they are since version 17 of the schema (summer
// 2026), by eight programs that read real databases: kenn-io/agentsview, junhoyeo/tokscale, and importers and viewers with fixtures of real
// sessions. Layout and counting: docs/formats/devin.md.
//
// Identity: a session is a run. Its id is two words, so the time at which it was made is part of the run's id. Messages have UUIDs. They are nodes of a
// forest, in which the program copies those that it goes on from when its prompt changes: the first node of a message is the message.
//
// Usage: a message states its request. Readers agree that input_tokens is without the cache, which numbers from real sessions show: there is more in
// the cache than in the input.
package devin

import (
	"cmp"
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return devin{} }

type devin struct{}

var (
	_ format.Placed     = devin{}
	_ format.Resolver   = devin{}
	_ format.Splitter   = devin{}
	_ format.Withholder = devin{}
)

// Name returns "devin".
func (devin) Name() string { return "devin" }

// Version counts changes of what Parse yields.
func (devin) Version() int { return 1 }

// The roles of the files.
const (
	roleDatabase = "database"
	roleRows     = "rows" // the rows of one session
)

// Places returns the databases that the program keeps on Linux and on macOS.
func (devin) Places() []format.Place {
	const file = "/" + homeName + "/" + cliDir + "/" + databaseName
	return format.Place{Name: "devin"}.At("~/.local/share"+file, "$XDG_DATA_HOME"+file, "~/Library/Application Support"+file)
}

// Parse yields the records of one file.
func (devin) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		if in.Role != roleRows {
			return // SQLite could not read the database; each scan reports that
		}
		p := &parser{Rows: format.Rows{Sink: format.Sink{Yield: yield}, AppendText: appendValue}}
		p.EachRow(in.Reader, p.row)
	}
}

// Resolve sets the fields of a session's conversations that its own row states.
func (devin) Resolve(f *transcript.Family) {
	for _, c := range f.Conversations {
		c.Project = cmp.Or(c.Project, f.Run.Project)
		if c.ID != mainConversation {
			continue
		}
		c.Title = cmp.Or(f.Run.Title, c.Title)
		c.Model = cmp.Or(c.Model, f.Run.Model)
	}
}
