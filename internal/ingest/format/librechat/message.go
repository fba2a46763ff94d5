package librechat

import (
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// noParent is what the first messages follow.
const noParent = "00000000-0000-0000-0000-000000000000"

// message is one message while its events are made.
type message struct {
	*parser
	v             jsontext.Value
	id            string
	kind          transcript.Kind
	role          string
	model, sender string // of an answer
	at            transcript.Time
	facts         transcript.Attributes
	n             int // events so far
	called        int // tools so far
}

// message yields the events of a message, in the order of its members, and then those of the messages that follow it. What each event repeats of it is
// read once, and short.
func (p *parser) message(v jsontext.Value) {
	m := &message{parser: p, v: v, id: format.ShortID(v.Get("messageId").Text()), kind: transcript.KindMessage, role: "assistant", at: v.Get("createdAt").Time()}
	if v.Get("isCreatedByUser").Bool() == transcript.Yes {
		m.role = "user"
	}
	if v.Get("error").Bool() == transcript.Yes {
		m.kind, m.role = transcript.KindError, "system"
	}
	m.describe()
	content := v.Get("content")
	for key, member := range v.Fields() {
		switch key {
		case "text":
			if member.IsString() && !member.IsBlank() && !says(content) {
				m.said(m.kind, member, "text")
			}
		case "content":
			for i, part := range member.Numbered() {
				m.part(part, strconv.Itoa(i))
			}
		case "summary", "quotes":
			m.note(key, member, key)
		case "files", "attachments":
			for i, file := range member.Numbered() {
				m.note(key, file, key+strconv.Itoa(i))
			}
		}
	}
	if id := v.Get("messageId"); m.n == 0 && id.Exists() {
		m.emit(m.event(transcript.KindNotice, m.role, "message", id), "message", transcript.Uncounted)
	} else if m.n == 0 {
		m.Emit(&transcript.Problem{Run: p.id, Kind: "not a message", Reason: "no id and no text", Origin: m.origin(v)})
	}
	m.usage()
	p.before = m.id
	p.messages(v.Get("children"))
}

// describe sets what all events of the message state.
func (m *message) describe() {
	m.model, m.sender = modelOf(m.v), format.ShortID(m.v.Get("sender").Str())
	if parent := format.ShortID(m.v.Get("parentMessageId").Str()); parent != m.before && parent != noParent {
		m.facts.Set("parent", parent)
	}
	if m.v.Get("unfinished").Bool() == transcript.Yes {
		m.facts.Set("unfinished", true)
	}
	m.facts.Set("rating", format.ShortID(m.v.Get("feedback", "rating").Word()))
}

// says reports whether a list of content has text, so that the message's own text repeats it.
func says(content jsontext.Value) bool {
	for part := range content.Items() {
		if !textOf(part, "text").IsBlank() {
			return true
		}
	}
	return false
}

// textOf returns the text of a part of the content, which is a string, or an object with notes of it.
func textOf(part jsontext.Value, key string) jsontext.Value {
	v := part.Get(key)
	if v.IsObject() {
		return v.Get("value")
	}
	return v
}

// event returns an event for a value that has its own bytes. It is valid until the next one.
func (p *parser) event(kind transcript.Kind, role, typ string, v jsontext.Value) *transcript.Event {
	p.lend.Reset()
	e := p.lend.Event(transcript.Event{Kind: kind, Role: role, Type: typ, Origin: p.origin(v)})
	e.Parts[0] = transcript.Part{Text: p.lend.Text(func(b []byte) []byte { return appendValue(b, v) })}
	return e
}

func (m *message) emit(e *transcript.Event, piece string, verdict transcript.Verdict) {
	m.n++
	e.Conversation, e.Run, e.Verdict, e.Time, e.Attributes = m.parser.id, m.parser.id, verdict, m.at, m.facts
	if m.id != "" {
		e.ID, e.Global = m.id+"/"+piece, format.IsUUID(m.id)
	}
	if e.Role == "assistant" {
		e.Model, e.Agent = m.model, m.sender
	}
	m.Emit(e)
}

// said yields a text of the message; of one that failed it does not count.
func (m *message) said(kind transcript.Kind, v jsontext.Value, piece string) {
	verdict := transcript.Counted
	if kind == transcript.KindError {
		verdict = transcript.Uncounted
	}
	m.emit(m.event(kind, m.role, "", v), piece, verdict)
}

// note yields what a message has beside its text, for search.
func (m *message) note(typ string, v jsontext.Value, piece string) {
	e := m.event(transcript.KindNotice, "", typ, v)
	if strings.TrimSpace(e.Parts[0].Text) != "" {
		m.emit(e, piece, transcript.Uncounted)
	}
}

// part yields a part of the content.
func (m *message) part(v jsontext.Value, piece string) {
	switch typ := v.Get("type").Word(); typ {
	case "text":
		if text := textOf(v, "text"); text.IsString() && !text.IsBlank() {
			m.said(m.kind, text, piece)
		}
	case "think":
		if thought := textOf(v, "think"); thought.IsString() && !thought.IsBlank() {
			m.emit(m.event(transcript.KindReasoning, m.role, typ, thought), piece, transcript.Counted)
		}
	case "tool_call":
		m.call(v.Get("tool_call"), piece)
	case "error":
		e := m.event(transcript.KindError, "system", typ, v)
		m.emit(e, piece, transcript.Uncounted)
	default:
		m.note(typ, v, piece)
	}
}

// call yields a call of a tool, and its result.
func (m *message) call(v jsontext.Value, piece string) {
	name, input, output := toolOf(v)
	if name == "" {
		m.note("tool_call", v, piece)
		return
	}
	m.called++
	name = format.ShortID(name)
	id := format.ShortID(v.Get("id").Text())
	if id == "" {
		id = "#" + m.id + "/" + piece
	}
	e := m.event(transcript.KindToolCall, "assistant", v.Get("type").Word(), v)
	e.Parts[0].Call = &transcript.Call{ID: id, Name: name, Input: int64(input.Len())}
	m.emit(e, piece, transcript.Counted)
	switch {
	case output.IsString() && output.Len() > len(`""`), output.HasItems():
		e := m.event(transcript.KindToolResult, "tool", "", output)
		e.Parts[0].Result = &transcript.Result{Call: id, Name: name, Output: int64(output.Len())}
		m.emit(e, piece+"/result", transcript.Counted)
	case output.IsObject():
		m.note("output", output, piece+"/result")
	}
}

// toolOf returns the name, the input and the output of a call: of an agent's tool, or of one of the Assistants API.
func toolOf(v jsontext.Value) (name string, input, output jsontext.Value) {
	typ := v.Get("type").Str()
	switch f, code := v.Get("function"), v.Get("code_interpreter"); {
	case v.Get("name").IsString():
		return v.Get("name").Str(), v.Get("args"), v.Get("output")
	case f.IsObject():
		return f.Get("name").Str(), f.Get("arguments"), f.Get("output")
	case code.IsObject():
		return typ, code.Get("input"), code.Get("outputs")
	}
	return typ, jsontext.Value{}, jsontext.Value{}
}

// modelOf returns the model of an answer. Of one by an agent or an assistant the program states which one that was instead.
func modelOf(v jsontext.Value) string {
	model := format.ShortID(v.Get("model").Str())
	if v.Get("isCreatedByUser").Bool() == transcript.Yes || strings.HasPrefix(model, "agent_") || strings.HasPrefix(model, "asst_") {
		return ""
	}
	return model
}
