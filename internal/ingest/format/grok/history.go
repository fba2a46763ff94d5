package grok

import (
	"cmp"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// itemOf returns the type of a line of chat_history.jsonl. The first versions wrote messages as the API has them, with a role.
func itemOf(v jsontext.Value) string {
	switch t := v.Get("type").Word(); t {
	case "system", "user", "assistant", "reasoning", "tool_result", "backend_tool_call":
		return t
	}
	switch r := v.Get("role").Word(); r {
	case "system", "user", "assistant":
		return r
	case "tool":
		return "tool_result"
	}
	return ""
}

// history yields the records of a chat_history.jsonl: the same conversation as in updates.jsonl, without times and ids.
func (p *parser) history() {
	for o := range p.Each(jsontext.Objects(p.in.Reader, "", p.problem)) {
		if !p.started {
			p.started = true
			p.emitRun(transcript.Conversation{})
		}
		p.lend.Reset()
		p.item(o.Value, o.Origin)
	}
}

// itemEvent returns an event for a value of a line. It is valid until the next line.
func (p *parser) itemEvent(line, v jsontext.Value, at transcript.Origin, kind transcript.Kind, role string) *transcript.Event {
	e := p.lend.Event(transcript.Event{Run: p.run, Kind: kind, Role: role, Type: itemOf(line), Origin: at})
	e.Parts[0] = p.lend.Part(line, v, appendText)
	return e
}

// item yields the events of a line.
func (p *parser) item(v jsontext.Value, at transcript.Origin) {
	content := v.Get("content")
	event := func(v2 jsontext.Value, kind transcript.Kind, role string) *transcript.Event {
		return p.itemEvent(v, v2, at, kind, role)
	}
	switch itemOf(v) {
	case "system":
		p.Emit(event(content, transcript.KindSystem, "system"))
	case "user":
		reason := v.Get("synthetic_reason").Str()
		e := event(content, transcript.KindMessage, "user")
		switch {
		case reason != "" && reason != "interjection", isInjected(strings.TrimSpace(e.Parts[0].Text)):
			e.Kind, e.Role = transcript.KindSystem, "system"
		default:
			p.setTitleFrom(strings.TrimSpace(e.Parts[0].Text))
		}
		p.Emit(e)
	case "reasoning":
		e := event(v, transcript.KindReasoning, "assistant")
		if e.Parts[0].Text == "" { // only in encrypted form
			e.Kind, e.Verdict = transcript.KindNotice, transcript.Uncounted
		}
		p.Emit(e)
	case "assistant":
		p.answer(v, at)
	case "tool_result":
		id := v.Get("tool_call_id").Str()
		e := event(content, transcript.KindToolResult, "tool")
		e.Parts[0].Result = &transcript.Result{Call: id, Name: p.toolNames[id], Output: int64(content.Len())}
		p.Emit(e)
	case "backend_tool_call":
		tool := v.Get("kind")
		e := event(tool, transcript.KindToolCall, "assistant")
		e.Parts[0].Call = &transcript.Call{ID: tool.Get("id").Str(), Name: tool.Get("tool_type").Word(), Input: int64(tool.Len())}
		p.Emit(e)
	default:
		e := event(v, transcript.KindUnknown, "")
		e.Verdict, e.Type = transcript.Uncounted, v.Get("type").Word()
		p.Emit(e)
	}
}

// answer yields the reasoning, text and calls of an answer.
func (p *parser) answer(v jsontext.Value, at transcript.Origin) {
	emitted := false
	emit := func(v2 jsontext.Value, kind transcript.Kind) *transcript.Event {
		emitted = true
		e := p.itemEvent(v, v2, at, kind, "assistant")
		e.Model = v.Get("model_id").Str()
		return e
	}
	reasoning := v.Get("reasoning_content")
	if reasoning.IsBlank() {
		reasoning = v.Get("reasoning", "text")
	}
	if !reasoning.IsBlank() {
		p.Emit(emit(reasoning, transcript.KindReasoning))
	}
	if content := v.Get("content"); !content.IsBlank() || content.HasItems() {
		p.Emit(emit(content, transcript.KindMessage))
	}
	for c := range v.Get("tool_calls").Items() {
		input := c.First("arguments", "input")
		if !input.Exists() {
			input = c.Get("function", "arguments")
		}
		call := &transcript.Call{
			ID: c.Get("id").Str(), Name: cmp.Or(c.Get("name").Word(), c.Get("function", "name").Word()), Input: int64(input.Len()),
			Paths: format.Paths(input.Unwrap(), pathNames, nil),
		}
		if call.ID == "" {
			call.ID = p.nextCall()
		}
		p.toolNames[call.ID] = call.Name
		e := emit(c, transcript.KindToolCall)
		e.Parts[0].Call = call
		p.Emit(e)
	}
	if !emitted {
		e := emit(v, transcript.KindNotice)
		e.Verdict = transcript.Uncounted
		p.Emit(e)
	}
}

// beside yields the questions in passing and their answers: a conversation of its own, which the session's does not know.
func (p *parser) beside() {
	for o := range p.Each(jsontext.Objects(p.in.Reader, "", p.problem)) {
		if !p.started {
			p.started = true
			p.emitRun(transcript.Conversation{})
		}
		p.lend.Reset()
		v := o.Value
		id := v.Get("btwSessionId").Str()
		event := func(key string, kind transcript.Kind, role string) {
			e := p.itemEvent(v, v.Get(key), o.Origin, kind, role)
			e.Conversation, e.Time, e.Type = conversationBeside, v.Get("askedAt").Time(), "btw"
			if id != "" {
				e.ID, e.Global, e.Home = id+" "+key, true, v.Get("parentSessionId").Is(p.run)
			}
			if role == "assistant" {
				e.Model = v.Get("model").Str()
			}
			p.Emit(e)
		}
		event("question", transcript.KindMessage, "user")
		switch {
		case !v.Get("answer").IsBlank():
			event("answer", transcript.KindMessage, "assistant")
		case !v.Get("error").IsBlank():
			event("error", transcript.KindError, "system")
		}
	}
}
