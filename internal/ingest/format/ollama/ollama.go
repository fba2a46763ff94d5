// Package ollama reads the chats of Ollama's desktop app, which keeps them in the database db.sqlite, and the history of the prompts that
// were typed to "ollama run".
//
// Producer: checked in December 2026 against the app's store (schemas 2 to 18 and their migrations), the handler that writes chats, and the
// command line's history; and against two readers of the database. Layout and counting: docs/formats/ollama.md.
//
// Identity: a chat is a run with one conversation. The app deletes all messages of a chat and writes them again, under other numbers, with
// each prompt and each renaming: a message is identified by its creation time and role, which stay.
//
// Calls have no ids. The results that follow a message are those of its calls, in order, as the app itself pairs them.
//
// Usage: the app does not record any.
package ollama

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return ollama{} }

type ollama struct{}

var (
	_ format.Placed     = ollama{}
	_ format.Resolver   = ollama{}
	_ format.Splitter   = ollama{}
	_ format.Withholder = ollama{}
)

// Name returns "ollama".
func (ollama) Name() string { return "ollama" }

// Version counts changes of what Parse yields.
func (ollama) Version() int { return 1 }

// The roles of the files.
const (
	roleDatabase = "database"
	roleRows     = "rows"    // the rows of one chat
	roleHistory  = "history" // lines that were typed
)

// Places returns the app's database on macOS and Windows, and where its builds for other systems keep it; and the history. The directories
// that have them also have models.
func (ollama) Places() []format.Place {
	database := format.Place{Name: "ollama", Deletes: "chats that are deleted, and messages behind one that is edited"}
	history := format.Place{Name: "ollama", Deletes: "all but the last 100 lines"}
	return append(database.At("~/Library/Application Support/Ollama/"+databaseName, "~/AppData/Local/Ollama/"+databaseName,
		"$LOCALAPPDATA/Ollama/"+databaseName, "~/"+homeDir+"/"+databaseName), history.At("~/"+homeDir+"/"+historyName)...)
}

// Parse yields the records of one file.
func (ollama) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{in: in, Rows: format.Rows{Sink: format.Sink{Yield: yield}, AppendText: appendValue}}
		switch in.Role {
		case roleRows:
			p.EachRow(in.Reader, p.row)
			p.emitModel()
		case roleHistory:
			p.history()
		}
	}
}

// parser is one parse of one file.
type parser struct {
	in format.Input
	format.Rows

	models map[string]bool // of the chat's answers
	seen   map[string]int  // occurrences of a message id
	calls  int             // so far
	open   []call          // calls of the last answer with calls that have no result yet
}

// conversation is the id of the only conversation in a chat.
const conversation = "main"

// emitConversation yields the chat and its conversation, once.
func (p *parser) emitConversation() {
	if !p.Begun {
		p.Begun = true
		p.models, p.seen = map[string]bool{}, map[string]int{}
		p.calls, p.open = 0, nil
		p.Emit(&transcript.Run{ID: p.Session})
		p.Emit(&transcript.Conversation{ID: conversation, Run: p.Session})
	}
}

// emitModel yields the model of a chat, if all answers have the same.
func (p *parser) emitModel() {
	if !p.Begun || len(p.models) != 1 || p.Done() {
		return
	}
	for model := range p.models {
		p.Emit(&transcript.Run{ID: p.Session, Model: model})
	}
}

// Resolve sets the fields of a conversation from what is known of its chat.
func (ollama) Resolve(f *transcript.Family) {
	for _, c := range f.Conversations {
		c.Title, c.Model = f.Run.Title, f.Run.Model
	}
}
