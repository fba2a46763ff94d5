// Package kiro reads the conversations of Kiro, AWS's agent, and of Amazon Q Developer CLI, as its command line was called before: the
// database data.sqlite3, the sessions below ~/.kiro/sessions, those of early versions of the editor in its extension's storage, and
// conversations that were saved to a file.
//
// Producer: checked in November 2026 against the conversation, the messages, the database and the migrations of Amazon Q Developer CLI from
// early 2025 on, the session files and the event log of Kiro CLI 1 and 2, and some dozen readers of these files with their test data. The
// sources of the editor, and of the engine that it shares with Kiro CLI 3, are closed. Layout and counting: docs/formats/kiro.md.
//
// Identity: a conversation, session or, in the files of the editor's first versions, execution is a run with one conversation, identified by
// its id. The command line copies a conversation from its database into a session file under the same id, with the ids of answers and calls
// and the times of prompts: by these it counts once. Rows that the program drops (after a compaction, after a tangent) still count, in the
// versions that had them.
//
// Usage: the service counts tokens, and tells the program only credits, which are no money. Token numbers are there, and 0: they count where
// they are more.
package kiro

import (
	"cmp"
	"iter"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return kiro{} }

type kiro struct{}

var (
	_ format.Placed        = kiro{}
	_ format.Splitter      = kiro{}
	_ format.UsageResolver = kiro{}
	_ format.Withholder    = kiro{}
)

// Name returns "kiro".
func (kiro) Name() string { return "kiro" }

// Version counts changes of what Parse yields.
func (kiro) Version() int { return 4 }

// The roles of the files.
const (
	roleDatabase  = "database"
	roleRows      = "rows"      // of one conversation, from the database
	roleSaved     = "saved"     // a conversation that the user saved
	roleExported  = "exported"  // a session that the user saved
	roleLog       = "log"       // sessions/cli/<id>.jsonl
	roleSession   = "session"   // sessions/cli/<id>.json
	roleMessages  = "messages"  // sessions/<workspace>/<id>/messages.jsonl
	roleMeta      = "meta"      // sessions/<workspace>/<id>/session.json
	roleWorkspace = "workspace" // workspace-sessions/<directory>/<id>.json, of early versions of the editor
	roleList      = "list"      // of these
	roleExecution = "execution" // what was done after one of their prompts
	roleChat      = "chat"      // the same, of the first versions
	roleRequests  = "requests"  // the editor's log of requests, without sessions
)

// Places returns where the programs keep conversations on Linux, macOS and Windows.
func (kiro) Places() []format.Place {
	const deletes = "conversations that are deleted"
	kiro := format.Place{Name: "kiro", Deletes: deletes}
	all := kiro.At("~/.kiro/"+sessionsDir, "$KIRO_HOME/"+sessionsDir)
	for _, home := range format.ConfigHomes {
		all = append(all, kiro.At(home+"/Kiro/User/globalStorage/"+editorDir)...)
	}
	all = append(all, kiro.At("~/.kiro-server/data/User/globalStorage/"+editorDir)...)
	database := format.Place{Name: "kiro", Holds: databaseName, Deletes: deletes}
	all = append(all, database.At(dataHomes("kiro-cli")...)...)
	database.Name, database.Deletes = "amazon-q", "the conversation of a directory, when another begins there"
	return append(all, database.At(dataHomes("amazon-q")...)...)
}

// dataHomes returns the paths of a program's data directory.
func dataHomes(name string) (all []string) {
	for _, home := range []string{"~/.local/share", "$XDG_DATA_HOME", "~/Library/Application Support", "~/AppData/Local", "$LOCALAPPDATA", "~/AppData/Roaming"} {
		all = append(all, home+"/"+name)
	}
	return all
}

// Parse yields the records of one file.
func (kiro) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{Sink: format.Sink{Yield: yield}, in: in, tools: map[string]string{}, seen: map[string]bool{}, said: map[string]int{}}
		switch in.Role {
		case roleRows:
			p.rows()
		case roleSaved:
			p.saved()
		case roleExported:
			p.exported()
		case roleLog:
			p.log()
		case roleSession:
			p.session()
		case roleMessages:
			p.messages()
		case roleMeta:
			p.meta()
		case roleWorkspace:
			p.workspace()
		case roleList:
			p.list()
		case roleExecution:
			p.execution()
		case roleChat:
			p.chat()
		case roleRequests:
			p.requests()
		}
	}
}

// The conversations of a run: almost always one.
const conversation = "main"

// The order of the originals of a conversation. Before what the program still has comes what was saved.
const (
	orderSaved     = "1"
	orderRows      = "2"
	orderLog       = "3"
	orderWorkspace = "4"
	orderExecution = "5"
	orderMessages  = "6"
)

// The ranks: of metadata, and of an execution, whose prompt is between what was said before and after.
const (
	rankSession   = 1
	rankExecution = 1
)

// parser is one parse of one file.
type parser struct {
	format.Sink
	in    format.Input
	run   string
	main  string // conversation that events belong to
	conv  transcript.Conversation
	open  bool // the conversation was emitted
	named bool // the run was emitted, as named
	file  int64

	base   jsontext.Value // line, or element of a document, whose bytes values are located in
	origin transcript.Origin
	tools  map[string]string // names, by call
	seen   map[string]bool   // ids of events
	said   map[string]int    // texts without an id so far
	calls  int               // calls without an id so far
	lend   format.Lender
}

// problem reports content that could not be read.
func (p *parser) problem(pr *transcript.Problem) {
	pr.Run = p.run
	p.Emit(pr)
}

// begin sets the run and its conversation.
func (p *parser) begin(run, order string) {
	p.run, p.main, p.open, p.named = run, cmp.Or(p.main, conversation), false, false
	clear(p.seen)
	p.conv = transcript.Conversation{ID: p.main, Run: run, Shared: order != "", Order: order}
}

// at makes an element of a document the base.
func (p *parser) at(v jsontext.Value) {
	p.lend.Reset()
	p.base, p.origin = v, transcript.Origin{Offset: p.file + v.Offset(), Length: int64(v.Len())}
}

// emitConversation yields the run with its conversation: before the first event, and at the end with what is known by then.
func (p *parser) emitConversation() {
	c := p.conv
	if p.main == conversation {
		p.Emit(&transcript.Run{ID: p.run, Title: c.Title, Project: c.Project, Model: c.Model, Agent: c.Agent, Started: c.Started, Ended: c.Ended, Child: c.Child})
	}
	p.open = true
	p.Emit(&c)
}

// end yields what is known of the conversation by now. If nobody has said anything, its run is only named: that cannot be taken back.
func (p *parser) end() {
	switch {
	case p.Done() || p.main == "":
	case p.open:
		p.emitConversation()
	default:
		p.nameRun()
	}
}

// nameRun yields the run as one that is only named here.
func (p *parser) nameRun() {
	if !p.named {
		p.named = true
		p.Emit(&transcript.Run{ID: p.run, Named: true})
	}
}

// event returns an event of the conversation for a value in the base, "" for all of it.
func (p *parser) event(kind transcript.Kind, role, typ, id string, v jsontext.Value) *transcript.Event {
	e := p.lend.Event(transcript.Event{Conversation: p.main, Run: p.run, ID: id, Kind: kind, Role: role, Type: typ, Origin: p.origin})
	e.Parts[0] = p.part(v)
	return e
}

func (p *parser) part(v jsontext.Value) transcript.Part {
	return p.lend.Part(p.base, v, func(dst []byte, v jsontext.Value) []byte { return appendText(dst, p.in.Role, v) })
}

// say emits an event of the conversation, which counts once in this original.
func (p *parser) say(e *transcript.Event) {
	if !p.open {
		p.emitConversation()
	}
	switch {
	case e.ID == "":
	case p.seen[e.ID]:
		e.ID, e.Global, e.Home, e.Verdict = "", false, false, transcript.DuplicateOf
	default:
		p.seen[e.ID] = true
	}
	format.Extend(&p.conv.Started, &p.conv.Ended, e.Time)
	p.Emit(e)
}

// aside emits a row that does not count: of the conversation if that has events in this original, else of the run.
func (p *parser) aside(kind transcript.Kind, typ string, at transcript.Time, v jsontext.Value, attributes transcript.Attributes) {
	e := p.event(kind, "", typ, "", v)
	e.Verdict, e.Time, e.Attributes = transcript.Uncounted, at, attributes
	if p.open {
		e.Run = ""
	} else {
		e.Conversation = ""
	}
	p.Emit(e)
}

// comesFrom says that another run started this one, or was taken back to an earlier prompt in it.
func (p *parser) comesFrom(parent string, rewound bool) {
	switch {
	case parent == "" || parent == p.run:
	case rewound:
		p.linked("fork", parent)
	default:
		p.linked("parent", parent)
		p.Hint(p.run, hintChild, "yes", p.origin)
	}
}

// linked yields a link from another run to this one.
func (p *parser) linked(kind, from string) {
	p.Emit(&transcript.Run{ID: from, Named: true})
	p.Emit(&transcript.Link{Kind: kind, From: transcript.RunEnd(from), To: transcript.RunEnd(p.run), Origin: p.origin})
}

// titled sets the title of the conversation to that of its first prompt.
func (p *parser) titled(prompt jsontext.Value) {
	if p.conv.Title == "" {
		p.conv.Title = strings.Clone(format.Title(prompt.Str()))
	}
}
