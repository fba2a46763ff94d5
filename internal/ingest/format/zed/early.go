package zed

import (
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// early yields the events of a message of payloads up to 0.2.0: {id, role, segments, tool_uses, tool_results, context, is_hidden}, and
// before them with text instead of segments. In 0.1.0 the results of tool calls are in a message of the user, which says nothing else.
func (p *parser) early(m jsontext.Value) {
	role := m.Get("role").Word()
	p.prompt, p.steps = p.unique("m"+m.Get("id").Text()), 0
	any := role != "assistant"
	if any {
		p.earlyPrompt(m, role)
	}
	for key, member := range m.Fields() {
		n := 0
		switch key {
		case "segments":
			for item := range member.Items() {
				if role == "assistant" {
					p.segment(item, p.prompt+"/"+strconv.Itoa(n))
				}
				n++
			}
		case "text":
			if role == "assistant" && !member.IsBlank() {
				n++
				p.emit(p.event(transcript.KindMessage, role, key, member), p.prompt+"/text", transcript.Counted)
			}
		case "context": // what the user attached
			if !member.IsBlank() {
				n++
				p.emit(p.event(transcript.KindNotice, "user", key, member), p.prompt+"/context", transcript.Uncounted)
			}
		case "tool_uses":
			for item := range member.Items() {
				p.call(item, "tool_use", p.prompt+"/call/"+strconv.Itoa(n))
				n++
			}
		case "tool_results":
			for item := range member.Items() {
				p.result(item, "", p.prompt+"/result/"+strconv.Itoa(n))
				n++
			}
		}
		any = any || n > 0
	}
	if !any {
		p.emit(p.event(transcript.KindNotice, role, role, m), p.prompt, transcript.Uncounted)
	}
}

// earlyPrompt yields the texts of a message that is no answer, as one event.
func (p *parser) earlyPrompt(m jsontext.Value, role string) {
	p.parts = p.parts[:0]
	if text := m.Get("text"); !text.IsBlank() {
		p.parts = append(p.parts, p.part(m, text))
	}
	for item := range m.Get("segments").Items() {
		if !item.Get("text").IsBlank() {
			p.parts = append(p.parts, p.part(m, item))
		}
	}
	e := p.lend.Event(transcript.Event{Kind: transcript.KindMessage, Role: role, Type: role, Origin: p.origin(m)})
	verdict := transcript.Counted
	switch {
	case len(p.parts) == 0:
		p.parts = append(p.parts, p.part(m, m))
		e.Kind, verdict = transcript.KindNotice, transcript.Uncounted
	case m.Get("tool_results").HasItems():
		e.Kind, verdict = transcript.KindNotice, transcript.Uncounted
	case m.Get("is_hidden").Bool() == transcript.Yes:
		e.Kind, e.Role = transcript.KindSystem, "system"
		e.Attributes.Set("hidden", true)
	case role != "user":
		e.Kind = transcript.KindSystem
	}
	e.Parts = p.parts
	p.emit(e, p.prompt, verdict)
}

// segment yields one piece of an answer.
func (p *parser) segment(v jsontext.Value, id string) {
	typ := v.Get("type").Word()
	kind, verdict := transcript.KindUnknown, transcript.Uncounted
	isBlank := v.Get("text").IsBlank()
	switch typ {
	case "text":
		kind = transcript.KindMessage
	case "thinking":
		kind = transcript.KindReasoning
	case "RedactedThinking":
		kind, isBlank = transcript.KindNotice, true
	}
	switch {
	case kind == transcript.KindUnknown:
	case isBlank:
		kind = transcript.KindNotice
	default:
		verdict = transcript.Counted
	}
	p.emit(p.event(kind, "assistant", typ, v), id, verdict)
}
