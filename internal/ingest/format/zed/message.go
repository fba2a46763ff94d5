package zed

import (
	"cmp"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// message yields the events of one message: an object whose only key is its type, or that type alone; of early payloads an object with a role.
func (p *parser) message(v jsontext.Value) {
	if v.Get("role").IsString() {
		p.early(v)
		return
	}
	if !v.IsObject() {
		p.steps++
		kind := transcript.KindUnknown
		if v.Is("Resume") { // the user let the model go on
			kind = transcript.KindLifecycle
		}
		p.emit(p.event(kind, "", v.Word(), v), p.after(""), transcript.Uncounted)
		return
	}
	known := false
	for typ, m := range v.Fields() {
		known = true
		switch typ {
		case "User":
			p.user(m)
		case "Agent":
			p.steps++
			p.agent(m)
		case "Compaction":
			p.steps++
			p.emit(p.event(transcript.KindCompaction, "system", typ, m), p.after(""), transcript.Counted)
		default:
			p.steps++
			p.emit(p.event(transcript.KindUnknown, "", typ, m), p.after(""), transcript.Uncounted)
		}
	}
	if !known {
		p.steps++
		p.emit(p.event(transcript.KindUnknown, "", "", v), p.after(""), transcript.Uncounted)
	}
}

// event returns an event that is one value.
func (p *parser) event(kind transcript.Kind, role, typ string, v jsontext.Value) *transcript.Event {
	e := p.lend.Event(transcript.Event{Kind: kind, Role: role, Type: typ, Origin: p.origin(v)})
	e.Parts[0] = p.part(v, v)
	return e
}

func (p *parser) emit(e *transcript.Event, id string, verdict transcript.Verdict) {
	e.Conversation, e.Run, e.ID, e.Verdict = conversation, p.thread, id, verdict
	p.Emit(e)
}

// unique returns a key for a message that is not taken, and remembers it.
func (p *parser) unique(id string) string {
	if p.seen == nil {
		p.seen = map[string]int{}
	}
	if p.seen[id]++; p.seen[id] > 1 {
		id += "#" + strconv.Itoa(p.seen[id])
	}
	return id
}

// after returns the id of an event in the current message.
func (p *parser) after(suffix string) string { return p.prompt + "+" + strconv.Itoa(p.steps) + suffix }

// user yields a prompt, with a part for each text, mention and image.
func (p *parser) user(m jsontext.Value) {
	p.prompt, p.steps = p.unique(cmp.Or(m.Get("id").Text(), "user")), 0
	content := m.Get("content")
	p.parts = p.parts[:0]
	if !content.IsBlank() {
		p.parts = append(p.parts, p.part(m, content))
	}
	for item := range content.Items() {
		if text := item.Get("Text"); !text.Exists() || !text.IsBlank() {
			p.parts = append(p.parts, p.part(m, item))
		}
	}
	if len(p.parts) == 0 { // where the user asked for a summary
		p.emit(p.event(transcript.KindNotice, "user", "User", m), p.prompt, transcript.Uncounted)
		return
	}
	e := p.lend.Event(transcript.Event{Kind: transcript.KindMessage, Role: "user", Type: "User", Origin: p.origin(m)})
	e.Parts = p.parts
	p.emit(e, p.prompt, transcript.Counted)
}

// agent yields the events of an answer: one for each piece, and one for the result of each tool call in it.
func (p *parser) agent(m jsontext.Value) {
	any := false
	for key, member := range m.Fields() {
		n := 0
		switch key {
		case "content":
			for item := range member.Items() {
				p.piece(item, p.after("/"+strconv.Itoa(n)))
				n++
			}
		case "tool_results":
			for call, result := range member.Fields() {
				p.result(result, call, p.after("/result/"+strconv.Itoa(n)))
				n++
			}
		case "reasoning_details": // as the provider wants them back
			if !member.IsNull() {
				p.emit(p.event(transcript.KindNotice, "assistant", key, member), p.after("/"+key), transcript.Uncounted)
				n++
			}
		}
		any = any || n > 0
	}
	if !any {
		p.emit(p.event(transcript.KindNotice, "assistant", "Agent", m), p.after(""), transcript.Uncounted)
	}
}

// piece yields one piece of an answer.
func (p *parser) piece(v jsontext.Value, id string) {
	var typ string
	var member jsontext.Value
	for typ, member = range v.Fields() {
		break
	}
	kind, verdict := transcript.KindUnknown, transcript.Uncounted
	switch typ {
	case "Text":
		if kind = transcript.KindNotice; !member.IsBlank() {
			kind, verdict = transcript.KindMessage, transcript.Counted
		}
	case "Thinking":
		if kind = transcript.KindNotice; !member.Get("text").IsBlank() {
			kind, verdict = transcript.KindReasoning, transcript.Counted
		}
	case "RedactedThinking", "Image":
		kind = transcript.KindNotice
	case "ToolUse":
		if member.IsObject() {
			p.call(member, typ, id)
			return
		}
	}
	p.emit(p.event(kind, "assistant", typ, v), id, verdict)
}

// pathNames are the members of a call's input that name files.
var pathNames = []string{"path", "source_path", "destination_path"}

// call yields a tool call.
func (p *parser) call(v jsontext.Value, typ, id string) {
	e := p.event(transcript.KindToolCall, "assistant", typ, v)
	input := inputOf(v.Get("input"))
	c := &transcript.Call{ID: v.Get("id").Text(), Name: v.Get("name").Str(), Input: int64(input.Len()), Paths: format.Paths(input, pathNames, nil)}
	if p.calls == nil {
		p.calls = map[string]string{}
	}
	p.calls[c.ID] = c.Name
	e.Parts[0].Call = c
	p.emit(e, id, transcript.Counted)
}

// inputOf returns the input of a call, which newer versions wrap to tell JSON and text apart.
func inputOf(v jsontext.Value) jsontext.Value {
	if inner := v.Get("value"); inner.Exists() && (v.Get("type").Is("json") || v.Get("type").Is("text")) {
		for key := range v.Fields() {
			if key != "type" && key != "value" {
				return v
			}
		}
		return inner
	}
	return v
}

// result yields the result of a tool call. The result of a sub-agent names its thread.
func (p *parser) result(v jsontext.Value, call, id string) {
	call = cmp.Or(v.Get("tool_use_id").Text(), call)
	e := p.event(transcript.KindToolResult, "tool", "tool_result", v)
	e.Parts[0].Result = &transcript.Result{
		Call: call, Name: cmp.Or(v.Get("tool_name").Str(), p.calls[call]), Failed: v.Get("is_error").Bool(), Output: int64(v.Get("content").Len()),
	}
	p.emit(e, id, transcript.Counted)
	if thread := v.Get("output", "session_id").Str(); format.IsUUID(thread) && thread != p.thread && e.Parts[0].Result.Name == "spawn_agent" {
		p.Emit(&transcript.Run{ID: thread, Named: true})
		p.link(p.thread, thread, call, v)
	}
}
