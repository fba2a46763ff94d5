// Package openwebui reads the chats of Open WebUI: the table chat of its database webui.db, with the messages that only the table
// chat_message has, and its exports, chat-export-<time>.json, each one JSON array of the same chats.
//
// Producer: checked in December 2026 against its models of chats, messages and shared chats, their migrations from Ollama WebUI on, the
// streaming middleware that writes answers, the sums of usage, the pages that export and import, and the desktop application. Compared with
// the readers of hstry and an analyzer of the database. Layout and counting: docs/formats/open-webui.md.
//
// Identity: a chat is a run with one conversation, called by its id, which is the same in the database and in exports. A message is
// identified by its UUID, which clones, forks and imports of a chat keep: it counts once. Pieces of an answer are identified by the message
// and their call, or their number among pieces of their kind, since the producer keeps an answer in one of two forms: a list of items
// (output), and before 2026 one text in which HTML elements hold reasoning and calls.
//
// Order: messages come as they are in the file, which is the order in which they were added. All branches count; those that do not lead to the
// message shown last are marked.
//
// Usage: a message states that of its requests, in the form of its provider and, since 2026, in one of the producer's own, which sums the
// requests of an answer. The table chat_message has it, too, but adds up states of one answer, so it only counts for messages that only that table has.
package openwebui

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return openWebUI{} }

type openWebUI struct{}

var (
	_ format.Placed     = openWebUI{}
	_ format.Splitter   = openWebUI{}
	_ format.Withholder = openWebUI{}
)

// Name returns "open-webui".
func (openWebUI) Name() string { return "open-webui" }

// Version counts changes of what Parse yields.
func (openWebUI) Version() int { return 2 }

// The roles of the files.
const (
	roleDatabase = "database"
	roleRows     = "rows"   // the rows of one chat
	roleExport   = "export" // a list of chats
)

// Places returns the directory of the desktop application on all systems, the one that the documentation of the producer proposes, and the one
// that its variable names. Installations by pip and in containers have no fixed place.
func (openWebUI) Places() []format.Place {
	p := format.Place{Name: "open-webui", Holds: databaseName, Deletes: "chats and messages that are deleted"}
	all := p.At("~/.open-webui", "~/.open-webui/data", "$DATA_DIR")
	for _, home := range format.ConfigHomes {
		all = append(all, p.At(home+"/"+programDir+"/data")...)
	}
	return all
}

// Parse yields the records of one file.
func (openWebUI) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{Sink: format.Sink{Yield: yield}, calls: map[string]string{}, indexOf: map[string]int{}}
		problem := func(pr *transcript.Problem) {
			pr.Run = p.id
			p.Emit(pr)
		}
		objects := jsontext.Elements
		switch in.Role {
		case roleExport:
		case roleRows:
			objects = rows
		default:
			return // SQLite could not read the database; each scan reports that
		}
		for o := range p.Each(objects(in.Reader, problem)) {
			p.at, p.base = o.Origin, o.Value
			p.lend.Reset()
			p.object(o.Value)
		}
		p.nameRun()
	}
}

// parser parses one file.
type parser struct {
	format.Sink
	lend format.Lender

	at   transcript.Origin // of base
	base jsontext.Value    // the row or element

	// state of the current chat
	id      string
	order   string
	named   *transcript.Run // the run, as long as there are no messages
	began   transcript.Time // when a copy of another chat was made
	owner   string
	nodes   []node
	indexOf map[string]int    // in nodes, by the ids of messages
	calls   map[string]string // the message that has a call, by the call's id
	before  string            // id of the previous message
}

// origin returns the place of a value in the row or element.
func (p *parser) origin(v jsontext.Value) transcript.Origin {
	return jsontext.OriginIn(p.at, p.base, v)
}

// object yields the records of a row or an element.
func (p *parser) object(v jsontext.Value) {
	switch v.Get("table").Word() {
	case tableMessage:
		p.messageRow(v)
	case tableSummary:
		p.summaryRow(v)
	default:
		p.nameRun()
		p.chat(v)
	}
}
