package kiro

import (
	"bytes"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// Text returns the text of one part of an event.
func (kiro) Text(role string, raw []byte, _ int) (string, error) {
	return format.TextOf(role, raw, func(v jsontext.Value) string {
		return jsontext.Build(func(dst []byte) []byte { return appendText(dst, role, v) })
	})
}

// appendText appends the text of a value, from its own bytes: all strings except ids, types, names of models, signatures, encoded data, and
// what is repeated from elsewhere. The input of a tool, and a result that is JSON, are taken as a whole.
func appendText(dst []byte, role string, v jsontext.Value) []byte {
	if role == roleExecution {
		if v.Get("actionType").Exists() { // a whole action, with its times
			return jsontext.AppendStrings(dst, v)
		}
		return jsontext.AppendScalars(dst, v)
	}
	return jsontext.AppendText(dst, v, visit)
}

func visit(dst []byte, depth int, key string, v jsontext.Value) ([]byte, bool) {
	switch key {
	case "args", "input", "Json":
		return jsontext.AppendScalars(dst, v), true
	case "data":
		// A result that is JSON: anything but a call, a result or a thought.
		if v.IsObject() && !v.Get("toolUseId").Exists() && !v.Get("signature").Exists() && !v.Get("message_id").Exists() && !v.Get("modelId").Exists() {
			if depth == 1 { // of a line
				return jsontext.AppendStrings(dst, v), true
			}
			return jsontext.AppendScalars(dst, v), true
		}
	}
	if original := v.Get("orig_name"); original.Exists() { // a call: the program replaces what was wrong with it
		name, args := v.Get("name"), v.Get("args")
		if name.Is(dummyTool) {
			name, args = original, v.Get("orig_args")
		}
		return jsontext.AppendScalars(jsontext.AppendStrings(dst, name), args), true
	}
	return dst, depth > 0 && skipped[key] || v.IsDataURL() || v.IsBase64()
}

// skipped are members that hold no text to search, or repeat it.
var skipped = map[string]bool{
	"table": true, "cwd": true, "conversation_id": true, "message_id": true, "id": true, "tool_use_id": true, "toolUseId": true, "toolCallId": true, "status": true,
	"kind": true, "version": true, "type": true, "role": true, "timestamp": true, "format": true, "signature": true, "redacted_content": true, "redactedContent": true,
	"modelId": true, "model_id": true, "reasoningSignature": true, "reasoningModelId": true, "executionId": true, "requestIds": true, "operationType": true, "actionType": true,
	"key": true, "traceparent": true, "userMessageTag": true,
	// of a conversation's state
	"tools": true, "tangent_state": true, "file_line_tracker": true, "model": true, "model_info": true, "user_turn_metadata": true, "mcp_server_versions": true,
	"mcp_registry_cache": true, "mcp_last_checked": true, "env_context": true, "request_metadata": true,
	// of a log
	"results": true, "messages_snapshot": true, "strategy": true,
}

// instructions begin what the editor tells the model in the user's name.
var instructions = [][]byte{
	[]byte("# System Prompt"), []byte("# Identity"), []byte("<identity>"), []byte("<key_kiro_features>"), []byte("## Included Rules"),
	[]byte("You are operating in a workspace"), []byte("<EnvironmentContext>"),
}

// isInstruction reports whether a message in the user's name is the editor's.
func isInstruction(text jsontext.Value) bool {
	if !text.IsString() {
		return false
	}
	raw := bytes.TrimLeft(text.Body(), " ")
	for _, start := range instructions {
		if bytes.HasPrefix(raw, start) {
			return true
		}
	}
	return false
}
