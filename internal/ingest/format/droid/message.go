package droid

import (
	"bytes"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// message holds the members of a message.
type message struct {
	role, model, visibility string
	content, reasoning      jsontext.Value
	hook, failed            bool
}

func readMessage(v jsontext.Value) (m message) {
	for key, f := range v.Fields() {
		switch key {
		case "role":
			m.role = f.Word()
		case "modelId":
			m.model = f.Word()
		case "visibility":
			m.visibility = f.Word()
		case "content":
			m.content = f
		case "chatCompletionReasoningContent":
			m.reasoning = f
		case "hookEventName":
			m.hook = f.IsString()
		case "isError":
			m.failed = f.Bool() == transcript.Yes
		}
	}
	return m
}

// author returns the kind and role of a message's text. Much of what is in the user's role was put there by the program: context
// that only the model sees, and notices that only the user does.
func (m *message) author() (transcript.Kind, string) {
	switch {
	case m.hook, m.visibility == "user_only", m.role != "assistant" && m.visibility == "llm_only", m.role == "system":
		return transcript.KindSystem, "system"
	}
	return transcript.KindMessage, m.role
}

// message yields the events of a message: one for each block of an answer and for each result, and one for what the user said.
func (p *parser) message(l *line) {
	m := readMessage(l.message)
	if m.role != "user" && m.role != "assistant" && m.role != "system" && m.role != "tool" {
		p.uncounted(l, transcript.KindUnknown, m.role)
		return
	}
	if m.model != "" && m.role == "assistant" {
		p.facts.Model = m.model
	}
	w := &writer{parser: p, l: l, m: &m}
	if !m.reasoning.IsBlank() && !hasThinking(m.content) { // else it is there twice
		w.emit(p.event(l, m.reasoning, transcript.KindReasoning, "assistant", "reasoning"))
	}
	if !m.content.IsBlank() {
		w.text(m.content, m.content, "text")
	}
	for v := range m.content.Items() {
		w.block(v)
	}
	w.flush()
	if !w.emitted {
		p.uncounted(l, transcript.KindNotice, m.role)
	}
}

// hasThinking reports whether content has a block with reasoning.
func hasThinking(content jsontext.Value) bool {
	for v := range content.Items() {
		if v.Get("type").Is("thinking") && !v.Get("thinking").IsBlank() {
			return true
		}
	}
	return false
}

// writer yields the events of one message.
type writer struct {
	*parser
	l       *line
	m       *message
	said    *transcript.Event // what the user said so far
	emitted bool
}

func (w *writer) emit(e *transcript.Event) {
	if w.m.role == "assistant" {
		e.Model = w.m.model
	}
	if w.m.failed {
		e.Attributes.Set("error", true)
	}
	w.emitted = true
	w.Emit(e)
}

// flush yields what the user said.
func (w *writer) flush() {
	if w.said != nil {
		w.emit(w.said)
		w.said = nil
	}
}

// block yields the event of one block of a message.
func (w *writer) block(v jsontext.Value) {
	switch typ := v.Get("type").Word(); typ {
	case "text":
		if text := v.Get("text"); !text.IsBlank() {
			w.text(v, text, typ)
		}
	case "image", "document":
		w.text(v, jsontext.Value{}, typ)
	case "thinking", "redacted_thinking":
		w.emit(w.event(w.l, v, transcript.KindReasoning, "assistant", typ))
	case "tool_use":
		e := w.event(w.l, v, transcript.KindToolCall, w.m.role, typ)
		e.Parts[0].Call = w.call(v)
		w.emit(e)
	case "tool_result":
		w.flush()
		e := w.event(w.l, v, transcript.KindToolResult, "tool", typ)
		e.Parts[0].Result = w.result(v)
		w.emit(e)
	default:
		e := w.event(w.l, v, transcript.KindUnknown, w.m.role, typ)
		e.Verdict, e.ID, e.Global, e.Home = transcript.Uncounted, "", false, false
		w.emit(e)
	}
}

// text yields a text, or an attachment, which has no text of its own. What the user said is one event, with its attachments.
func (w *writer) text(v, text jsontext.Value, typ string) {
	kind, role := w.m.author()
	switch {
	case kind == transcript.KindMessage && role == "user" && isReminder(text):
		w.emit(w.event(w.l, v, transcript.KindSystem, "system", "system-reminder"))
	case kind != transcript.KindMessage || role != "user":
		w.emit(w.event(w.l, v, kind, role, typ))
	case w.said == nil:
		w.said = w.event(w.l, v, kind, role, typ)
	default:
		w.said.Parts = append(w.said.Parts, w.part(w.l, v))
	}
	if kind == transcript.KindMessage && role == "user" && !w.l.duplicate && !isReminder(text) {
		w.setTitleFrom(text.Str())
	}
}

// isReminder reports whether a text in the user's role is the program's: older versions marked it only by a tag.
func isReminder(text jsontext.Value) bool {
	return text.IsString() && bytes.HasPrefix(bytes.TrimLeft(text.Body(), " "), []byte("<system-reminder>"))
}

func (p *parser) call(v jsontext.Value) *transcript.Call {
	input := v.Get("input")
	c := &transcript.Call{ID: v.Get("id").Str(), Name: v.Get("name").Word(), Input: int64(input.Len()), Paths: format.Paths(input, pathNames, nil)}
	if c.ID == "" {
		p.calls++
		c.ID = "#" + strconv.Itoa(p.calls)
		return c
	}
	p.toolNames[c.ID] = c.Name
	return c
}

// pathNames are the members of a call's input that name files.
var pathNames = []string{"file_path", "path", "filePath"}

func (p *parser) result(v jsontext.Value) *transcript.Result {
	content := v.Get("content")
	res := &transcript.Result{Call: v.Get("tool_use_id").Str(), Output: int64(content.Len()), Failed: v.Get("is_error").Bool()}
	if res.Failed == transcript.Unstated && content.Exists() {
		res.Failed = transcript.No // it is stated only of errors
	}
	res.Name = p.toolNames[res.Call]
	return res
}
