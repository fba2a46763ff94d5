package commandcode

import "github.com/txarchive/txarchive/internal/ingest/jsontext"

// textOf returns all strings of a value except ids, types, times, names of models, signatures and images, and what the program keeps beside a message. It
// does not depend on what surrounds the value. The input of a tool is taken as a whole.
var textOf = jsontext.Appended(appendText)

func appendText(dst []byte, v jsontext.Value) []byte { return jsontext.AppendText(dst, v, visit) }

func visit(dst []byte, _ int, key string, v jsontext.Value) ([]byte, bool) {
	switch key {
	case "type", "id", "parentId", "sessionId", "timestamp", "role", "cwd", "parentSession", "gitBranch", "metadata", "meta", "model", "effort", "usage", "toolCallId",
		"tool_use_id", "signature", "media_type", "customType", "firstKeptEntryId", "fromId", "targetId", "traceIds", "parentSessionId", "forkedAt", "branchPoint",
		"entrypoint":
		return dst, true
	case "input":
		return jsontext.AppendScalars(dst, v), true
	}
	return dst, v.IsDataURL() || v.IsBase64()
}
