package openhands

import (
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// isCall reports whether an action of version 0 calls a tool, even without the metadata of a call.
func isCall(action string) bool {
	switch action {
	case "read", "write", "edit", "run", "run_ipython", "browse", "browse_interactive", "delegate", "think", "finish", "reject", "call_tool_mcp", "mcp",
		"task_tracking", "push", "send_pr", "search":
		return true
	}
	return false
}

// isState reports whether an action or observation of version 0 only tells what the program did.
func isState(name string) bool {
	switch name {
	case "null", "change_agent_state", "agent_state_changed", "recall", "condensation_request", "start", "pause", "resume", "stop", "loop_recovery",
		"loop_detection":
		return true
	}
	return false
}

// first yields the records of an event of version 0.
func (p *parser) first(e *entry) {
	if e.action.IsString() {
		p.actionOf(e)
	} else {
		p.observationOf(e)
	}
	p.requests(e)
}

// actionOf yields what an action says or does.
func (p *parser) actionOf(e *entry) {
	name := e.action.Word()
	said := e.args.Get("content")
	if m := e.metadata.Get("model_response"); m.IsObject() {
		p.firstReasoning(e, m)
	}
	switch {
	case name == "message" && e.says:
		p.Emit(p.event(e, "", transcript.KindMessage, "user", name, said))
	case name == "message" && e.source == "agent":
		ev := p.event(e, "", transcript.KindMessage, "assistant", name, said)
		ev.Model = e.model
		p.Emit(ev)
	case name == "message", name == "system":
		p.Emit(p.event(e, "", transcript.KindSystem, "system", name, said))
	case name == "condensation" || name == "summarize":
		if summary := e.args.Get("summary"); isEmpty(summary) {
			p.uncounted(e, transcript.KindCompaction, name)
		} else {
			p.Emit(p.event(e, "", transcript.KindCompaction, "system", name, summary))
		}
	case isState(name):
		p.uncounted(e, transcript.KindLifecycle, name, e.args)
	case isCall(name) || e.call != "":
		thought := e.args.Get("thought")
		if name == "think" && !isEmpty(thought) {
			p.call(e, thought)
			return
		}
		if !isEmpty(thought) {
			ev := p.event(e, "/thought", transcript.KindMessage, "assistant", "thought", thought)
			ev.Model = e.model
			p.Emit(ev)
		}
		p.call(e, e.args, e.written())
		if name == "delegate" {
			p.Hint(p.run, hintDelegate, name, e.origin)
		}
	default:
		p.uncounted(e, transcript.KindUnknown, name)
	}
}

// written returns what a call writes to a file if the action does not have it: then it is only in the response.
func (e *entry) written() (arguments jsontext.Value) {
	for _, key := range []string{"content", "file_text", "new_str", "translated_ipython_code"} {
		if !isEmpty(e.args.Get(key)) {
			return jsontext.Value{}
		}
	}
	if !e.action.Is("edit") && !e.action.Is("write") {
		return jsontext.Value{}
	}
	for choice := range e.metadata.Get("model_response", "choices").Items() {
		for call := range choice.Get("message", "tool_calls").Items() {
			if call.Get("id").Str() == e.call {
				arguments = call.Get("function", "arguments")
			}
		}
	}
	return arguments
}

// firstReasoning yields the reasoning in a response. Each call of the response repeats it.
func (p *parser) firstReasoning(e *entry, response jsontext.Value) {
	for choice := range response.Get("choices").Items() {
		m := choice.Get("message")
		for _, v := range []jsontext.Value{m.Get("reasoning_content"), m.Get("thinking_blocks")} {
			if isEmpty(v) {
				continue
			}
			ev := p.event(e, "/reasoning", transcript.KindReasoning, "assistant", "reasoning", v)
			if ev.Model = e.model; e.response != "" {
				ev.ID, ev.Global, ev.Home = "response "+e.response+"/reasoning", true, p.home()
			}
			p.Emit(ev)
			return
		}
	}
}

// observationOf yields what a tool gave, or the program told.
func (p *parser) observationOf(e *entry) {
	name := e.observation.Word()
	_, caused := e.value.Get("cause").Int()
	output := e.content
	if name == "recall" || isEmpty(output) && (isState(name) || name == "delegate") {
		output = e.extras
	}
	switch {
	case name == "recall":
		if textOf(output) == "" {
			p.uncounted(e, transcript.KindLifecycle, name)
		} else {
			p.Emit(p.event(e, "", transcript.KindSystem, "system", name, output))
		}
	case isState(name):
		p.uncounted(e, transcript.KindLifecycle, name, output)
	case e.call == "" && !caused && name == "error":
		p.uncounted(e, transcript.KindError, name, output)
	case e.call == "" && !caused:
		p.uncounted(e, transcript.KindUnknown, name)
	case name == "user_rejected":
		p.result(e, output, transcript.Yes, "rejected")
	case name == "error":
		p.result(e, output, transcript.Yes, name)
	default:
		p.result(e, output, e.failed(), "")
	}
}

// failed reports whether a tool has failed, as far as the observation states it. The exit code is -1 while a command runs.
func (e *entry) failed() transcript.Truth {
	switch e.value.Get("success").Bool() {
	case transcript.Yes:
		return transcript.No
	case transcript.No:
		return transcript.Yes
	}
	for _, v := range []jsontext.Value{e.extras.Get("metadata", "exit_code"), e.extras.Get("exit_code")} {
		if n, ok := v.Int(); ok && n > 0 {
			return transcript.Yes
		}
	}
	return transcript.Unstated
}
