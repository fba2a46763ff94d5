package codex

import (
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// silentTypes are the event_msg types that repeat counted items for the screen, and those without words.
var silentTypes = map[string]bool{
	"user_message": true, "agent_message": true, "agent_reasoning": true, "agent_reasoning_raw_content": true,
	"agent_reasoning_section_break": true, "agent_message_delta": true, "agent_reasoning_delta": true,
	"agent_message_content_delta": true, "reasoning_content_delta": true, "token_count": true,
	"exec_command_begin": true, "exec_command_end": true, "exec_command_output_delta": true,
	"patch_apply_begin": true, "patch_apply_end": true, "mcp_tool_call_begin": true, "mcp_tool_call_end": true,
	"web_search_begin": true, "web_search_end": true, "view_image_tool_call": true, "image_generation_end": true,
	"item_started": true, "item_completed": true, "raw_response_item": true, "task_complete": true, "turn_complete": true,
	"replay_history": true,
}

// lifecycleTypes are the other types that were known when this was written.
var lifecycleTypes = map[string]bool{
	"task_started": true, "task_complete": true, "turn_started": true, "turn_complete": true, "turn_aborted": true,
	"context_compacted": true, "thread_rolled_back": true, "thread_name_updated": true, "undo_completed": true,
	"session_configured": true, "entered_review_mode": true, "exited_review_mode": true,
	"plan_update": true, "turn_diff": true, "background_event": true, "deprecation_notice": true,
	"thread_goal_updated": true, "model_reroute": true, "sub_agent_activity": true, "shutdown_complete": true,
	"collab_agent_spawn_begin": true, "collab_agent_spawn_end": true, "collab_agent_interaction_begin": true,
	"collab_agent_interaction_end": true, "collab_waiting_begin": true, "collab_waiting_end": true,
	"collab_close_begin": true, "collab_close_end": true, "collab_resume_begin": true, "collab_resume_end": true,
	"thread_settings_applied": true, "guardian_assessment": true, "dynamic_tool_call_request": true, "dynamic_tool_call_response": true,
	"hook_started": true, "hook_completed": true, "terminal_interaction": true, "request_permissions": true, "request_user_input": true,
	"mcp_startup_update": true, "mcp_startup_complete": true, "model_verification": true,
	"exec_approval_request": true, "apply_patch_approval_request": true, "elicitation_request": true,
}

// notice fills in the row of an event_msg: what the screen showed, and the bookkeeping of turns. A token_count that reports
// a request yields usage and no event: about every other line is one, and it has nothing but numbers.
func (p *parser) notice(e *transcript.Event, outer, v jsontext.Value) {
	if v.Get("type").Is("token_count") {
		if !p.tokens(e, v) {
			e.Kind, e.Type = transcript.KindLifecycle, "token_count"
		}
		return
	}
	text, it := p.itemText(v)
	e.Type = it.typ
	e.Kind = transcript.KindUnknown
	switch {
	case it.typ == "error", failed(it.typ, v):
		e.Kind = transcript.KindError
	case lifecycleTypes[it.typ]:
		e.Kind = transcript.KindLifecycle
	case silentTypes[it.typ] || it.typ == "stream_error" || it.typ == "warning" || it.typ == "guardian_warning":
		e.Kind = transcript.KindNotice
	}
	switch it.typ {
	case "session_configured": // of Every Code; Codex states the model in a turn_context
		p.useModel(e, v.Get("model").Str())
	case "thread_name_updated":
		if name := v.Get("thread_name").Str(); name != "" {
			p.name(name)
		}
	case "task_started", "turn_started":
		p.began(e, v.Get("turn_id").Str())
	case "collab_agent_spawn_end":
		p.linkSpawned(e, v.Get("new_thread_id").Str(), false)
	case "sub_agent_activity":
		p.linkActivity(e, v)
	case "item_completed":
		if item := v.Get("item"); item.Get("type").Is("SubAgentActivity") {
			p.linkActivity(e, item)
		}
	case "thread_settings_applied":
		p.settings(v.Get("thread_settings"))
	}
	switch {
	case !silentTypes[it.typ]:
		e.Parts[0].Text = text
	case p.isUnrepeated(it, v) && !v.Get("payload").Exists():
		// No counted event has this text, so it is indexed with the payload's own bytes.
		e.Parts[0].Text = text
		e.Parts[0].Offset, e.Parts[0].Length = jsontext.OffsetIn(outer, v), int64(v.Len())
	}
}

// isUnrepeated reports whether a line for the screen repeats no item so far. Items are written first, except for answers
// and reasoning: every line of those counts as a repetition.
func (p *parser) isUnrepeated(it item, v jsontext.Value) bool {
	switch it.typ {
	case "user_message":
		text := v.Get("message").Str()
		return text != "" && !p.prompts[hash(text)] && !isInjected(text)
	case "exec_command_end", "patch_apply_end", "mcp_tool_call_end", "web_search_end":
		_, known := p.calls[it.callID.Str()]
		return !known
	case "item_completed":
		return p.isUnrepeatedStep(v.Get("item"))
	}
	return failed(it.typ, v)
}

// failed reports whether a turn ended in an error, which may be stated in no other line.
func failed(typ string, v jsontext.Value) bool {
	return (typ == "task_complete" || typ == "turn_complete") && v.Get("error").IsObject()
}

// isUnrepeatedStep reports whether a step of a turn repeats no item so far: calls made by code that the model wrote,
// findings of a review, plans, which are removed from the answers.
func (p *parser) isUnrepeatedStep(step jsontext.Value) bool {
	switch step.Get("type").Word() {
	case "", "AgentMessage", "Reasoning", "WebSearch", "ImageGeneration", "ContextCompaction", "SubAgentActivity":
		return false
	case "UserMessage":
		text := firstText(step.Get("content"), 0)
		return text != "" && !p.prompts[hash(text)] && !isInjected(text)
	}
	_, known := p.calls[step.Get("id").Str()]
	return !known
}

// linkActivity links a subagent that has started. Later, a thread gets the same notices about its parent and about other
// children of its parent.
func (p *parser) linkActivity(e *transcript.Event, v jsontext.Value) {
	if kind := v.Get("kind"); !kind.Exists() || kind.Is("started") {
		p.linkSpawned(e, v.Get("agent_thread_id").Str(), true)
	}
}

// settings records the service tier of the following turns, and of the current one unless the model has already answered in
// it.
func (p *parser) settings(v jsontext.Value) {
	if !v.IsObject() {
		return
	}
	p.nextTier = v.Get("service_tier").Str()
	if !p.answered {
		p.tier = p.nextTier
	}
}

func (p *parser) linkSpawned(e *transcript.Event, child string, uncounted bool) {
	if p.begin(&e.Origin); child != "" && child != p.thread {
		p.link("parent", p.thread, child, e.Origin, uncounted)
	}
}
