package opencode

import (
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// document reads a file of the tree, which is one JSON object; false when it is none.
func (p *parser) document() bool {
	v, at := p.Document(p.in.Reader, p.nobodys)
	if v.Exists() && !v.IsObject() {
		p.nobodys(&transcript.Problem{Kind: "not an object", Reason: "a JSON value of another type", Origin: transcript.Origin{Length: p.in.Size}})
	}
	p.whole, p.at = v, at
	return v.IsObject()
}

// nobodys reports what could not be read of a file that does not say whose it is.
func (p *parser) nobodys(pr *transcript.Problem) { p.Emit(pr) }

// rows yields the records of exported rows: a session, or a message and its parts.
func (p *parser) rows() {
	for o := range p.Each(format.Objects(p.in.Reader, "", p.nobodys)) {
		p.at, p.whole = o.Origin, o.Value
		p.row(o.Value)
	}
	p.settle()
}

// row is one row of a database.
func (p *parser) row(v format.Value) {
	data := v.Get("data")
	table := v.Get("table").Str()
	switch {
	case table == roleSession, table == tableSession:
		p.session(v)
	case (table == roleMessage || table == rolePart || table == tableMessage) && !data.IsObject():
		p.Emit(&transcript.Problem{Run: v.Get("session_id").Str(), Kind: "bad json", Reason: "data of a row is no JSON object", Origin: p.at})
	case table == roleMessage:
		p.settle()
		m := readMessage(data)
		m.id, m.session, m.created = v.Get("id").Text(), v.Get("session_id").Text(), orMilli(m.created, v.Get("time_created"))
		m.origin = p.at
		asked := m // it outlives the row
		asked.value, asked.tokens, asked.cost = format.Value{}, m.tokens.Clone(), m.cost.Clone()
		p.asked = &asked
		p.steps = false
		p.message(m)
	case table == rolePart:
		t := readPart(data)
		t.id, t.msg, t.session = v.Get("id").Text(), v.Get("message_id").Text(), v.Get("session_id").Text()
		t.at = orMilli(t.at, v.Get("time_created"))
		if p.asked != nil && p.asked.id == t.msg {
			t.of = p.asked
		}
		p.part(t)
	case table == tableMessage:
		p.settle()
		p.second(v)
	default:
		e := p.event(transcript.KindUnknown, "", v.Get("session_id").Text(), "")
		e.Parts = []transcript.Part{{Text: pieceText(v)}}
		p.Emit(e)
	}
}

// settle counts the tokens of a message itself when no step of it states any.
func (p *parser) settle() {
	if p.asked != nil && !p.steps {
		p.total(*p.asked)
	}
	p.asked = nil
}

func orMilli(t transcript.Time, ms format.Value) transcript.Time {
	if n, ok := ms.Int(); ok && !t.Valid {
		return format.UnixMilli(n)
	}
	return t
}

// run is the name by which a record calls its session: the id, or for parts that do not name it their message, of which
// a message says where it belongs.
func run(session, msg string) string {
	if session != "" {
		return session
	}
	return "message " + msg
}

// conversation is the id of the one conversation that a session has.
const conversation = "main"

// name states that a run is meant, once.
func (p *parser) name(session, msg string) string {
	id := run(session, msg)
	if p.named == nil {
		p.named = map[string]bool{}
	}
	if !p.named[id] {
		p.named[id] = true
		r := &transcript.Run{ID: id, Local: true, Named: true}
		if session != "" {
			r.Anchor, r.Anchored = session, true
		}
		p.Emit(r)
		p.Emit(&transcript.Conversation{ID: conversation, Run: id, Shared: true, Rank: p.rank, Order: p.order(msg)})
	}
	return id
}

// order sorts the originals of a session: the session itself, then its messages with their parts. Ids rise with time.
func (p *parser) order(msg string) string {
	switch {
	case p.in.Role == rolePart:
		return msg + "/" + p.where.own
	case msg == "":
		return ""
	}
	return msg
}

// event is one row of a record, uncounted until told otherwise.
func (p *parser) event(kind transcript.Kind, typ, session, msg string) *transcript.Event {
	p.name(session, msg)
	return &transcript.Event{Conversation: conversation, Verdict: transcript.Uncounted, Kind: kind, Type: typ, Origin: p.at}
}
