package qwencode

import "github.com/txarchive/txarchive/internal/ingest/jsontext"

// textOf returns all strings of a value except ids, names of types and places, encoded data, and file contents before and
// after a change, since the change itself is there. It does not depend on what surrounds the value. Arguments and outputs of
// tools are taken as a whole.
var textOf = jsontext.Appended(appendText)

func appendText(dst []byte, v jsontext.Value) []byte { return jsontext.AppendText(dst, v, visit) }

func visit(dst []byte, _ int, key string, value jsontext.Value) ([]byte, bool) {
	switch key {
	case "uuid", "parentUuid", "sessionId", "timestamp", "type", "subtype", "cwd", "version", "gitBranch", "model", "provenance", "promptId",
		"daemonPromptId", "agentId", "agentName", "agentColor", "agentRunId", "externalInputKind", "role", "forkedFrom", "usageMetadata", "goalContext",
		"backgroundTurn", "thoughtSignature", "inlineData", "id", "callId", "status", "toolCallResult", "originalContent", "newContent",
		"parentSessionId", "parentAgentId", "toolUseId", "createdAt", "lastUpdatedAt", "targetUuid", "messageUuid", "prompt_id", "response_id",
		"promptIds", "completedToolCallIds":
		return dst, true
	case "history": // what a forked agent begins with is its parent's
		return dst, value.IsArray()
	case "functionCall", "functionResponse":
		for name, f := range value.Fields() {
			switch name {
			case "id", "name":
			case "parts":
				dst = appendText(dst, f)
			default:
				dst = jsontext.AppendScalars(dst, f)
			}
		}
		return dst, true
	}
	return dst, false
}
