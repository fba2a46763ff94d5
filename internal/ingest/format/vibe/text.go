package vibe

import "github.com/txarchive/txarchive/internal/ingest/jsontext"

// textOf returns all strings of a value except ids, names of types and times, encrypted or encoded data, the configuration and
// descriptions of tools in meta.json, and what only the interface displays. It does not depend on what surrounds the value. Arguments of tools
// are taken as a whole.
var textOf = jsontext.Appended(appendText)

func appendText(dst []byte, v jsontext.Value) []byte { return jsontext.AppendText(dst, v, visit) }

func visit(dst []byte, _ int, key string, value jsontext.Value) ([]byte, bool) {
	switch key {
	case "role", "type", "kind", "id", "index", "name", "tool_call_id", "message_id", "reasoning_message_id", "reasoning_signature", "reasoning_state",
		"reasoning_payloads", "presentation", "user_display_content", "input_text", "tool_result", "context_boundary", "operation_id", "mime_type",
		"media_type", "blob", "timestamp", "model", "usage", "session_id", "parent_session_id", "start_time", "end_time", "git_commit", "username", "title_source", "stats",
		"tools_available", "config", "agent_config", "agent_profile", "experiments", "last_message_fingerprint", "import_provenance", "child_sessions",
		"created_at", "pinned_at", "bumped_at",
		"sessionId", "turnId", "createdAt", "updatedAt", "generationStatus", "relatedEntryId", "outcome", "callbackId", "toolName", "childSessionId",
		"display", "userDisplayContent", "status", "decision", "approvalType", "approvalSource", "durationMs", "mimeType", "mediaType", "alias", "_meta":
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
