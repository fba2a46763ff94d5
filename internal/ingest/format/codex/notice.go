package codex

import (
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// silent are the event_msg types that repeat counted items for the screen, and those without words.
var silent = map[string]bool{
	"user_message": true, "agent_message": true, "agent_reasoning": true, "agent_reasoning_raw_content": true,
	"agent_reasoning_section_break": true, "agent_message_delta": true, "agent_reasoning_delta": true,
	"agent_message_content_delta": true, "reasoning_content_delta": true, "token_count": true,
	"exec_command_begin": true, "exec_command_end": true, "exec_command_output_delta": true,
	"patch_apply_begin": true, "patch_apply_end": true, "mcp_tool_call_begin": true, "mcp_tool_call_end": true,
	"web_search_begin": true, "web_search_end": true, "view_image_tool_call": true, "image_generation_end": true,
	"item_started": true, "item_completed": true, "raw_response_item": true, "task_complete": true, "turn_complete": true,
}

// lifecycle are the other types that were known when this was written.
var lifecycle = map[string]bool{
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

// notice makes a row of an event_msg: what the screen showed, and the bookkeeping of turns. Of a token_count that tells of a
// request it makes the record of that, and no event: every other line or so is one, and nothing but numbers.
func (p *parser) notice(e *transcript.Event, whole, v format.Value) {
	if v.Get("type").Is("token_count") {
		if !p.tokens(e, v.Get("info")) {
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
	case lifecycle[it.typ]:
		e.Kind = transcript.KindLifecycle
	case silent[it.typ] || it.typ == "stream_error" || it.typ == "warning" || it.typ == "guardian_warning":
		e.Kind = transcript.KindNotice
	}
	switch it.typ {
	case "thread_name_updated":
		if name := v.Get("thread_name").Str(); name != "" {
			p.name(name)
		}
	case "collab_agent_spawn_end":
		p.spawned(e, v.Get("new_thread_id").Str(), false)
	case "sub_agent_activity":
		p.active(e, v)
	case "item_completed":
		if item := v.Get("item"); item.Get("type").Is("SubAgentActivity") {
			p.active(e, item)
		}
	case "thread_settings_applied":
		p.settings(v.Get("thread_settings"))
	}
	switch {
	case !silent[it.typ]:
		e.Parts[0].Text = text
	case p.alone(it, v) && !v.Get("payload").Exists():
		// Nothing that counts has these words: they are found in the payload's own bytes.
		e.Parts[0].Text = text
		e.Parts[0].Offset, e.Parts[0].Length = format.OffsetIn(whole, v), int64(v.Len())
	}
}

// alone says of a line for the screen that no item so far is the one that it repeats. Items are written first, but
// for answers and thoughts: of those every line is taken for a repetition.
func (p *parser) alone(it item, v format.Value) bool {
	switch it.typ {
	case "user_message":
		text := v.Get("message").Str()
		return text != "" && !p.prompts[hash(text)] && !injected(text)
	case "exec_command_end", "patch_apply_end", "mcp_tool_call_end", "web_search_end":
		_, known := p.calls[it.callID.Str()]
		return !known
	case "item_completed":
		return p.unrepeated(v.Get("item"))
	}
	return failed(it.typ, v)
}

// failed says that a turn ended in an error, which no other line need tell.
func failed(typ string, v format.Value) bool {
	return (typ == "task_complete" || typ == "turn_complete") && v.Get("error").IsObject()
}

// unrepeated says of a step of a turn that no item so far is it: what code that the model wrote has called, what a review found, plans,
// which are taken out of the answers.
func (p *parser) unrepeated(step format.Value) bool {
	switch step.Get("type").Word() {
	case "", "AgentMessage", "Reasoning", "WebSearch", "ImageGeneration", "ContextCompaction", "SubAgentActivity":
		return false
	case "UserMessage":
		text := nthText(step.Get("content"), 0)
		return text != "" && !p.prompts[hash(text)] && !injected(text)
	}
	_, known := p.calls[step.Get("id").Str()]
	return !known
}

// active links what a subagent's start tells of. Later a thread hears of its parent, and of others of its parent's, in the same way.
func (p *parser) active(e *transcript.Event, v format.Value) {
	if kind := v.Get("kind"); !kind.Exists() || kind.Is("started") {
		p.spawned(e, v.Get("agent_thread_id").Str(), true)
	}
}

// settings takes the service tier of the turns that follow, and of this one unless the model has answered in it.
func (p *parser) settings(v format.Value) {
	if !v.IsObject() {
		return
	}
	p.nextTier = v.Get("service_tier").Str()
	if !p.answered {
		p.tier = p.nextTier
	}
}

func (p *parser) spawned(e *transcript.Event, child string, uncounted bool) {
	if p.begin(&e.Origin); child != "" && child != p.thread {
		p.link("parent", p.thread, child, e.Origin, uncounted)
	}
}
