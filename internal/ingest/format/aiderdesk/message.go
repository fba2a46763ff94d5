package aiderdesk

import (
	"cmp"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// message yields the events of a message.
func (p *parser) message(t *talk, m *message) {
	if t.call == "" {
		format.Extend(&p.facts.Started, &p.facts.Ended, m.at)
	}
	said := false
	switch m.role {
	case "user", "system":
		p.request(t)
		said = p.prompt(t, m)
	case "assistant":
		p.request(t)
		p.answered(t, m)
		said = p.answer(t, m)
	case "tool":
		p.answered(t, m)
		for v := range m.content.Items() {
			said = true
			if v.Get("type").Is("tool-result") {
				p.result(t, m, v)
			} else {
				p.uncounted(t, m, v, transcript.KindUnknown)
			}
		}
	default:
		p.uncounted(t, m, jsontext.Value{}, transcript.KindUnknown)
		return
	}
	if !said {
		p.uncounted(t, m, jsontext.Value{}, transcript.KindNotice)
	}
}

// event returns an event for one value of a message, or the whole message. It is valid until the next message.
func (p *parser) event(t *talk, m *message, v jsontext.Value, kind transcript.Kind, role string) *transcript.Event {
	e := p.lend.Event(transcript.Event{Conversation: t.id, Kind: kind, Role: role, Time: m.at, Origin: m.origin})
	if m.id != "" {
		e.ID, e.Global = m.role+" "+m.id, true
	}
	if role == "assistant" {
		e.Model = m.report.Get("model").Word()
	}
	e.Parts[0] = p.lend.Part(m.value, v, appendText)
	return e
}

// uncounted yields a row that does not count for a value of a message, or the whole message. Its place is its identity.
func (p *parser) uncounted(t *talk, m *message, v jsontext.Value, kind transcript.Kind) {
	e := p.event(t, m, v, kind, "")
	e.Verdict, e.ID, e.Global = transcript.Uncounted, "", false
	p.Emit(e)
}

// prompt yields what the user said, or what started a sub-agent, and reports whether there was any of it.
func (p *parser) prompt(t *talk, m *message) bool {
	kind, role := transcript.KindMessage, "user"
	if m.role == "system" {
		kind, role = transcript.KindSystem, "system"
	}
	var e *transcript.Event
	if !m.content.IsBlank() {
		e = p.event(t, m, m.content, kind, role)
	}
	for v := range m.content.Items() {
		switch text := v.Get("text"); {
		case text.IsBlank() && (text.IsString() || !v.IsObject()):
		case e == nil:
			e = p.event(t, m, v, kind, role)
		default:
			e.Parts = append(e.Parts, p.lend.Part(m.value, v, appendText))
		}
	}
	if e == nil {
		return false
	}
	if t.call == "" && p.facts.Title == "" && kind == transcript.KindMessage {
		p.facts.Title = strings.Clone(format.Title(e.Parts[0].Text))
	}
	p.Emit(e)
	return true
}

// answer yields what the agent thought, said and called. It reports whether there was any of it.
func (p *parser) answer(t *talk, m *message) (said bool) {
	if model := m.report.Get("model").Word(); model != "" && t.call == "" {
		p.facts.Model = model
	}
	emit := func(v jsontext.Value, kind transcript.Kind) *transcript.Event {
		said = true
		return p.event(t, m, v, kind, "assistant")
	}
	if !m.content.IsBlank() {
		p.Emit(emit(m.content, transcript.KindMessage))
	}
	for v := range m.content.Items() {
		switch typ := v.Get("type").Word(); typ {
		case "text", "reasoning":
			kind := transcript.KindMessage
			if typ == "reasoning" {
				kind = transcript.KindReasoning
			}
			if !v.Get("text").IsBlank() {
				p.Emit(emit(v, kind))
			}
		case "tool-call":
			e := emit(v, transcript.KindToolCall)
			input := v.First("input", "args")
			c := &transcript.Call{
				ID: v.Get("toolCallId").Str(), Name: v.Get("toolName").Word(), Input: int64(input.Len()), Paths: format.Paths(input, pathNames, nil),
			}
			if e.Parts[0].Call = c; c.ID != "" {
				p.tools[c.ID] = c.Name
			}
			p.Emit(e)
		case "tool-result":
			said = true
			p.result(t, m, v)
		default:
			said = true
			p.uncounted(t, m, v, transcript.KindUnknown)
		}
	}
	return said
}

// pathNames are the members of a call's input that name files.
var pathNames = []string{"filePath", "file_path", "path"}

// result yields what came of a call, and what it holds of others: the messages of a sub-agent, and what Aider answered.
func (p *parser) result(t *talk, m *message, v jsontext.Value) {
	output := outputOf(v)
	res := &transcript.Result{Call: v.Get("toolCallId").Str(), Failed: v.Get("isError").Bool(), Output: int64(output.Len())}
	res.Name = cmp.Or(v.Get("toolName").Word(), p.tools[res.Call])
	switch typ := v.Get("output", "type").Str(); {
	case strings.HasPrefix(typ, "error"):
		res.Failed = transcript.Yes
	case typ != "" && res.Failed == transcript.Unstated:
		res.Failed = transcript.No
	}
	e := p.event(t, m, v, transcript.KindToolResult, "tool")
	e.Parts[0].Result = res
	p.Emit(e)
	if v.Get("toolName").Is(aiderTool) {
		for answer := range output.Get("responses").Items() {
			p.used(t, answer.Get("usageReport"), answer.Get("messageId").Str(), answer, transcript.Time{})
		}
	}
	list := messagesIn(v)
	if !list.HasItems() || res.Call == "" {
		return
	}
	sub := &talk{id: res.Call, call: res.Call}
	p.Emit(&transcript.Conversation{ID: sub.id, Run: p.run, Child: true, Agent: res.Name})
	end := func(t *talk) transcript.End {
		return transcript.End{Type: "conversation", ID: p.run, Conversation: t.id}
	}
	p.Emit(&transcript.Link{Kind: "parent", From: end(t), To: end(sub), Origin: m.origin})
	m.begun = append(m.begun, begun{sub, list})
}

// outputOf returns what a tool returned.
func outputOf(v jsontext.Value) jsontext.Value {
	if output := v.Get("output", "value"); output.Exists() {
		return output
	}
	return v.First("output", "result")
}

// The tools that have requests of their own. Those of tasks return messages, too, which are another task's.
const (
	aiderTool   = "aider---run_prompt"
	agentsGroup = "subagents---"
)

// messagesIn returns the messages of a sub-agent in the result of its tool: what that returned is a list, or has one.
func messagesIn(v jsontext.Value) jsontext.Value {
	if !strings.HasPrefix(v.Get("toolName").Str(), agentsGroup) {
		return jsontext.Value{}
	}
	output := outputOf(v)
	list := output.Get("messages")
	if output.IsArray() {
		list = output
	}
	for v := range list.Items() {
		if v.Get("role").IsString() && v.Get("content").Exists() {
			return list
		}
		break
	}
	return jsontext.Value{}
}
