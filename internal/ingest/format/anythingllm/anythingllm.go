// Package anythingllm reads the chats of AnythingLLM, which keeps them in the database anythingllm.db.
//
// Producer: checked in December 2026 against the server's schema and its migrations from the first of 2023 on, the models and endpoints that write
// chats, threads and forks, the agent's history and the measurement of requests; and against a description of the database by a tool that reads
// it. Layout and counting: docs/formats/anythingllm.md.
//
// Identity: a thread is a run with one conversation, named after its slug, which is a UUID; what was said in a workspace outside of threads is
// named after the workspace's slug and the time of its creation, and the user or the session of the API. An exchange of prompt and answer is
// identified by what its request measured, its time and duration among it: a fork copies exchanges under new numbers and times, and says nowhere
// of what, but leaves that as it is. An exchange without measurements is identified by its number and time.
//
// Usage: an answer states what its request used, or, of an agent, one or all of its requests: versions differ, and do not say which.
package anythingllm

import (
	"cmp"
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return anythingLLM{} }

type anythingLLM struct{}

var (
	_ format.Placed     = anythingLLM{}
	_ format.Resolver   = anythingLLM{}
	_ format.Splitter   = anythingLLM{}
	_ format.Withholder = anythingLLM{}
)

// Name returns "anythingllm".
func (anythingLLM) Name() string { return "anythingllm" }

// Version counts changes of what Parse yields.
func (anythingLLM) Version() int { return 1 }

// The roles of the files.
const (
	roleDatabase = "database"
	roleRows     = "rows" // the rows of one conversation
)

// Places returns the database of the desktop application, and of the server in a container as its documentation starts it or where its variable
// says.
func (anythingLLM) Places() []format.Place {
	place := format.Place{Name: "anythingllm", Deletes: "threads and workspaces that are deleted, and what follows a prompt that is edited"}
	var paths []string
	for _, home := range format.ConfigHomes {
		paths = append(paths, home+"/anythingllm-desktop/storage/"+databaseName)
	}
	return place.At(append(paths, "~/anythingllm/"+databaseName, "$STORAGE_DIR/"+databaseName)...)
}

// Parse yields the records of one file.
func (anythingLLM) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		if in.Role != roleRows {
			return // SQLite could not read the database; each scan reports that
		}
		p := &parser{Rows: format.Rows{Sink: format.Sink{Yield: yield}, AppendText: appendValue}}
		p.EachRow(in.Reader, p.row)
		p.emitModel()
	}
}

// parser is one parse of the rows of one conversation.
type parser struct {
	format.Rows
	before transcript.Time // when the thread, then the exchange before was written
	model  string          // of the answers, if all have the same
	models int             // that differ from the one before
}

// conversation is the id of the only conversation in a run.
const conversation = "main"

// emitModel yields the model of a conversation, if all answers have the same.
func (p *parser) emitModel() {
	if p.models == 1 && !p.Done() {
		p.Emit(&transcript.Run{ID: p.Session, Model: p.model})
	}
}

// Resolve sets the fields of a conversation from what is known of its run.
func (anythingLLM) Resolve(f *transcript.Family) {
	for _, c := range f.Conversations {
		c.Title, c.Model, c.Started = f.Run.Title, f.Run.Model, cmp.Or(c.Started, f.Run.Started)
	}
}
