// Package langgraph reads the threads of programs that are built with LangGraph, from the checkpoints that it keeps in an SQLite database: those of
// Deep Agents (~/.deepagents), or of any other program.
//
// Producer: checked in December 2026 against LangGraph's saver for SQLite in Python (from the tables of August 2024 on) and in JavaScript, which has
// the same tables, its serializers (MessagePack, and JSON before that), how its graphs write checkpoints, take input, are updated, and are called by
// other graphs, LangChain's messages, and Deep Agents from its first sessions (October 2025) to the directory of December 2026; and against two
// readers of others and Deep Agents' own. Layout and counting: docs/formats/langgraph.md.
//
// What is read: a checkpoint repeats the whole state, and so all messages. What each step wrote is in a table of its own, once; Deep Agents itself
// counts its messages there. A message of a checkpoint is taken only where that table has none: a program can have LangGraph save checkpoints at the
// end alone, and a thread can begin with messages that a program has put there.
//
// Identity: a thread is a run. It has the name that the program gives it, so the time of its first checkpoint is a part of its id unless that is a
// UUID. What is in a graph that another one calls (its checkpoints have a namespace) is a conversation of the run. A message is known by its id, and its pieces by what they say.
//
// Usage: an answer states what its request used, wherever it is repeated.
package langgraph

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return langGraph{} }

type langGraph struct{}

var (
	_ format.Placed   = langGraph{}
	_ format.Resolver = langGraph{}
	_ format.Splitter = langGraph{}
)

// Name returns "langgraph".
func (langGraph) Name() string { return "langgraph" }

// Version counts changes of what Parse yields.
func (langGraph) Version() int { return 1 }

// The roles of the files.
const (
	roleDatabase = "database"
	roleRows     = "rows" // of one thread
)

// databaseName is the file of Deep Agents, which was in its directory before it had one for such files.
const (
	databaseName = "sessions.db"
	stateDir     = ".state"
	homeName     = ".deepagents"
)

// Places returns the database of Deep Agents.
func (langGraph) Places() []format.Place {
	place := format.Place{Name: "deepagents", Deletes: "threads that are deleted"}
	return place.At("~/"+homeName+"/"+stateDir+"/"+databaseName, "~/"+homeName+"/"+databaseName,
		"$DEEPAGENTS_HOME/"+stateDir+"/"+databaseName, "$DEEPAGENTS_HOME/"+databaseName)
}

// Parse yields the records of one file.
func (langGraph) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		if in.Role != roleRows {
			return // SQLite could not read the database; each scan reports that
		}
		p := &parser{Rows: format.Rows{Sink: format.Sink{Yield: yield}, AppendText: appendValue}}
		p.EachRow(in.Reader, p.row)
		p.emitModel()
	}
}

// parser is one parse of the rows of one thread.
type parser struct {
	format.Rows

	run           transcript.Run    // what is known of the thread
	conversations map[string]bool   // that were yielded
	models        map[string]bool   // of the answers that name one
	homes         map[string]string // by the id of a piece of a message, the conversation that wrote it first
	seen          map[uint64]bool   // hashes of the pieces of messages that were yielded
}

// Resolve sets the fields of conversations from what is known of their run.
func (langGraph) Resolve(f *transcript.Family) {
	for _, c := range f.Conversations {
		c.Title, c.Model, c.Project, c.Branch = f.Run.Title, f.Run.Model, f.Run.Project, f.Run.Branch
		if c.Agent == "" {
			c.Agent = f.Run.Agent
		}
	}
}
