package grok

import "github.com/txarchive/txarchive/internal/ingest/jsontext"

// appendChunk appends the text of a line that is a part of a message. Parts of a prompt are separate blocks, those of an answer are fragments.
func appendChunk(dst []byte, line jsontext.Value) []byte {
	u := line.Get("params", "update")
	if u.Get("sessionUpdate").Is("user_message_chunk") {
		return appendText(dst, u.Get("content"))
	}
	return append(dst, u.Get("content", "text").Str()...)
}

// appendUpdate appends the text of any other line.
func appendUpdate(dst []byte, line jsontext.Value) []byte {
	u := line.Get("params", "update")
	switch kind := u.Get("sessionUpdate").Str(); {
	case !u.IsObject():
		return appendText(dst, line)
	case kind == "tool_call":
		return appendInput(dst, u.First("rawInput", "title"))
	case kind == "tool_call_update" && !isEnd(u):
		if input := u.Get("rawInput"); input.Exists() {
			return appendInput(dst, input)
		}
		return appendText(dst, u.Get("content"))
	case kind == "tool_call_update":
		return appendData(appendText(dst, u.Get("content")), u.Get("rawOutput"))
	case kind == "turn_completed" && u.Get("stop_reason").Is("end_turn"):
		return dst // its text is that of the last message
	case kind == "available_commands_update", kind == "hooks_changed", kind == "plugins_changed":
		return dst
	}
	return appendText(dst, u)
}

// appendText appends all strings of a value except ids, names of types and times, encrypted or encoded data, and counts. It does not depend on
// what surrounds the value. Arguments of tools are taken as a whole.
func appendText(dst []byte, v jsontext.Value) []byte {
	if v.Get("tool_type").IsString() { // a call of a tool of the service
		return appendInput(dst, v)
	}
	return jsontext.AppendText(dst, v, visit)
}

// appendInput appends what goes into a tool: all but ids and states that the program adds.
func appendInput(dst []byte, v jsontext.Value) []byte {
	if !v.IsObject() {
		return jsontext.AppendScalars(dst, v)
	}
	service := v.Get("tool_type").IsString()
	for key, m := range v.Fields() {
		switch {
		case key == "variant", service && (key == "id" || key == "status"):
		case service && key == "action":
			dst = appendData(dst, m)
		default:
			dst = jsontext.AppendScalars(dst, m)
		}
	}
	return dst
}

// appendData is appendText for what comes out of a tool, in which numbers are text.
func appendData(dst []byte, v jsontext.Value) []byte {
	return jsontext.AppendTextAndNumbers(dst, v, visit)
}

func visit(dst []byte, _ int, key string, value jsontext.Value) ([]byte, bool) {
	switch key {
	case "sessionUpdate", "type", "role", "variant", "id", "tool_call_id", "toolCallId", "prompt_id", "stop_reason", "_meta", "priority", "kind", "status",
		"mimeType", "mime_type", "encrypted_content", "model_id", "model_fingerprint", "synthetic_reason", "usage", "modelUsage", "task_id",
		"task_type", "event_name", "subagent_id", "child_session_id", "parent_session_id", "parent_prompt_id", "attempt_id", "agentAddress",
		"owner_session_id", "info", "created_at", "updated_at", "last_active_at", "forked_at", "current_model_id", "session_kind",
		"collection_id", "request_id", "head_commit", "git_remotes", "grok_home", "checkpoint_id", "checkpoint_file",
		"last_turn_summary_prompt_id", "fork_parent_prompt_id", "fork_context_source", "effective_context_source", "reasoning_effort",
		"sandbox_profile", "capability_mode", "model", "effective_model_id", "btwSessionId", "parentSessionId", "askedAt":
		return dst, true
	case "arguments", "input":
		return jsontext.AppendScalars(dst, value.Unwrap()), true
	case "data":
		if value.IsBase64() {
			return dst, true
		}
	}
	return dst, value.IsDataURL()
}
