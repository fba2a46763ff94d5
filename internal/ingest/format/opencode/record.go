package opencode

import (
	"cmp"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// document reads a file of the tree as one JSON object and reports whether it is one.
func (p *parser) document() bool {
	v, at := p.Document(p.in.Reader, p.problem)
	if v.Exists() && !v.IsObject() {
		p.problem(&transcript.Problem{Kind: "not an object", Reason: "a JSON value of another type", Origin: transcript.Origin{Length: p.in.Size}})
	}
	p.base, p.baseOrigin = v, at
	return v.IsObject()
}

// problem reports content that could not be read, of a file whose run is unknown.
func (p *parser) problem(pr *transcript.Problem) { p.Emit(pr) }

// rows yields the records of exported rows: a session, or a message and its parts.
func (p *parser) rows() {
	for o := range p.Each(jsontext.Objects(p.in.Reader, "", p.problem)) {
		p.baseOrigin, p.base = o.Origin, o.Value
		p.row(o.Value)
	}
	p.finishMessage()
}

// row yields the records of one row of a database.
func (p *parser) row(v jsontext.Value) {
	data := v.Get("data")
	table := v.Get("table").Str()
	switch {
	case table == roleSession, table == tableSession:
		p.session(v)
	case (table == roleMessage || table == rolePart || table == tableMessage) && !data.IsObject():
		p.Emit(&transcript.Problem{Run: v.Get("session_id").Str(), Kind: "bad json", Reason: "data of a row is no JSON object", Origin: p.baseOrigin})
	case table == roleMessage:
		p.finishMessage()
		m := readMessage(data)
		m.id, m.session, m.created = v.Get("id").Text(), v.Get("session_id").Text(), cmp.Or(m.created, v.Get("time_created").MilliTime())
		m.origin = p.baseOrigin
		current := m // a copy that outlives the row
		current.value, current.tokens, current.cost = jsontext.Value{}, m.tokens.Clone(), m.cost.Clone()
		p.current = &current
		p.hasSteps = false
		p.message(m)
	case table == rolePart:
		t := readPart(data)
		t.id, t.msg, t.session = v.Get("id").Text(), v.Get("message_id").Text(), v.Get("session_id").Text()
		t.at = cmp.Or(t.at, v.Get("time_created").MilliTime())
		if p.current != nil && p.current.id == t.msg {
			t.message = p.current
		}
		p.part(t)
	case table == tableMessage:
		p.finishMessage()
		p.messageV2(v)
	default:
		e := p.event(transcript.KindUnknown, "", v.Get("session_id").Text(), "")
		e.Parts = []transcript.Part{{Text: pieceText(v)}}
		p.Emit(e)
	}
}

// finishMessage yields the message's own tokens if none of its steps states any.
func (p *parser) finishMessage() {
	if p.current != nil && !p.hasSteps {
		p.messageUsage(*p.current)
	}
	p.current = nil
}

// runID returns the id by which a record refers to its run: the session's, or the message's for parts that do not name their
// session.
func runID(session, msg string) string {
	if session != "" {
		return session
	}
	return "message " + msg
}

// conversation is the id of the only conversation in a session.
const conversation = "main"

// nameRun yields a run that is only named here, once, and returns its id.
func (p *parser) nameRun(session, msg string) string {
	id := runID(session, msg)
	if p.runNamed == nil {
		p.runNamed = map[string]bool{}
	}
	if !p.runNamed[id] {
		p.runNamed[id] = true
		r := &transcript.Run{ID: id, Local: true, Named: true}
		if session != "" {
			r.Anchor, r.Anchored = session, true
		}
		p.Emit(r)
		p.Emit(&transcript.Conversation{ID: conversation, Run: id, Shared: true, Rank: p.rank, Order: p.order(msg)})
	}
	return id
}

// order sorts the originals of a session: the session itself, then its messages with their parts. Ids increase with time.
func (p *parser) order(msg string) string {
	switch {
	case p.in.Role == rolePart:
		return msg + "/" + p.loc.id
	case p.in.Role == roleExport, msg == "":
		return ""
	}
	return msg
}

// event returns an uncounted event for a record.
func (p *parser) event(kind transcript.Kind, typ, session, msg string) *transcript.Event {
	p.nameRun(session, msg)
	return &transcript.Event{Conversation: conversation, Verdict: transcript.Uncounted, Kind: kind, Type: typ, Origin: p.baseOrigin}
}
