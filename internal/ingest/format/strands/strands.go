// Package strands reads the sessions that the Strands Agents SDK for Python keeps in files: a directory session_<id>, in it one for each agent,
// and in that a file for each message.
//
// Producer: checked in December 2026 against the SDK's FileSessionManager, from the first one of July 2025 to that of autumn 2026, which is
// deprecated there; its types of sessions, messages and contents, and what its models report as used. Layout and counting: docs/formats/strands.md.
//
// Identity: a session is a run. Its name is the program's, and unless that is a UUID it is only unique in the directory in which the sessions are:
// then it is known by the time of its creation, too, which is in session.json. An agent is a conversation, whose messages are numbered files. A
// message is known by the id that the SDK gives it, which it keeps when it is taken into another session; before there were ids by its time.
//
// Usage: later versions state with an answer what its request used. It is known by the message.
package strands

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return strands{} }

type strands struct{}

var (
	_ format.Placed   = strands{}
	_ format.Resolver = strands{}
)

// Name returns "strands".
func (strands) Name() string { return "strands" }

// Version counts changes of what Parse yields.
func (strands) Version() int { return 1 }

// The roles of the files.
const (
	roleMessage = "message"
	roleAgent   = "agent"   // state of an agent
	roleSession = "session" // of the session itself
	roleMulti   = "multi"   // state of a graph or swarm of agents
)

// Places returns where the SDK keeps sessions unless a program says otherwise: in the home directory, and before in the one for temporary files.
func (strands) Places() []format.Place {
	place := format.Place{Name: "strands", Deletes: "sessions that the program deletes"}
	return place.At("~/.strands/sessions", "$TMPDIR/strands/sessions", "$TEMP/strands/sessions")
}

// Parse yields the records of one file.
func (strands) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{in: in, at: locate(in.Path), Rows: format.Rows{Sink: format.Sink{Yield: yield}, AppendText: appendValue}}
		p.Session = p.at.session
		doc, origin := p.Document(jsontext.ReaderWithoutNaN(in.Reader), p.problem)
		if p.Done() {
			return
		}
		p.Row = jsontext.Object{Origin: origin, Value: doc}
		switch {
		case !doc.Exists():
		case !doc.IsObject():
			p.problem(&transcript.Problem{Kind: "not an object", Reason: "the file holds no JSON object", Origin: origin})
		case in.Role == roleMessage:
			p.message(doc)
		default:
			p.state(doc)
		}
	}
}

// parser is one parse of one file.
type parser struct {
	in format.Input
	at location
	format.Rows
}

// run returns the run that the path names.
func (p *parser) run() *transcript.Run {
	return &transcript.Run{ID: p.Session, Local: !format.IsUUID(p.Session)}
}

// problem yields a problem of the run.
func (p *parser) problem(problem *transcript.Problem) {
	run := p.run()
	run.Named = true
	p.Emit(run)
	p.Problem(p.Session, problem)
}

// state yields a file beside messages: only the session's own says when it was created.
func (p *parser) state(v jsontext.Value) {
	run, began := p.run(), v.Get("created_at")
	run.Named = true
	if p.in.Role == roleSession {
		run.Started, run.Ended = began.Time(), v.Get("updated_at").Time()
		if run.Local {
			run.Anchor = began.Str()
		}
		run.Attributes.Set("type", v.Get("session_type").Str())
	}
	p.Emit(run)
	p.Uncounted(transcript.KindLifecycle, p.in.Role, began.Time())
}

// Resolve sets the fields of a conversation from what is known of its run.
func (strands) Resolve(f *transcript.Family) { format.InheritRun(f) }
