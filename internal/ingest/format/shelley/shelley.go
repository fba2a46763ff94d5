// Package shelley reads the conversations of Shelley, exe.dev's coding agent, in its database shelley.db.
//
// Producer: checked in December 2026 against Shelley's database, its migrations, its loop and its providers, from the first public version to
// that of autumn 2026; and against three readers of the database. Layout and counting: docs/formats/shelley.md.
//
// Identity: a conversation of Shelley is a run with one conversation. A message is identified by its id. A fork copies messages under new ids,
// and each says which one it is a copy of: it has the id of the first of them.
//
// Usage: an answer states what its request used, or a list of its requests; other requests (a summary, a title) stand beside a message. Forks
// copy that, too, so a request is identified by its times, and without those by the message. Readers disagree on copies that do not say of what
// (those of early forks), which one of them counts twice.
package shelley

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return shelley{} }

type shelley struct{}

var (
	_ format.Placed   = shelley{}
	_ format.Resolver = shelley{}
	_ format.Splitter = shelley{}
)

// Name returns "shelley".
func (shelley) Name() string { return "shelley" }

// Version counts changes of what Parse yields.
func (shelley) Version() int { return 1 }

// The roles of the files.
const (
	roleDatabase = "database"
	roleRows     = "rows" // the rows of one conversation
)

// Places returns the database: at the same place on all systems, or where its variable says.
func (shelley) Places() []format.Place {
	place := format.Place{Name: "shelley", Deletes: "conversations that are deleted"}
	return place.At("~/.config/shelley/"+databaseName, "$XDG_CONFIG_HOME/shelley/"+databaseName, "$SHELLEY_DB")
}

// Parse yields the records of one file.
func (shelley) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		if in.Role != roleRows {
			return // SQLite could not read the database; each scan reports that
		}
		p := &parser{Rows: format.Rows{Sink: format.Sink{Yield: yield}, AppendText: appendValue}}
		p.EachRow(in.Reader, p.row)
	}
}

// parser is one parse of the rows of one conversation.
type parser struct {
	format.Rows
	from string // the conversation that this one was last said to be a fork of
}

// conversation is the id of the only conversation in a run.
const conversation = "main"

// emitConversation yields the run and its conversation, once.
func (p *parser) emitConversation() {
	if !p.Begun {
		p.Begun = true
		p.Emit(&transcript.Run{ID: p.Session})
		p.Emit(&transcript.Conversation{ID: conversation, Run: p.Session})
	}
}

// isTrue reports whether a flag is set: a number in the database, a bool or a word in JSON.
func isTrue(v jsontext.Value) bool {
	n, ok := v.Int()
	return ok && n != 0 || v.Bool() == transcript.Yes || v.Is("true")
}
