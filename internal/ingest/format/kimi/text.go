package kimi

import "github.com/txarchive/txarchive/internal/ingest/jsontext"

// textOf returns all strings of a value except ids, type names, times, encoded data, the display form of a call and
// tool definitions. It does not depend on what surrounds the value. Arguments and outputs of tools are taken as a whole.
var textOf = jsontext.Appended(appendText)

func appendText(dst []byte, v jsontext.Value) []byte { return jsontext.AppendText(dst, v, visit) }

func visit(dst []byte, _ int, key string, value jsontext.Value) ([]byte, bool) {
	switch key {
	case "type", "uuid", "stepUuid", "parentUuid", "turnId", "toolCallId", "tool_call_id", "id", "agentId", "agent_id", "messageId", "message_id", "traceId",
		"time", "timestamp", "created_at", "createdAt", "updatedAt", "hash", "toolsHash", "systemPromptHash", "protocol_version", "app_version", "model",
		"modelAlias", "provider", "usageScope", "origin", "role", "tools", "display", "encrypted", "homedir", "parent_tool_call_id",
		"task_tool_call_id", "parentAgentId", "forkedFrom", "workspaceId", "runtimeId", "last_task_id", "status", "kind", "name":
		return dst, true
	case "args", "output":
		if t := value.Type(); key == "output" && (t == '[' || t == '0') {
			break // parts of content, or tokens
		}
		return jsontext.AppendScalars(dst, value), true
	case "arguments":
		return jsontext.AppendScalars(dst, value.Unwrap()), true
	}
	return dst, value.IsDataURL()
}
