// Package copilotide reads the chats of GitHub Copilot in Xcode and in Eclipse: in Xcode a database for each workspace, in Eclipse a document
// for each conversation.
//
// Producer: checked in December 2026 against the source of both extensions (what they keep of a turn, from the first public versions to those
// of autumn 2026, and when they write it), and against readers of these files: Microsoft's AI Engineering Coach and Xport for Xcode, a token
// tracker for Eclipse. Both extensions keep what Copilot's language server tells them, so turns, rounds and calls have the same members. Layout
// and counting: docs/formats/copilot-ide.md.
//
// Identity: a conversation is a run with one conversation. Xcode's has an id for ever. Eclipse gives one another id, and another file, when
// Copilot has answered for the first time and each time it is taken up again; it is identified by the time of its creation, which stays, to
// the microsecond. Turns have ids, and what is in a turn its place there.
//
// Usage: neither keeps tokens, only by what a request of the model is multiplied.
package copilotide

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return copilotIDE{} }

type copilotIDE struct{}

var (
	_ format.Placed     = copilotIDE{}
	_ format.Resolver   = copilotIDE{}
	_ format.Splitter   = copilotIDE{}
	_ format.Withholder = copilotIDE{}
)

// Name returns "copilot-ide".
func (copilotIDE) Name() string { return "copilot-ide" }

// Version counts changes of what Parse yields.
func (copilotIDE) Version() int { return 2 }

// The roles of the files.
const (
	roleDatabase = "database"     // of a workspace in Xcode
	roleRows     = "rows"         // of one conversation in it
	roleDocument = "conversation" // in Eclipse
)

// Places returns where Xcode's extension keeps its databases, and Eclipse's its documents: in the workspace, which is here where Eclipse
// proposes it.
func (copilotIDE) Places() []format.Place {
	xcode := format.Place{Name: "copilot-xcode", Deletes: "chats and turns that are deleted, and a prompt that is edited with all behind it"}
	eclipse := format.Place{Name: "copilot-eclipse", Deletes: "chats that are deleted, and all but the last 256"}
	return append(xcode.At("~/.config/"+configName+"/"+xcodeName, "$XDG_CONFIG_HOME/"+configName+"/"+xcodeName),
		eclipse.At("~/eclipse-workspace/"+pluginDir+"/"+chatsName, "~/workspace/"+pluginDir+"/"+chatsName)...)
}

// Parse yields the records of one file.
func (copilotIDE) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{in: in, Rows: format.Rows{Sink: format.Sink{Yield: yield}, AppendText: appendValue}}
		switch in.Role {
		case roleRows:
			p.EachRow(in.Reader, p.row)
			p.emitModel()
		case roleDocument:
			p.document()
		}
	}
}

// parser is one parse of one file.
type parser struct {
	in format.Input
	format.Rows

	run   transcript.Run // what identifies the current one
	seen  map[string]int // turns, by id and role
	calls int            // so far without an id
	model string         // of the last answer that states one
	asked string         // the model of the last prompt that states one
	mode  string         // of the last prompt that states one
}

// conversation is the id of the only conversation of a run.
const conversation = "main"

// start forgets what is known of the run before.
func (p *parser) start() {
	p.run, p.seen, p.calls, p.model, p.asked, p.mode = transcript.Run{ID: p.Session}, map[string]int{}, 0, "", "", ""
}

// titleFrom titles the run after its first prompt, unless it has a title.
func (p *parser) titleFrom(prompt string, at transcript.Time) {
	if title := format.Title(prompt); title != "" && !p.Titled {
		p.Titled = true
		run := p.run
		run.Rank, run.Title = format.PromptRank(at), title
		p.Emit(&run)
	}
}

// Resolve sets the fields of a conversation from what is known of its run.
func (copilotIDE) Resolve(f *transcript.Family) { format.InheritRun(f) }

// Text returns the text of one part of an event.
func (copilotIDE) Text(role string, raw []byte, _ int) (string, error) {
	return format.TextOf(role, raw, jsontext.Appended(appendValue))
}
