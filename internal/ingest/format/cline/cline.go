// Package cline reads what Cline, Roo Code and Kilo Code (up to 5) keep in the storage of an editor: one folder per
// task, with ui_messages.json (what the user saw), api_conversation_history.json (what the model saw) and metadata
// files; and the sessions of Cline 4.1 and later, <session>/<session>.messages.json.
//
// Producers: Cline 3.0 to 4.1, Roo Code 3.0 to 3.53, Kilo Code 4 and 5, checked in November 2026. Layout and counting:
// docs/formats/cline.md.
//
// Identity: a task, identified by the name of its folder, or a session is a run with one conversation. Of a task, the
// messages that the user saw count; those that the model saw repeat most of them and are uncounted rows, for search. All
// files are rewritten as a whole; the newest state counts. Requests that a rewind removed were paid for and stay.
//
// Where readers of these files disagree: tokensIn is the uncached part in Cline, and the whole prompt in Roo and Kilo
// since November 2025; a number smaller than its cached parts can only be the former. The totals in a task's metadata
// repeat its requests.
package cline

import (
	"iter"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
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
func (cline) Version() int { return 12 }

// The roles of the files.
const (
	roleUI       = "ui-messages"
	roleAPI      = "api-history"
	roleMetadata = "task-metadata"
	roleHistory  = "history-item"
	roleSession  = "session"  // <session>.messages.json
	roleManifest = "manifest" // <session>.json

	roleCompaction = "compaction" // <session>.compaction.json

	roleResult = "tool-result"
)

// Parse yields the records of one file.
func (cline) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{out: format.Sink{Yield: yield}, in: in, keys: map[string]int{}, headings: map[string]bool{}, calls: map[string][]transcript.Call{}}
		p.file = taskPath(in.Path)
		p.task, p.unnamed = taskOf(p.file)
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
		case roleCompaction:
			p.compaction()
		case roleResult:
			p.savedResult()
		}
	}
}

// Text returns the text of one part of an event.
func (cline) Text(role string, raw []byte, part int) (string, error) {
	switch role {
	case roleUI:
		return format.TextOf(role, raw, uiText)
	case roleResult:
		return format.LooseText(raw), nil
	}
	return format.TextOf(role, raw, blockText)
}

// parser is one parse of one file.
type parser struct {
	out format.Sink
	in  format.Input

	file         string // path with the task's folder
	task         string // native id
	suffix       string // of the conversation's id, after the task's
	unnamed      bool   // the folder's name is unknown, so task is not unique
	hasTitle     bool
	model        string
	keys         map[string]int               // how many requests have had a usage key
	headings     map[string]bool              // those above a directory that was told
	calls        map[string][]transcript.Call // open calls, by the kind of message (or the call id) that brings the result
	openRequests []message                    // requests without an api_req_finished so far (2024)
	count        int                          // calls without an id so far
	docOrigin    transcript.Origin            // of doc
	doc          jsontext.Value               // the document that all values are parts of
}

func (p *parser) emit(r transcript.Record) {
	if run, ok := r.(*transcript.Run); ok && p.unnamed && run.ID == p.task {
		if run.Local = true; run.Started.Valid {
			run.Anchor = strconv.FormatInt(run.Started.UnixMicro, 10) + " " + run.Title
		}
	}
	p.out.Emit(r)
}

// noMessages reports a document without a list of messages.
func (p *parser) noMessages(kind string) {
	p.emit(&transcript.Problem{Run: p.task, Kind: kind, Reason: "no list of messages", Origin: p.docOrigin})
}

// origin returns the place of a value in the file.
func (p *parser) origin(v jsontext.Value) transcript.Origin {
	return jsontext.OriginIn(p.docOrigin, p.doc, v)
}

// document reads the file as one JSON value and reports whether it is one.
func (p *parser) document() bool {
	p.doc, p.docOrigin = p.out.Document(p.in.Reader, func(pr *transcript.Problem) { p.out.Problem(p.task, pr) })
	return p.doc.Exists()
}

// emitTask yields fields of the task, for its run and its conversation alike.
func (p *parser) emitTask(c transcript.Conversation) {
	p.emit(&transcript.Run{
		ID: p.task, Rank: 1, Title: c.Title, Model: c.Model, Project: c.Project, Agent: c.Agent, Started: c.Started, Child: c.Child,
	})
	c.ID, c.Run = p.task+p.suffix, p.task
	p.emit(&c)
}

// event returns an uncounted event.
func (p *parser) event(v jsontext.Value, kind transcript.Kind, role, typ string, at transcript.Time) *transcript.Event {
	return &transcript.Event{
		Conversation: p.task + p.suffix, Verdict: transcript.Uncounted, Kind: kind, Role: role, Type: typ, Time: at, Origin: p.origin(v),
	}
}
