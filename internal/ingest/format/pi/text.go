package pi

import "github.com/txarchive/txarchive/internal/ingest/jsontext"

// textOf returns all strings of a value except ids, types, signatures and encoded data. Tool inputs are taken as a whole. The
// text of a value does not depend on what surrounds it.
var textOf = jsontext.Appended(appendText)

func appendText(dst []byte, v jsontext.Value) []byte {
	if repeats(v) || v.Get("type").Is("redactedThinking") {
		return dst
	}
	if v.Get("kind").IsString() && (v.Get("seq").Exists() || v.Get("createdAt").Exists()) {
		return jsontext.AppendText(dst, v, visitLine)
	}
	return jsontext.AppendText(dst, v, visit)
}

// visitLine skips members that only lines of version 4 have: references between lines, and prompts that entries repeat.
func visitLine(dst []byte, depth int, key string, value jsontext.Value) ([]byte, bool) {
	if depth == 1 {
		switch key {
		case "kind", "lane", "runId", "entryId", "leafId", "sourceLeafId", "resultEntryId", "intent", "fact", "step", "cause", "outcome":
			return dst, true
		}
	}
	return visit(dst, depth, key, value)
}

func visit(dst []byte, _ int, key string, value jsontext.Value) ([]byte, bool) {
	switch key {
	case "type", "id", "parentId", "timestamp", "role", "api", "provider", "model", "modelId", "responseModel", "responseId", "usage",
		"stopReason", "rawStopReason", "toolCallId", "tool_use_id", "encrypted_content", "thinkingSignature", "textSignature", "thoughtSignature", "signature", "mimeType",
		"partialJson", "firstKeptEntryId", "targetId", "fromId", "childUsage", "aggregateUsage", "retainedTail", "cwd", "parentSession", "parentSessionId", "branchedFrom", "thinkingLevel",
		"event_zstd", "navigation_json": // of database rows whose entry could not be read
		return dst, true
	case "arguments", "input":
		return jsontext.AppendScalars(dst, value), true
	case "data":
		if value.IsBase64() {
			return dst, true
		}
	}
	return dst, value.IsDataURL()
}
