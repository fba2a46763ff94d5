// Package llmlogs reads logs.db of llm, Simon Willison's command line program for prompts: the tables conversations and
// responses (0.5 to 0.31), the content-addressed threads, turns, messages and parts that replaced them (from 0.32), and, of
// the months before, the table logs.
//
// Producer: checked in November 2026 against llm's migrations m001 to m031, its message store and its documentation on logging.
// Layout and counting: docs/formats/llm-logs.md.
//
// Identity: a conversation of llm is a run with one conversation; its thread has the same id. A message is identified by
// its hash, which covers all messages before it, too: if several threads have it, it counts in one.
//
// A conversation that was continued after the new tables came is in both kinds: the new ones repeat the earlier messages, with hashes
// of their own. What responses has counts; in the thread the same is copied history. Input excludes cached tokens, which each
// kind of provider states differently.
package llmlogs

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return llmlogs{} }

type llmlogs struct{}

var (
	_ format.Placed     = llmlogs{}
	_ format.Splitter   = llmlogs{}
	_ format.Withholder = llmlogs{}
	_ format.Resolver   = llmlogs{}
)

// Name returns "llm-logs".
func (llmlogs) Name() string { return "llm-logs" }

// Version counts changes of what Parse yields.
func (llmlogs) Version() int { return 5 }

// The roles of the files.
const (
	roleDatabase   = "database"
	roleRows       = "rows" // rows of one conversation, in the order in which they were written
	roleAttachment = "held" // a fragment or an attachment
)

// programDir is llm's directory in a system's configuration directory. It also holds API keys.
const programDir = "io.datasette.llm"

// Places returns where llm keeps its database on Linux, macOS and Windows.
func (llmlogs) Places() []format.Place {
	return format.Place{Name: "llm", Holds: databaseName}.At("~/.config/"+programDir, "$XDG_CONFIG_HOME/"+programDir,
		"~/Library/Application Support/"+programDir, "~/AppData/Roaming/"+programDir, "$APPDATA/"+programDir, "$LLM_USER_PATH")
}

// Parse yields the records of one file.
func (llmlogs) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		if in.Role == roleDatabase {
			return // SQLite could not read it; each scan reports that
		}
		p := &parser{in: in, Rows: format.Rows{Sink: format.Sink{Yield: yield}, AppendText: appendValue}}
		p.EachRow(in.Reader, p.row)
	}
}

// Text returns the text of one part of an event.
func (llmlogs) Text(role string, raw []byte, _ int) (string, error) {
	return format.TextOf(role, raw, jsontext.Appended(appendValue))
}

// parser is one parse of one file.
type parser struct {
	in          format.Input
	format.Rows // Session is that of the conversation emitted last

	model     string              // the model of the last answer in a thread
	calls     int                 // calls without an id so far
	openCalls map[string][]string // of these, those without a result, by tool
	logsRun   string              // run of the rows of the table logs
}

func (p *parser) row(v jsontext.Value) {
	switch v.Get("table").Word() {
	case tableResponse:
		p.response(v)
	case tableThread:
		p.thread(v)
	case tableMessage, tableLost:
		p.message(v)
	case tableTurn:
		p.turn(v)
	case tableLog:
		p.log(v)
	case tableFragment, tableAttachment:
		p.attachment(v)
	default:
		p.uncountedRow(p.idOf(v, "thread", "conversation_id", "id"), transcript.KindUnknown, v)
	}
}

// conversation is the id of the only conversation in a run.
const conversation = "main"

// The order of the originals of a conversation that is in both kinds of tables.
const (
	orderResponses = "1"
	orderThread    = "2"
)

// emitRun yields run and conversation, once; conv has the known fields.
func (p *parser) emitRun(session, order string, conv transcript.Conversation) {
	if session == p.Session {
		return
	}
	p.Session = session
	p.Emit(&transcript.Run{ID: session, Title: conv.Title, Model: conv.Model, Started: conv.Started})
	conv.ID, conv.Run, conv.Shared, conv.Order = conversation, session, true, order
	p.Emit(&conv)
}

// idOf returns the first id that a row has, else that in the original's path.
func (p *parser) idOf(v jsontext.Value, keys ...string) string {
	for _, key := range keys {
		if s := v.Get(key).Text(); s != "" {
			return s
		}
	}
	return sessionOf(p.in.Path)
}

// event returns a counted event of the conversation emitted last.
func (p *parser) event(kind transcript.Kind, role, id string, v jsontext.Value) *transcript.Event {
	e := p.Lend.Event(transcript.Event{Conversation: conversation, Run: p.Session, ID: id, Verdict: transcript.Counted, Kind: kind, Role: role, Origin: p.Row.Origin})
	e.Parts[0] = p.Part(v)
	return e
}

// uncountedRow yields an uncounted row of a run.
func (p *parser) uncountedRow(session string, kind transcript.Kind, v jsontext.Value) *transcript.Event {
	if p.Session != session {
		p.Emit(&transcript.Run{ID: session, Named: true})
	}
	e := &transcript.Event{Run: session, Verdict: transcript.Uncounted, Kind: kind, Type: v.Get("table").Str(), Origin: p.Row.Origin, Parts: []transcript.Part{p.Part(v)}}
	p.Emit(e)
	return e
}

// attachment yields a fragment of a prompt, or an attachment. Search finds it by its text, its path or its URL.
func (p *parser) attachment(v jsontext.Value) {
	p.uncountedRow(sessionOf(p.in.Path), transcript.KindNotice, v)
}
