// Package codebuff reads the chats of Codebuff, and of Freebuff, its free version: ~/.config/manicode/projects/<project>/chats/<time>/, with what the
// screen shows in chat-messages.json and what the agent knows in run-state.json.
//
// Producer: checked in November 2026 against CodebuffAI/codebuff (cli/src: types/chat.ts, project-files.ts and utils/run-state-storage.ts, autumn
// 2026; utils/send-message-helpers.ts, message-history.ts and bash-messages.ts, which make messages) and a reader of both files
// (kenn-io/agentsview). Layout and counting: docs/formats/codebuff.md.
//
// Identity: a chat is a run with one conversation; its id is the name of its directory, the time at which it began. Messages are identified by
// their ids, most of which hold the time in milliseconds.
//
// Usage: an answer states the credits that it and its sub-agents cost, which are no money. Tokens are stated nowhere, and the model is chosen by
// the service.
package codebuff

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return codebuff{} }

type codebuff struct{}

var (
	_ format.Placed     = codebuff{}
	_ format.Resolver   = codebuff{}
	_ format.Withholder = codebuff{}
)

// Name returns "codebuff".
func (codebuff) Name() string { return "codebuff" }

// Version counts changes of what Parse yields.
func (codebuff) Version() int { return 3 }

// The roles of the files.
const (
	roleChat  = "chat"  // chat-messages.json
	roleState = "state" // run-state.json
)

// The ranks of what files state about a run.
const (
	rankChat  = iota // the project is only the name of its directory
	rankState        // its path
)

// Places returns where the program keeps its chats, the same on every system.
func (codebuff) Places() []format.Place {
	return []format.Place{{Name: "codebuff", Path: "~/.config/manicode/" + projectsDir, Deletes: "chats that are deleted"}}
}

// Parse yields the records of one file.
func (codebuff) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		l := locate(in.Path)
		p := &parser{location: l, Rows: format.Rows{Sink: format.Sink{Yield: yield}, AppendText: appendValue}}
		p.Session = l.chat
		switch in.Role {
		case roleChat:
			p.chat(in.Reader)
		case roleState:
			p.state(in.Reader)
		}
	}
}

// Resolve sets the fields of a conversation from the state of its run.
func (codebuff) Resolve(f *transcript.Family) { format.InheritRun(f) }
