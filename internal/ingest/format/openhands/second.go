package openhands

import (
	"cmp"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// otherKind returns the kind of an event of version 1 that only tells what the program did, "" of others.
func otherKind(typ string) transcript.Kind {
	switch typ {
	case "ConversationStateUpdateEvent", "PauseEvent", "InterruptEvent", "CondensationRequest", "HookExecutionEvent",
		"LLMCompletionLogEvent", "TokenEvent", "StreamingDeltaEvent":
		return transcript.KindLifecycle
	case "ConversationErrorEvent":
		return transcript.KindError
	}
	return ""
}

// second yields the records of an event of version 1.
func (p *parser) second(e *entry) {
	switch e.kind {
	case "MessageEvent":
		p.message(e)
	case "ActionEvent":
		p.reason(e, e.reasoning, e.thinking, e.item)
		if !isEmpty(e.thought) {
			p.Emit(p.event(e, "/thought", transcript.KindMessage, "assistant", "thought", e.thought))
		}
		input := e.action
		if !input.IsObject() {
			input = e.toolCall.Get("arguments")
		}
		p.call(e, input, e.summary)
	case "ObservationEvent":
		p.result(e, e.observation, e.observation.Get("is_error").Bool(), "", e.extended)
	case "AgentErrorEvent":
		p.result(e, e.value.Get("error"), transcript.Yes, "error")
	case "UserRejectObservation":
		p.result(e, e.value.Get("rejection_reason"), transcript.Yes, "rejected")
	case "SystemPromptEvent":
		p.Emit(p.event(e, "", transcript.KindSystem, "system", e.kind, e.value.Get("system_prompt"), e.value.Get("dynamic_context")))
	case "Condensation", "CondensationSummaryEvent":
		if isEmpty(e.summary) {
			p.uncounted(e, transcript.KindCompaction, e.kind)
		} else {
			p.Emit(p.event(e, "", transcript.KindCompaction, "system", e.kind, e.summary))
		}
	case "ACPToolCallEvent":
		p.outside(e)
	default:
		kind := cmp.Or(otherKind(e.kind), transcript.KindUnknown)
		if e.kind == "ConversationStateUpdateEvent" {
			p.uncounted(e, kind, e.kind, e.value.Get("key"))
		} else {
			p.uncounted(e, kind, e.kind)
		}
	}
	if e.response != "" && e.at.Valid {
		p.Hint(p.run, hintTime, e.response+"\t"+strconv.FormatInt(e.at.UnixMicro, 10), e.origin)
	}
}

// message yields what the user, the agent or the program said.
func (p *parser) message(e *entry) {
	m := e.message
	p.reason(e, m.Get("reasoning_content"), m.Get("thinking_blocks"), m.Get("responses_reasoning_item"), e.reasoning, e.thinking)
	content := m.Get("content")
	kind, role := transcript.KindSystem, "system"
	switch {
	case e.says:
		kind, role = transcript.KindMessage, "user"
	case e.source == "agent" && !m.Get("role").Is("system") && !m.Get("role").Is("user"):
		kind, role = transcript.KindMessage, "assistant"
		if isEmpty(content) {
			p.uncounted(e, transcript.KindNotice, e.kind)
			return
		}
	}
	ev := p.event(e, "", kind, role, e.kind, content)
	if !isEmpty(e.extended) { // what the program appends to a prompt
		part := p.part(e, e.extended)
		part.Kind, part.Role = transcript.KindSystem, "system"
		ev.Parts = append(ev.Parts, part)
	}
	ev.Attributes.Set("sender", e.value.Get("sender").Str())
	p.Emit(ev)
}

// reason yields the reasoning before an answer or a call, which may be there in several forms.
func (p *parser) reason(e *entry, forms ...jsontext.Value) {
	for _, v := range forms {
		if !isEmpty(v) {
			p.Emit(p.event(e, "/reasoning", transcript.KindReasoning, "assistant", "reasoning", v))
			return
		}
	}
}

// call yields a call.
func (p *parser) call(e *entry, input jsontext.Value, more ...jsontext.Value) {
	ev := p.event(e, "", transcript.KindToolCall, "assistant", e.typ(), append([]jsontext.Value{input}, more...)...)
	if e.source == "user" {
		ev.Role = "user"
	}
	ev.Model = e.model
	ev.Parts[0].Call = &transcript.Call{ID: e.callID(), Name: e.toolName(), Input: int64(input.Len()), Paths: format.Paths(input, pathNames, nil)}
	ev.Attributes.Set("security_risk", e.risk())
	p.Emit(ev)
}

// pathNames are the members of a call's input that name files.
var pathNames = []string{"path", "file_path"}

func (e *entry) risk() string {
	if risk := e.value.Get("security_risk"); risk.IsString() && !risk.Is("UNKNOWN") {
		return risk.Str()
	}
	return ""
}

// typ returns the native type of an event that is a call or a result.
func (e *entry) typ() string {
	if e.kind == "" {
		return e.action.Word() + e.observation.Word()
	}
	return e.kind
}

func (e *entry) toolName() string {
	switch {
	case e.tool != "":
		return e.tool
	case e.isFirst():
		return e.action.Word() + e.observation.Word()
	}
	return e.toolCall.Get("name").Word()
}

// callID returns the id of a call, or of the call that a result belongs to. Without an id of its own a call has that of its event.
func (e *entry) callID() string {
	if e.call != "" {
		return e.call
	}
	id := e.value.Get("action_id")
	if e.action.Exists() || !id.IsString() {
		id = e.value.Get("id")
	}
	if e.isFirst() && !e.action.IsString() {
		id = e.value.Get("cause")
	}
	if text := id.Text(); text != "" {
		return "event " + text
	}
	return ""
}

// result yields a result. status is the producer's word for how it ended.
func (p *parser) result(e *entry, output jsontext.Value, failed transcript.Truth, status string, more ...jsontext.Value) {
	ev := p.event(e, "", transcript.KindToolResult, "tool", e.typ(), append([]jsontext.Value{output}, more...)...)
	if failed == transcript.Unstated && output.Exists() {
		failed = transcript.No // it is stated only of errors
	}
	ev.Parts[0].Result = &transcript.Result{Call: e.callID(), Name: e.toolName(), Failed: failed, Status: status, Output: int64(output.Len())}
	p.Emit(ev)
}

// outside yields the call and the result of an agent that runs behind the Agent Client Protocol. Each is stated several times; the last statement
// has everything.
func (p *parser) outside(e *entry) {
	v := e.value
	e.tool = v.Get("title").Str()
	status := v.Get("status").Str()
	failed := v.Get("is_error").Bool()
	if status != "completed" && status != "failed" && failed != transcript.Yes {
		p.uncounted(e, transcript.KindNotice, e.kind)
		return
	}
	if kind := v.Get("tool_kind").Str(); kind != "" {
		e.tool = kind
	}
	input, output := v.Get("raw_input"), v.Get("raw_output")
	if isEmpty(output) {
		output = v.Get("content")
	}
	p.call(e, input, v.Get("title"))
	ev := p.event(e, "/result", transcript.KindToolResult, "tool", e.kind, output)
	ev.Parts[0].Result = &transcript.Result{Call: e.callID(), Name: e.toolName(), Failed: failed, Status: status, Output: int64(output.Len())}
	if status == "failed" {
		ev.Parts[0].Result.Failed = transcript.Yes
	}
	p.Emit(ev)
}
