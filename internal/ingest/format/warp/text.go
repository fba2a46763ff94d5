package warp

import (
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// Text returns the text of one part of an event.
func (warp) Text(role string, raw []byte, _ int) (string, error) {
	return format.TextOf(role, raw, jsontext.Appended(appendValue))
}

// appendValue appends the text of a row or a piece of it, from its own bytes: of a conversation's row the name of its agent and what it made, of a row
// of a task or a prompt nothing, of a call and a result all strings and numbers, and of everything else all strings.
func appendValue(dst []byte, v jsontext.Value) []byte {
	switch table := v.Get("table"); {
	case table.Is(tableConversation):
		data := v.Get("conversation_data")
		return appendStrings(jsontext.AppendStrings(dst, data.Get("agent_name")), data.Get("artifacts_json").Unwrap())
	case table.Is(tableTask), table.Is(tableQuery):
		return dst
	case v.Get("tool_call_id").Exists():
		return jsontext.AppendTextAndNumbers(dst, v, visit)
	}
	return appendStrings(dst, v)
}

func appendStrings(dst []byte, v jsontext.Value) []byte { return jsontext.AppendText(dst, v, visit) }

// skipped are members that hold no text to search.
var skipped = map[string]bool{
	"table": true, "id": true, "task_id": true, "request_id": true, "conversation_id": true, "tool_call_id": true, "command_id": true, "question_id": true, "comment_id": true,
	"message_id": true, "event_id": true, "document_id": true, "server_id": true, "artifact_uid": true, "notebook_uid": true, "uid": true, "sender_agent_id": true, "todo_ids": true,
	otherFields: true, "timestamp": true, "directory": true, "git": true, "mode": true, "mime_type": true, "images": true, "line_range": true, "line_ranges": true, "exit_code": true, "data": true,
}

func visit(dst []byte, _ int, key string, v jsontext.Value) ([]byte, bool) {
	switch key {
	case "args": // of a tool of an MCP server, which may call its members anything
		return jsontext.AppendScalars(dst, v), true
	case "context": // a list beside a prompt for the history: it has the rules of the project
		return dst, v.IsArray()
	}
	return dst, skipped[key] || v.IsDataURL() || v.IsBase64()
}
