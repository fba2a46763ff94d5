package vibe

import (
	"cmp"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// importedPrefix begins the ids of messages that a session got from the one that it was forked or imported from.
const importedPrefix = "imported-"

// entry yields the events of one entry of the history of a session in the unified store, unless they have been yielded.
func (p *parser) entry(v jsontext.Value, at transcript.Origin) {
	created := v.Get("createdAt")
	if !created.Exists() { // a message of the model's context
		return
	}
	id := v.Get("id").Str()
	state := string(v.Get("updatedAt").Raw()) + " " + v.Get("state", "status").Word() + " " + v.Get("generationStatus").Word()
	last := p.history.seen[id]
	known := last != ""
	if last == state {
		return
	}
	p.history.stated = true
	if id != "" { // else nothing shows that two are one
		p.history.seen[strings.Clone(id)] = state
	}
	p.begin(created.MilliTime())
	p.lend.Reset()
	switch v.Get("type").Word() {
	case "message":
		p.entryMessage(v, at)
	case "reasoning":
		p.entryReasoning(v, at)
	case "effect":
		p.effect(v, at, known)
	case "checkpoint":
		p.checkpoint(v, at)
	case "callback":
		p.entryUncounted(v, transcript.KindNotice, at)
	case "notice":
		kind := transcript.KindNotice
		if v.Get("level").Is("error") {
			kind = transcript.KindError
		}
		p.entryUncounted(v, kind, at)
	default:
		p.entryUncounted(v, transcript.KindUnknown, at)
	}
}

// entryEvent returns an event for a value of an entry. It is valid until the next entry.
func (p *parser) entryEvent(entry, v jsontext.Value, kind transcript.Kind, role string, at transcript.Origin) *transcript.Event {
	e := p.lend.Event(transcript.Event{
		Conversation: p.loc.name, ID: entry.Get("id").Str(), Kind: kind, Role: role, Type: entry.Get("type").Word(),
		Time: entry.Get("createdAt").MilliTime(), Origin: at,
	})
	e.Parts[0] = p.lend.Part(entry, v, appendText)
	return e
}

// entryUncounted yields a row that does not count for an entry.
func (p *parser) entryUncounted(v jsontext.Value, kind transcript.Kind, at transcript.Origin) {
	said := v
	if m := v.Get("message"); !m.IsBlank() { // of a notice or a checkpoint; the rest tells programs what happened
		said = m
	}
	e := p.entryEvent(v, said, kind, "", at)
	e.Verdict = transcript.Uncounted
	p.Emit(e)
}

// entryMessage yields a prompt with what the user typed, if that is something else, or an answer.
func (p *parser) entryMessage(v jsontext.Value, at transcript.Origin) {
	role := v.Get("role").Word()
	kind := transcript.KindMessage
	switch role {
	case "user", "assistant":
	case "system":
		kind = transcript.KindSystem
	default:
		p.entryUncounted(v, transcript.KindUnknown, at)
		return
	}
	if v.Get("injected").Bool() == transcript.Yes {
		kind, role = transcript.KindSystem, "system"
	}
	e := p.entryEvent(v, v.Get("content"), kind, role, at)
	if typed := v.Get("userDisplayContent", "content"); typed.HasItems() {
		if part := p.lend.Part(v, typed, appendText); part.Text != "" && part.Text != e.Parts[0].Text {
			e.Parts = append(e.Parts, part)
		}
	}
	if cause := v.Get("outcome"); cause.Get("type").Is("discarded") {
		e.Attributes.Set("discarded", cmp.Or(cause.Get("cause").Str(), "true"))
	}
	if v.Get("turnId").IsNull() && strings.HasPrefix(e.ID, importedPrefix) {
		e.Verdict = transcript.CopiedHistory
	}
	p.Emit(e)
}

// entryReasoning yields what the model thought, or the provider's summary of it.
func (p *parser) entryReasoning(v jsontext.Value, at transcript.Origin) {
	text := v.Get("text")
	if text.IsBlank() && v.Get("summary").HasItems() {
		text = v.Get("summary")
	}
	if text.IsBlank() && !text.IsArray() || text.Is("[redacted]") {
		p.entryUncounted(v, transcript.KindNotice, at)
		return
	}
	p.Emit(p.entryEvent(v, text, transcript.KindReasoning, "assistant", at))
}

// effect yields the call of a tool, unless it is known, and its result once there is one.
func (p *parser) effect(v jsontext.Value, at transcript.Origin, known bool) {
	detail, state := v.Get("detail"), v.Get("state")
	id, name := v.Get("id").Str(), cmp.Or(detail.Get("toolName").Word(), v.Get("title").Word())
	if !known {
		role := "assistant"
		if v.Get("turnId").IsNull() && detail.Get("kind").Is("shell") { // a command that the user ran
			role = "user"
		}
		input := detail.Get("input")
		e := p.entryEvent(v, detail, transcript.KindToolCall, role, at)
		e.Parts[0].Call = &transcript.Call{ID: id, Name: name, Input: int64(input.Len()), Paths: format.Paths(input, pathNames, nil)}
		p.Emit(e)
	}
	if child := detail.Get("childSessionId").Str(); child != "" && child != p.run {
		l := &transcript.Link{ID: "parent " + child, Kind: "parent", From: transcript.RunEnd(p.run), To: transcript.RunEnd(child), Origin: at}
		l.Attributes.Set("call", id)
		p.Emit(l)
	}
	failed := transcript.Yes
	status := state.Get("status").Word()
	switch status {
	case "completed":
		failed = transcript.No
	case "failed", "cancelled", "skipped":
	default: // it runs, or waits for the user
		return
	}
	output := outputOf(state)
	e := p.entryEvent(v, output, transcript.KindToolResult, "tool", at)
	if e.ID != "" {
		e.ID += "/result"
	}
	if end := v.Get("updatedAt").MilliTime(); end.Valid {
		e.Time = end
	}
	res := &transcript.Result{Call: id, Name: name, Output: int64(output.Len()), Failed: failed}
	if failed == transcript.Yes {
		res.Status = status
	}
	if ms, ok := state.Get("durationMs").Float(); ok && ms > 0 {
		res.Duration = micros(ms * 1000)
	}
	e.Parts[0].Result = res
	p.Emit(e)
}

// outputOf returns the member of a call's state that says what came of it.
func outputOf(state jsontext.Value) jsontext.Value {
	output := state.Get("output")
	if output.Get("content").HasItems() {
		return output
	}
	for _, v := range []jsontext.Value{state.Get("outputText"), state.Get("reason"), state.Get("error", "message")} {
		if !v.IsBlank() {
			return v
		}
	}
	if !output.IsNull() {
		return output
	}
	return state
}

// checkpoint yields a compaction, or another event in the life of the session.
func (p *parser) checkpoint(v jsontext.Value, at transcript.Origin) {
	switch details := v.Get("details"); {
	case !v.Get("kind").Is("compaction"):
		if v.Get("kind").Is("model_change") {
			p.history.model = strings.Clone(details.Get("model").Str())
		}
		p.entryUncounted(v, transcript.KindLifecycle, at)
	case details.Get("error").IsObject():
		p.entryUncounted(v, transcript.KindError, at)
	case v.Get("generationStatus").Is("completed"):
		p.Emit(p.entryEvent(v, v.Get("message"), transcript.KindCompaction, "system", at))
	default:
		p.entryUncounted(v, transcript.KindCompaction, at)
	}
}
