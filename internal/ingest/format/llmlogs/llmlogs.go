// Package llmlogs reads logs.db of llm, Simon Willison's program for prompts on the command line: the tables conversations and
// responses (0.5 to 0.31), the content-addressed threads, turns, messages and parts that took over from them (from 0.32), and the
// table logs of the months before. Checked in November 2026 against the program's migrations m001 to m027, its message store and its
// page on logging. Layout and counting: docs/formats/llm-logs.md.
//
// What it promises: a run and a conversation are a conversation of the program, whose thread has the same id. A message is known by
// its hash, which names all that was said before it, too: where several threads have it, it counts in one.
//
// A conversation that went on after the new tables came is in both kinds: the new ones tell again what was said before, with hashes
// of their own. What responses has counts; in the thread the same is copied history. Input is without what came from a cache, as each
// kind of provider states it.
package llmlogs

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return llmlogs{} }

type llmlogs struct{}

var (
	_ format.Placed     = llmlogs{}
	_ format.Splitter   = llmlogs{}
	_ format.Withholder = llmlogs{}
)

// Name returns "llm-logs".
func (llmlogs) Name() string { return "llm-logs" }

// Version counts changes of what Parse yields.
func (llmlogs) Version() int { return 1 }

// The roles of the files.
const (
	roleDatabase = "database"
	roleRows     = "rows" // of one conversation, in the order in which they were written
	roleHeld     = "held" // a fragment or an attachment
)

// programDir is the directory of the program below that of a system, in which its keys lie, too.
const programDir = "io.datasette.llm"

// Places says where the program keeps its database: Linux, macOS, Windows.
func (llmlogs) Places() []format.Place {
	return format.Place{Name: "llm", Holds: databaseName}.At("~/.config/"+programDir, "$XDG_CONFIG_HOME/"+programDir,
		"~/Library/Application Support/"+programDir, "~/AppData/Roaming/"+programDir, "$APPDATA/"+programDir, "$LLM_USER_PATH")
}

// Parse yields the records of one file.
func (llmlogs) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		if in.Role == roleDatabase {
			return // SQLite could not read it, which the scan says as long as it is so
		}
		p := &parser{in: in, Sink: format.Sink{Yield: yield}}
		p.rows()
	}
}

// Text gives the text of one part of an event.
func (llmlogs) Text(role string, raw []byte, _ int) (string, error) {
	return format.TextOf(role, raw, func(v format.Value) string { return string(appendPiece(nil, v)) })
}

// parser is one parse of one file.
type parser struct {
	in format.Input
	format.Sink

	session string              // the conversation that was stated last
	model   string              // that answered in a thread last
	calls   int                 // that have no id
	waiting map[string][]string // of these, those without a result, by tool
	first   string              // what the rows of the oldest table belong to
	at      transcript.Origin   // of whole
	whole   format.Value        // the row that values are cut from
	lend    format.Lender
}

// rows yields the records of exported rows.
func (p *parser) rows() {
	problem := func(pr *transcript.Problem) {
		pr.Run = p.session
		p.Emit(pr)
	}
	for o := range p.Each(format.Objects(p.in.Reader, "", problem)) {
		p.at, p.whole = o.Origin, o.Value
		p.lend.Reset()
		p.row(o.Value)
	}
}

func (p *parser) row(v format.Value) {
	switch v.Get("table").Word() {
	case tableResponse:
		p.response(v)
	case tableThread:
		p.thread(v)
	case tableMessage, tableLost:
		p.message(v)
	case tableTurn:
		p.lone(v)
	case tableLog:
		p.log(v)
	case tableFragment, tableAttachment:
		p.held(v)
	default:
		p.aside(p.named(v, "thread", "conversation_id", "id"), transcript.KindUnknown, v)
	}
}

// conversation is the id of the one conversation that a run has.
const conversation = "main"

// The order of what makes a conversation that is in both kinds of tables.
const (
	orderResponses = "1"
	orderThread    = "2"
)

// state says whose the rows are, once. what is known of the conversation may be said again.
func (p *parser) state(session, order string, is transcript.Conversation) {
	if session == p.session {
		return
	}
	p.session = session
	p.Emit(&transcript.Run{ID: session, Title: is.Title, Model: is.Model, Started: is.Started})
	is.ID, is.Run, is.Shared, is.Order = conversation, session, true, order
	p.Emit(&is)
}

// named is the first id that a row has, else that of the original.
func (p *parser) named(v format.Value, keys ...string) string {
	for _, key := range keys {
		if s := v.Get(key).Text(); s != "" {
			return s
		}
	}
	return sessionOf(p.in.Path)
}

// event is one counted event of the conversation that was stated last.
func (p *parser) event(kind transcript.Kind, role, id string, v format.Value) *transcript.Event {
	e := p.lend.Event(transcript.Event{Conversation: conversation, Run: p.session, ID: id, Verdict: transcript.Counted, Kind: kind, Role: role, Origin: p.at})
	e.Parts[0] = p.part(v)
	return e
}

// part is a piece of a row that has its own bytes.
func (p *parser) part(v format.Value) transcript.Part {
	text := p.lend.Text(func(dst []byte) []byte { return appendPiece(dst, v) })
	return transcript.Part{Text: text, Offset: format.OffsetIn(p.whole, v), Length: int64(v.Len())}
}

// aside is an uncounted row of a run.
func (p *parser) aside(session string, kind transcript.Kind, v format.Value) *transcript.Event {
	if p.session != session {
		p.Emit(&transcript.Run{ID: session, Named: true})
	}
	e := &transcript.Event{Run: session, Verdict: transcript.Uncounted, Kind: kind, Type: v.Get("table").Str(), Origin: p.at, Parts: []transcript.Part{p.part(v)}}
	p.Emit(e)
	return e
}

// held yields a fragment of a prompt, or what was attached to one, which is found by its words, its path or its address.
func (p *parser) held(v format.Value) { p.aside(sessionOf(p.in.Path), transcript.KindNotice, v) }
