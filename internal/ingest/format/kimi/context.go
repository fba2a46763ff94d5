package kimi

import (
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// context yields the records of a context.jsonl, what Kimi CLI sends to the model. It holds no times and no tokens, and is written anew
// when it is compacted: it counts where there is no wire, as in the first versions.
func (p *parser) context() {
	for o := range p.Each(format.Objects(p.in.Reader, "", p.problem)) {
		p.lend.Reset()
		if p.run == "" {
			p.begin(line{origin: o.Origin})
		}
		p.spoken(line{value: o.Value, origin: o.Origin, typ: o.Value.Get("role").Str()})
	}
	if p.run == "" {
		p.name(line{})
		p.Settle(p.run)
	}
}

// spoken yields one message of a context.
func (p *parser) spoken(l line) {
	content := l.value.Get("content")
	told := false
	say := func(v format.Value, kind transcript.Kind, role string) *transcript.Event {
		told = true
		return p.event(l, v, kind, role)
	}
	switch l.typ {
	case "user":
		if content.Exists() && !strings.HasPrefix(strings.TrimSpace(firstText(content)), "<system>CHECKPOINT ") {
			p.prompted(firstText(content))
			p.Emit(say(content, transcript.KindMessage, "user"))
		}
	case "system":
		p.Emit(say(l.value, transcript.KindSystem, "system"))
	case "assistant":
		if content.IsString() && content.Len() > len(`""`) {
			p.Emit(say(content, transcript.KindMessage, "assistant"))
		}
		for part := range content.Items() {
			kind := transcript.KindMessage
			if part.Get("type").Is("think") {
				kind = transcript.KindReasoning
			}
			p.Emit(say(part, kind, "assistant"))
		}
		for call := range l.value.Get("tool_calls").Items() {
			told = true
			p.Emit(p.call(l, call))
		}
	case "tool":
		e := say(l.value, transcript.KindToolResult, "tool")
		e.Parts[0].Result = p.result(l.value.Get("tool_call_id"), format.Value{}, content)
		p.Emit(e)
	}
	if !told {
		p.Emit(p.aside(l, transcript.KindLifecycle))
	}
}
