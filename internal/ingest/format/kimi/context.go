package kimi

import (
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// context yields the records of context.jsonl, the messages that Kimi CLI sends to the model. It has no times and no tokens, and is rewritten
// on compaction: it counts only where there is no wire, as in the first versions.
func (p *parser) context() {
	for o := range p.Each(jsontext.Objects(p.in.Reader, "", p.problem)) {
		p.lend.Reset()
		if p.run == "" {
			p.begin(line{origin: o.Origin})
		}
		p.contextMessage(line{value: o.Value, origin: o.Origin, typ: o.Value.Get("role").Str()})
	}
	if p.run == "" {
		p.identify(line{})
		p.Settle(p.run)
	}
}

// contextMessage yields one message of a context.
func (p *parser) contextMessage(l line) {
	content := l.value.Get("content")
	emitted := false
	event := func(v jsontext.Value, kind transcript.Kind, role string) *transcript.Event {
		emitted = true
		return p.event(l, v, kind, role)
	}
	switch l.typ {
	case "user":
		if content.Exists() && !strings.HasPrefix(strings.TrimSpace(firstText(content)), "<system>CHECKPOINT ") {
			p.setTitleFrom(firstText(content))
			p.Emit(event(content, transcript.KindMessage, "user"))
		}
	case "system":
		p.Emit(event(l.value, transcript.KindSystem, "system"))
	case "assistant":
		if content.IsString() && content.Len() > len(`""`) {
			p.Emit(event(content, transcript.KindMessage, "assistant"))
		}
		for part := range content.Items() {
			p.Emit(event(part, partKind(part), "assistant"))
		}
		for call := range l.value.Get("tool_calls").Items() {
			emitted = true
			p.Emit(p.call(l, call))
		}
	case "tool":
		e := event(l.value, transcript.KindToolResult, "tool")
		e.Parts[0].Result = p.result(l.value.Get("tool_call_id"), jsontext.Value{}, content)
		p.Emit(e)
	}
	if !emitted {
		p.Emit(p.uncountedRow(l, transcript.KindLifecycle))
	}
}
