package sillytavern

import (
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// line yields the records of one line.
func (p *parser) line(v jsontext.Value) {
	switch {
	case isMessage(v):
		first := !p.Begun
		if first {
			p.begin(v)
		}
		p.message(v, first)
	case !p.Begun && !p.header.Value.Exists():
		p.header = jsontext.Object{Origin: p.Row.Origin, Value: v.Clone()}
	case p.Begun:
		p.Uncounted(transcript.KindUnknown, "", transcript.Time{})
	default:
		p.Problem("", &transcript.Problem{Kind: "not a message", Reason: "no message in the line after the first", Origin: p.Row.Origin})
	}
}

// begin yields the run and its conversation, which the first message identifies. Of its swipes it is the first one: others may be chosen later.
func (p *parser) begin(v jsontext.Value) {
	text, at := v.Get("mes"), v.Get("send_date")
	for first := range v.Get("swipes").Items() {
		if first.IsString() {
			text = first
		}
		break
	}
	for info := range v.Get("swipe_info").Items() {
		if date := info.Get("send_date"); date.Text() != "" {
			at = date
		}
		break
	}
	p.Begin(format.HashUUID("sillytavern", at.Text(), text.Str()))
	p.Begun = true
	p.Settle(p.Session)
	head := p.header.Value
	run := &transcript.Run{ID: p.Session, Agent: head.Get("character_name").Str(), Started: timeOf(at)}
	if run.Agent == unused || run.Agent == "" {
		if run.Agent = v.Get("name").Str(); v.Get("is_user").Bool() == transcript.Yes {
			run.Agent = ""
		}
	}
	c := &transcript.Conversation{ID: conversation, Run: p.Session, Agent: run.Agent, Started: run.Started}
	if p.role == roleBackup {
		c.Attributes.Set(backup, true)
	} else {
		c.Rank = 1
	}
	c.Attributes.Set("main_chat", head.Get("chat_metadata", "main_chat").Str())
	p.Emit(run)
	p.Emit(c)
	p.emitHeader()
}

// unused is what newer versions write for the names in the first line.
const unused = "unused"

// emitHeader yields the first line, for search.
func (p *parser) emitHeader() {
	if !p.header.Value.Exists() {
		return
	}
	row := p.Row
	p.Row = p.header
	if p.Session == "" {
		p.Session = format.HashUUID("sillytavern", p.header.Value.Get("create_date").Text(), string(p.header.Value.Raw()))
		p.NameRun()
	}
	p.Uncounted(transcript.KindNotice, "header", timeOf(p.header.Value.Get("create_date")))
	p.Row = row
}

// message is one message while its events are made.
type message struct {
	*parser
	v       jsontext.Value
	kind    transcript.Kind
	role    string
	name    string
	typ     string
	verdict transcript.Verdict
	facts   transcript.Attributes
}

// swipe is one of the alternatives of a message: its text and what it states.
type swipe struct {
	text, extra, started, finished, sent jsontext.Value
	dated                                bool // sent is its own
	chosen                               bool
}

// state reads what a message states of the swipe that is shown, or its notes of each.
func (s *swipe) state(v jsontext.Value) {
	s.extra, s.started, s.finished, s.sent = v.Get("extra"), v.Get("gen_started"), v.Get("gen_finished"), v.Get("send_date")
}

// message yields the events of one message: of each of its swipes what its model thought and the text, the one that is shown first; and the calls of
// tools.
func (p *parser) message(v jsontext.Value, first bool) {
	m := &message{parser: p, v: v, name: v.Get("name").Str()}
	m.classify()
	if invocations := v.Get("extra", "tool_invocations"); invocations.HasItems() {
		m.invocations(invocations)
		return
	}
	n, hasID := v.Get("swipe_id").Int()
	infos := list(v.Get("swipe_info"))
	swipes := list(v.Get("swipes"))
	shown := swipe{text: v.Get("mes"), chosen: true, dated: len(swipes) <= 1 || len(infos) > 0}
	shown.state(v)
	greeted := first && m.role == "assistant" && !shown.isGenerated()
	m.swipe(shown)
	m.beside(shown)
	for i, text := range swipes {
		if hasID && int64(i) == n || !hasID && string(text.Raw()) == string(shown.text.Raw()) {
			continue
		}
		s := swipe{text: text}
		if i < len(infos) {
			s.state(infos[i])
			s.dated = true
		}
		if greeted && !s.isGenerated() { // one of the character's other greetings
			m.emit(m.Event(transcript.KindNotice, m.role, "greeting", text), s, "", transcript.Uncounted)
			continue
		}
		m.swipe(s)
	}
}

func list(v jsontext.Value) (all []jsontext.Value) {
	for item := range v.Items() {
		all = append(all, item)
	}
	return all
}

// system is the name under which the program itself speaks.
const system = "SillyTavern System"

// classify finds out who speaks. A message that is called a system's may also be anybody's that was hidden from the model.
func (m *message) classify() {
	m.kind, m.role, m.typ = transcript.KindMessage, "assistant", m.v.Get("extra", "type").Word()
	hidden := m.v.Get("is_system").Bool() == transcript.Yes
	switch {
	case m.typ == "narrator":
		m.kind, m.role = transcript.KindSystem, "system"
	case m.typ == "comment", m.typ != "" && hidden, hidden && m.name == system:
		m.kind, m.role, m.verdict = transcript.KindNotice, "system", transcript.Uncounted
		return
	case m.v.Get("is_user").Bool() == transcript.Yes:
		m.role = "user"
	}
	if hidden {
		m.facts.Set("hidden", true)
	}
}

// swipe yields one text of the message, and what its model thought and used for it.
func (m *message) swipe(s swipe) {
	if !s.text.IsString() {
		m.emit(m.Event(transcript.KindUnknown, m.role, m.typ, s.text), s, "", transcript.Uncounted)
		return
	}
	if thought := s.extra.Get("reasoning"); !thought.IsBlank() && m.role == "assistant" {
		m.emit(m.Event(transcript.KindReasoning, m.role, m.typ, thought), s, "/reasoning", m.verdict)
	}
	if !s.text.IsBlank() {
		m.emit(m.Event(m.kind, m.role, m.typ, s.text), s, "", m.verdict)
		if m.role == "user" {
			m.TitleFrom(s.text.Str(), 0)
		}
	} else if s.chosen {
		m.emit(m.Event(transcript.KindNotice, m.role, m.typ, m.v), s, "", transcript.Uncounted)
	}
	m.usage(s)
}

func (m *message) emit(e *transcript.Event, s swipe, piece string, verdict transcript.Verdict) {
	e.Conversation, e.Run, e.Verdict, e.Time, e.Attributes = conversation, m.Session, verdict, timeOf(s.sent), m.facts
	if !e.Time.Valid {
		e.Time = timeOf(s.finished)
	}
	if m.role == "assistant" && m.name != system {
		e.Agent, e.Model = m.name, s.extra.Get("model").Str()
	}
	if !s.chosen {
		e.Attributes = transcript.Attributes{"off_path": true}
	}
	e.ID, e.Global = m.identify(s, piece), true
	m.Emit(e)
}

// identify returns the id of an event of a swipe. Without a time of its own a swipe is identified by its text alone.
func (m *message) identify(s swipe, piece string) string {
	date := ""
	if s.dated {
		date = s.sent.Text()
	}
	id := format.HashUUID(m.Session, m.role, date, string(s.text.Raw()), piece)
	n := m.said[id]
	m.said[id]++
	if n > 0 {
		id += "#" + strconv.Itoa(n)
	}
	return id
}

// beside yields what extensions and the program have noted of a message, for search.
func (m *message) beside(s swipe) {
	if !s.extra.IsObject() {
		return
	}
	e := m.Event(transcript.KindNotice, "", "extra", s.extra)
	if strings.TrimSpace(e.Parts[0].Text) != "" {
		m.emit(e, s, "/extra", transcript.Uncounted)
	}
}

// invocations yields the calls of tools, each with its result. The text of the message repeats them.
func (m *message) invocations(all jsontext.Value) {
	m.role = "assistant"
	for _, v := range list(all) {
		s := swipe{text: v, sent: m.v.Get("send_date"), dated: true, chosen: true}
		if !v.Get("name").IsString() {
			m.emit(m.Event(transcript.KindUnknown, m.role, "tool_invocations", v), s, "", transcript.Uncounted)
			continue
		}
		id, input := format.ShortID(v.Get("id").Text()), v.Get("parameters")
		if id == "" {
			m.calls++
			id = "#" + strconv.Itoa(m.calls)
		}
		e := m.Event(transcript.KindToolCall, m.role, "", v)
		e.Parts[0].Call = &transcript.Call{ID: id, Name: v.Get("name").Str(), Input: int64(input.Len())}
		m.emit(e, s, "/call", transcript.Counted)
		switch output := v.Get("result"); {
		case output.IsString():
			e := m.Event(transcript.KindToolResult, "tool", "", output)
			e.Parts[0].Result = &transcript.Result{Call: id, Name: v.Get("name").Str(), Output: int64(output.Len())}
			m.emit(e, s, "/result", transcript.Counted)
		case output.Exists() && !output.IsNull(): // the program writes a text
			m.emit(m.Event(transcript.KindUnknown, m.role, "result", output), s, "/result", transcript.Uncounted)
		}
	}
}
