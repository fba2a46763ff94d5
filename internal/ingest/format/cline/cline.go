// Package cline reads what Cline, Roo Code and Kilo Code (up to 5) leave in the storage of their editors: one folder for
// each task, with ui_messages.json (what the person saw), api_conversation_history.json (what the model saw) and notes
// beside them; and the sessions of Cline 4.1 and later, <session>/<session>.messages.json. Cline 3.0 to 4.1, Roo Code
// 3.0 to 3.53 and Kilo Code 4 and 5 were looked at. Layout and counting: docs/formats/cline.md.
//
// What it promises: a run and a conversation are a task, known by the name of its folder, or a session. Of a task what
// the person saw counts and what the model saw is searched, as uncounted rows, because it says most of it again. All
// files are rewritten whole; the newest state counts. Requests that a rewind took out of it were paid and stay.
//
// Where readers of these files disagree: tokensIn is what was not cached in Cline, and the whole prompt in Roo and
// Kilo since November 2025; a number below its cached parts can only be the former. Totals of a task in its notes
// repeat its requests.
package cline

import (
	"iter"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return cline{} }

type cline struct{}

var (
	_ format.Placed        = cline{}
	_ format.UsageResolver = cline{}
)

// Name returns "cline".
func (cline) Name() string { return "cline" }

// Version counts changes of what Parse yields.
func (cline) Version() int { return 5 }

// The roles of the files.
const (
	roleUI       = "ui-messages"
	roleAPI      = "api-history"
	roleMetadata = "task-metadata"
	roleHistory  = "history-item"
	roleSession  = "session"  // <session>.messages.json
	roleManifest = "manifest" // <session>.json
)

// Parse yields the records of one file.
func (cline) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{out: format.Sink{Yield: yield}, in: in, keys: map[string]bool{}, calls: map[string][]transcript.Call{}}
		p.file = placed(in.Path)
		p.task, p.nameless = taskOf(p.file)
		switch in.Role {
		case roleUI:
			p.ui()
		case roleAPI:
			p.api()
		case roleMetadata:
			p.metadata()
		case roleHistory:
			p.history()
		case roleSession:
			p.session()
		case roleManifest:
			p.manifest()
		}
	}
}

// Text gives the text of one part of an event.
func (cline) Text(role string, raw []byte, part int) (string, error) {
	if role == roleUI {
		return format.TextOf(role, raw, uiText)
	}
	return format.TextOf(role, raw, blockText)
}

// parser is one parse of one file.
type parser struct {
	out format.Sink
	in  format.Input

	file     string // with the folder of its task
	task     string // native id
	suffix   string // of its conversation's
	nameless bool   // that one names nothing elsewhere
	titled   bool
	model    string
	keys     map[string]bool              // of requests so far
	calls    map[string][]transcript.Call // without a result so far, by what gives it
	open     []message                    // requests that did not finish so far
	count    int                          // of calls without an id
	at       transcript.Origin            // of whole
	whole    format.Value                 // the document that values are cut from
}

func (p *parser) emit(r transcript.Record) {
	if run, ok := r.(*transcript.Run); ok && p.nameless && run.ID == p.task {
		if run.Local = true; run.Started.Valid {
			run.Anchor = strconv.FormatInt(run.Started.UnixMicro, 10) + " " + run.Title
		}
	}
	p.out.Emit(r)
}

// problem reports what could not be read.
func (p *parser) problem(kind, reason string, at transcript.Origin) {
	p.emit(&transcript.Problem{Run: p.task, Kind: kind, Reason: reason, Origin: at})
}

// origin is the place of a value in the file.
func (p *parser) origin(v format.Value) transcript.Origin {
	o := p.at
	o.Offset += format.OffsetIn(p.whole, v)
	o.Length = int64(v.Len())
	return o
}

// document reads the file, which is one JSON value; false when it is none or cannot be read.
func (p *parser) document() bool {
	p.whole, p.at = p.out.Document(p.in.Reader, func(pr *transcript.Problem) { p.out.Problem(p.task, pr) })
	return p.whole.Exists()
}

// say states something of the task: of the run and its conversation alike.
func (p *parser) say(c transcript.Conversation) {
	p.emit(&transcript.Run{
		ID: p.task, Rank: 1, Title: c.Title, Model: c.Model, Project: c.Project, Agent: c.Agent, Started: c.Started, Child: c.Child,
	})
	c.ID, c.Run = p.task+p.suffix, p.task
	p.emit(&c)
}

// event is one row, uncounted until told otherwise.
func (p *parser) event(v format.Value, kind transcript.Kind, role, typ string, at transcript.Time) *transcript.Event {
	return &transcript.Event{
		Conversation: p.task + p.suffix, Verdict: transcript.Uncounted, Kind: kind, Role: role, Type: typ, Time: at, Origin: p.origin(v),
	}
}
