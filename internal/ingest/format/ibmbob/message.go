package ibmbob

import (
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// message is one message while its events are made.
type message struct {
	id    string
	role  string
	data  jsontext.Value
	at    transcript.Time
	own   bool // has a row in the table, and is not part of a sub-agent's result
	depth int  // of sub-agents that it is inside of
}

// shortest is the length of the shortest id that is taken to be unique across tasks.
const shortest = 16

// isGlobal reports whether the id of a message is unique across tasks: a sub-agent that begins with its parent's messages has copies of them.
func (m *message) isGlobal() bool { return len(m.id) >= shortest }

// message yields the events of one message: one for the text, the reasoning and each call in an answer.
func (p *parser) message(m *message) {
	if isMigrated(p.Session) {
		p.NameRun()
	} else {
		p.emitConversation()
	}
	switch {
	case !m.data.IsObject():
		p.note(m, transcript.KindUnknown)
	case m.role == "user":
		p.user(m)
	case m.role == "assistant":
		p.answer(m)
	case m.role == "tool":
		p.result(m)
	case m.role == "system": // its prompt
		p.note(m, transcript.KindSystem)
	default:
		p.note(m, transcript.KindUnknown)
	}
}

// emit yields an event. Of a task that was taken over from Bob 1 none counts: its own files have them.
func (p *parser) emit(m *message, e *transcript.Event, piece string, verdict transcript.Verdict) {
	e.Run, e.Conversation, e.Verdict, e.Time = p.Session, conversation, verdict, m.at
	if isMigrated(p.Session) {
		e.Conversation, e.Verdict = "", transcript.Uncounted
	} else if m.id != "" {
		e.ID, e.Global, e.Home = m.id+"/"+piece, m.isGlobal(), m.isGlobal() && m.own
	}
	p.Emit(e)
}

// note yields a message that is no event of the conversation.
func (p *parser) note(m *message, kind transcript.Kind) {
	v := m.data
	if !v.Exists() {
		v = p.Row.Value
	}
	p.emit(m, p.Event(kind, "", m.role, v), "message", transcript.Uncounted)
}

func (p *parser) user(m *message) {
	content := m.data.Get("content")
	if !hasText(content) {
		p.note(m, transcript.KindNotice)
		return
	}
	p.emit(m, p.Event(transcript.KindMessage, "user", m.role, m.data), "message", transcript.Counted)
	typed := m.data.Get("_meta", "mask").Str() // where the content is what a command stands for
	if typed == "" {
		typed = jsontext.Build(func(dst []byte) []byte { return appendValue(dst, content) })
	}
	p.TitleFrom(typed, format.PromptRank(m.at))
}

// hasText reports whether the content of a message is more than a blank text.
func hasText(content jsontext.Value) bool {
	return content.HasItems() || content.IsString() && !content.IsBlank()
}

func (p *parser) answer(m *message) {
	n := 0
	add := func(e *transcript.Event, piece string) {
		p.emit(m, e, piece, transcript.Counted)
		n++
	}
	if v := m.data.First("reasoning", "reasoning_content"); v.IsString() && !v.IsBlank() {
		add(p.Event(transcript.KindReasoning, m.role, m.role, v), "reasoning")
	}
	if v := m.data.Get("content"); hasText(v) {
		add(p.Event(transcript.KindMessage, m.role, m.role, v), "text")
	}
	for _, key := range []string{"toolCalls", "tool_calls"} {
		for i, call := range m.data.Get(key).Numbered() {
			add(p.call(m, call), key+"/"+strconv.Itoa(i))
		}
	}
	if n == 0 {
		p.note(m, transcript.KindNotice)
	}
	p.spend(m)
}

// pathNames are the members of a call's input that name files.
func pathNames() []string { return []string{"path", "file_path", "filePath"} }

// call returns the event of a call, in Bob's own form or in that of OpenAI.
func (p *parser) call(m *message, v jsontext.Value) *transcript.Event {
	e := p.Event(transcript.KindToolCall, m.role, m.role, v)
	of := v
	if f := v.Get("function"); f.IsObject() {
		of = f
	}
	input := of.Get("arguments")
	e.Parts[0].Call = &transcript.Call{
		ID: v.Get("id").Text(), Name: of.Get("name").Str(), Input: int64(input.Len()), Paths: format.Paths(input.Unwrap(), pathNames(), nil),
	}
	return e
}

// result yields the result of a call, and what the sub-agent that it started did.
func (p *parser) result(m *message) {
	e := p.Event(transcript.KindToolResult, "tool", m.role, m.data)
	signature := m.data.Get("toolUsage", "signature")
	call := signature.Get("id").Text()
	if call == "" {
		call = m.data.Get("tool_call_id").Text()
	}
	res := &transcript.Result{Call: call, Name: signature.Get("name").Str(), Failed: signature.Get("isError").Bool(), Output: int64(m.data.Get("content").Len())}
	if n, ok := m.data.Get("_meta", "durationMs").Int(); ok && n >= 0 {
		res.Duration = transcript.Known(n * 1000)
	}
	e.Parts[0].Result = res
	p.emit(m, e, "message", transcript.Counted)
	p.subagent(m, call)
}

// deepest is how deep sub-agents are followed that were started by sub-agents.
const deepest = 8

// subagent yields the messages of a sub-agent, as the conversation of its own task.
func (p *parser) subagent(m *message, call string) {
	child, messages := format.ShortID(m.data.Get("_meta", "subagentId").Text()), m.data.Get("messages")
	switch {
	case !messages.HasItems():
		return
	case child == "" || child == p.Session || m.depth == deepest:
		p.emit(m, p.Event(transcript.KindUnknown, "", m.role, messages), "messages", transcript.Uncounted)
		return
	}
	p.parent(p.Session, child, call)
	session, begun, named, titled := p.Session, p.Begun, p.Named, p.Titled
	p.Begin(child)
	for v := range messages.Items() {
		at := v.Get("_meta", "timestamp").MilliTime()
		if !at.Valid {
			at = m.at
		}
		p.message(&message{id: format.ShortID(v.Get("id").Text()), role: v.Get("role").Word(), data: v, at: at, depth: m.depth + 1})
	}
	p.Session, p.Begun, p.Named, p.Titled = session, begun, named, titled
}
