package format

import (
	"io"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Rows is a Sink for JSON objects that belong to one session after another, such as the rows of a split database. A session is a run with
// one conversation.
type Rows struct {
	Sink
	Lend       Lender
	AppendText func(dst []byte, v jsontext.Value) []byte // the text of a value

	Session string          // id of the current session
	Begun   bool            // its conversation was yielded
	Named   bool            // its run was yielded as named
	Titled  bool            // it has a title, or its first prompt
	Row     jsontext.Object // parts are located in it
}

// EachRow calls row for each object of a file. It takes back what was lent for the one before.
func (r *Rows) EachRow(file io.Reader, row func(jsontext.Value)) {
	for o := range r.Each(jsontext.Objects(file, "", r.SessionProblem)) {
		r.Row = o
		r.Lend.Reset()
		row(o.Value)
	}
}

// Within makes a piece of the current row the one whose parts are located, while f runs. It takes back what was lent for the one before.
func (r *Rows) Within(piece jsontext.Value, f func(jsontext.Value)) {
	outer := r.Row
	r.Row = jsontext.Object{Origin: jsontext.OriginIn(outer.Origin, outer.Value, piece), Value: piece}
	r.Lend.Reset()
	f(piece)
	r.Row = outer
}

// SessionProblem yields a problem of the current session.
func (r *Rows) SessionProblem(p *transcript.Problem) {
	p.Run = r.Session
	r.Emit(p)
}

// NoSession yields a problem of a row that names no session.
func (r *Rows) NoSession() {
	r.SessionProblem(&transcript.Problem{Kind: "no session", Reason: "the row names no session", Origin: r.Row.Origin})
}

// Begin makes a session the current one, and reports whether another one was.
func (r *Rows) Begin(session string) bool {
	if session == r.Session {
		return false
	}
	r.Session, r.Begun, r.Named, r.Titled = session, false, false, false
	return true
}

// NameRun yields the session as a run that is only named here.
func (r *Rows) NameRun() {
	if !r.Begun && !r.Named {
		r.Named = true
		r.Emit(&transcript.Run{ID: r.Session, Named: true})
	}
}

// TitleFrom titles the session after its first prompt, unless it has a title. rank is that of what the original states of the session, or
// PromptRank if its title is in another one.
func (r *Rows) TitleFrom(prompt string, rank int) {
	if title := Title(prompt); title != "" && !r.Titled {
		r.Titled = true
		r.Emit(&transcript.Run{ID: r.Session, Named: !r.Begun, Rank: rank, Title: title})
	}
}

// Part returns the part for a value that has its own bytes in the row.
func (r *Rows) Part(v jsontext.Value) transcript.Part {
	return jsontext.PartIn(r.Row.Value, v, r.Lend.Text(func(dst []byte) []byte { return r.AppendText(dst, v) }))
}

// Event returns an event for a value that has its own bytes in the row. It is valid until the next row.
func (r *Rows) Event(kind transcript.Kind, role, typ string, v jsontext.Value) *transcript.Event {
	e := r.Lend.Event(transcript.Event{Kind: kind, Role: role, Type: typ, Origin: r.Row.Origin})
	e.Parts[0] = r.Part(v)
	return e
}

// Uncounted yields the row as an event that does not count.
func (r *Rows) Uncounted(kind transcript.Kind, typ string, at transcript.Time) {
	e := r.Event(kind, "", typ, r.Row.Value)
	e.Run, e.Verdict, e.Time = r.Session, transcript.Uncounted, at
	r.Emit(e)
}
