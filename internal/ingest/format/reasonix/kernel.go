package reasonix

import (
	"cmp"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// kinds are the types of lines in the log of version 0. Those with KindMessage count, or are part of something that does.
var kinds = map[string]transcript.Kind{
	"user.message": transcript.KindMessage, "model.final": transcript.KindMessage, "tool.intent": transcript.KindMessage,
	"tool.result": transcript.KindMessage, "session.compacted": transcript.KindMessage, "error": transcript.KindMessage,
	"model.delta": transcript.KindNotice, "slash.invoked": transcript.KindNotice, "status": transcript.KindNotice,
	"tool.denied": transcript.KindNotice, "tool.call": transcript.KindNotice, "tool.confirm.allow": transcript.KindNotice,
	"tool.confirm.deny": transcript.KindNotice, "tool.confirm.always_allow": transcript.KindNotice,
	"effect.file.touched": transcript.KindNotice, "effect.memory.written": transcript.KindNotice,
	"plan.submitted": transcript.KindNotice, "plan.step.completed": transcript.KindNotice,
	"policy.budget.warning": transcript.KindNotice, "policy.budget.blocked": transcript.KindNotice,
	"policy.escalated":   transcript.KindNotice,
	"model.turn.started": transcript.KindLifecycle, "tool.preparing": transcript.KindLifecycle,
	"tool.dispatched": transcript.KindLifecycle, "checkpoint.created": transcript.KindLifecycle,
	"checkpoint.restored": transcript.KindLifecycle, "hook.fired": transcript.KindLifecycle,
	"session.opened": transcript.KindLifecycle, "capability.registered": transcript.KindLifecycle,
	"capability.removed": transcript.KindLifecycle,
}

// kernel yields the events of a line in the log of version 0, which calls what is said by the same words as the messages.
func (p *parser) kernel(v jsontext.Value) {
	typ, at := v.Get("type").Word(), v.Get("ts").Time()
	n := p.saidSoFar()
	switch typ {
	case "user.message":
		p.one(piece{kind: transcript.KindMessage, role: "user", typ: "user", value: v.Get("text")}, at)
	case "model.final":
		p.final(v, at)
	case "tool.intent":
		p.intent(v, at)
	case "tool.result":
		p.output(v, at)
	case "session.compacted":
		if v.Get("replacementMessages").HasItems() {
			p.compacted(v, at)
			return
		}
	case "error":
		p.failure(v, at)
	case "model.turn.started":
		if model := v.Get("model").Word(); model != "" {
			p.facts.Model = model
		}
	}
	if p.saidSoFar() > n {
		return
	}
	kind, ok := kinds[typ]
	switch {
	case !ok:
		kind = transcript.KindUnknown
	case kind == transcript.KindMessage:
		kind = transcript.KindNotice
	}
	p.Uncounted(kind, typ, at)
}

func (p *parser) saidSoFar() int { return len(p.done) }

// one yields an event for a piece, unless it says nothing.
func (p *parser) one(one piece, at transcript.Time) {
	if !says(one.value) {
		return
	}
	if one.hash == 0 {
		one.hash = hashOf(one.typ, saidIn(one.typ, one.value))
	}
	id := one.key
	if id == "" {
		id = p.number(one.hash, p.said)
	}
	if one.call.Exists() {
		p.calls[one.call.Str()] = call{one.call.Str(), id, one.name}
	}
	if p.done[id] {
		return
	}
	p.done[id] = true
	if one.role == "user" {
		p.TitleFrom(one.value.Str(), format.PromptRank(at))
	}
	p.emit(p.event(&one, id, at))
}

// final yields what a request has answered. The calls that it may name are told again before they are made.
func (p *parser) final(v jsontext.Value, at transcript.Time) {
	base := piece{role: "assistant", typ: "assistant", model: p.facts.Model}
	reasoning := base
	reasoning.kind, reasoning.typ, reasoning.value = transcript.KindReasoning, "reasoning", v.Get("reasoningContent")
	p.one(reasoning, at)
	answer := base
	answer.kind, answer.value = transcript.KindMessage, v.Get("content")
	p.one(answer, at)
	for c := range v.Get("toolCalls").Items() {
		one := callPiece(base, c, c.Get("id"))
		p.one(one, at)
		p.named[one.hash] = append(p.named[one.hash], p.calls[one.call.Str()])
	}
	p.request(v, at)
}

func (p *parser) intent(v jsontext.Value, at transcript.Time) {
	one := callPiece(piece{model: p.facts.Model}, v, v.Get("callId"))
	if told := p.named[one.hash]; len(told) > 0 {
		p.calls[one.call.Str()], p.named[one.hash] = told[0], told[1:]
		return
	}
	p.one(one, at)
}

func (p *parser) output(v jsontext.Value, at transcript.Time) {
	id, out := v.Get("callId").Str(), v.Get("output")
	asked := p.calls[id]
	id = cmp.Or(asked.id, id)
	one := piece{
		kind: transcript.KindToolResult, role: "tool", typ: "result", value: out,
		key: keyOf(asked.event), hash: hashOf("result", id+"\x00"+wordsOf(out)),
		result: &transcript.Result{
			Call: id, Name: asked.name, Failed: v.Get("ok").Bool().Not(), Output: int64(out.Len()),
			Cut: v.Get("truncated").Bool() == transcript.Yes,
		},
	}
	if ms, ok := v.Get("durationMs").Int(); ok && ms > 0 {
		one.result.Duration = transcript.Known(ms * 1000)
	}
	if !says(out) {
		one.value = v
	}
	p.one(one, at)
}

// compacted yields what a compaction has put in the place of the messages.
func (p *parser) compacted(v jsontext.Value, at transcript.Time) {
	var all []jsontext.Value
	for m := range v.Get("replacementMessages").Items() {
		all = append(all, m)
	}
	p.list(true, at, all...)
}

// failure yields an error. One that the program got over is a notice.
func (p *parser) failure(v jsontext.Value, at transcript.Time) {
	if v.Get("recoverable").Bool() == transcript.Yes || v.Get("message").IsBlank() {
		return
	}
	one := piece{kind: transcript.KindError, role: "system", typ: "error", value: v.Get("message")}
	one.key = "e" + v.Get("ts").Str() + " " + strconv.FormatUint(hashOf("error", wordsOf(one.value)), 36)
	p.one(one, at)
}
