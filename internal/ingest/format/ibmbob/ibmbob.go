// Package ibmbob reads the tasks of IBM Bob 2, the editor and the shell command, in the database that both share, bob.db. Bob 1 was an editor with a
// fork of Roo: see package cline.
//
// Producer: checked in December 2026 against the tables as versions 2.0.5, 2.1.0 and 2.2.0 create them, and against a dozen readers of the
// database. Layout and counting: docs/formats/ibm-bob.md.
//
// Identity: a task is a run with one conversation, and a message is identified by its id. When a task ends or is opened again, Bob deletes the rows
// of its messages and inserts them anew, with other times and in any order; their ids and the times within them stay.
//
// Sub-agents: a sub-agent has a task of its own without messages. They are in the result of the call that started it, so these become the
// conversation of that task.
//
// Usage: an answer states what its request used. Its input is the whole prompt, as most readers found; one takes what was read from and written to
// the cache for more than that. The sums of a task count only if no request of it is known. Costs are in Bobcoins, which are no dollars.
package ibmbob

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return bob{} }

type bob struct{}

var (
	_ format.Placed        = bob{}
	_ format.UsageResolver = bob{}
	_ format.Splitter      = bob{}
)

// Name returns "ibm-bob".
func (bob) Name() string { return "ibm-bob" }

// Version counts changes of what Parse yields.
func (bob) Version() int { return 2 }

// The roles of the files.
const (
	roleDatabase = "database"
	roleRows     = "rows" // the rows of one task
)

// Places returns the database, which is at the same place on all systems. Bob 1 has places of the same name.
func (bob) Places() []format.Place {
	return []format.Place{{Name: "ibm-bob", Path: "~/" + dataDir + "/" + databaseName, Deletes: "tasks that are deleted"}}
}

// Parse yields the records of one file.
func (bob) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		if in.Role != roleRows {
			return // SQLite could not read the database; each scan reports that
		}
		p := &parser{Rows: format.Rows{Sink: format.Sink{Yield: yield}, AppendText: appendValue}}
		p.EachRow(in.Reader, p.row)
	}
}

// parser is one parse of the rows of one task.
type parser struct{ format.Rows }

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

// row yields the records of one row of a database.
func (p *parser) row(v jsontext.Value) {
	table, id := v.Get("table").Word(), format.ShortID(v.Get("task_id").Text())
	if id == "" {
		p.NoSession()
		return
	}
	p.Begin(id)
	switch table {
	case tableTask:
		p.task(v)
	case tableMessage:
		data := v.Get("data")
		at := data.Get("_meta", "timestamp").MilliTime()
		if !at.Valid {
			at = v.Get("created_at").MilliTime()
		}
		p.message(&message{id: format.ShortID(v.Get("id").Text()), role: v.Get("role").Word(), data: data, at: at, own: true})
	default:
		p.NameRun()
		p.Uncounted(transcript.KindUnknown, table, transcript.Time{})
	}
}
