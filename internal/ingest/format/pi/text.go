package pi

import "github.com/txarchive/txarchive/internal/ingest/format"

// textOf is every string of a value but ids, types, signatures and what is encoded. What a tool is asked is taken whole. The
// text of a value does not depend on what stands around it.
func textOf(v format.Value) string {
	return format.Build(func(b []byte) []byte { return appendText(b, v) })
}

func appendText(dst []byte, v format.Value) []byte { return format.AppendText(dst, v, visit) }

func visit(dst []byte, _ int, key string, value format.Value) ([]byte, bool) {
	switch key {
	case "type", "id", "parentId", "timestamp", "role", "api", "provider", "model", "modelId", "responseModel", "responseId", "usage",
		"stopReason", "rawStopReason", "toolCallId", "thinkingSignature", "textSignature", "thoughtSignature", "signature", "mimeType",
		"partialJson", "firstKeptEntryId", "targetId", "fromId", "retainedTail", "cwd", "parentSession", "branchedFrom", "thinkingLevel":
		return dst, true
	case "arguments", "input":
		return format.AppendStrings(dst, value), true
	case "data":
		if value.IsBase64() {
			return dst, true
		}
	}
	return dst, value.IsDataURL()
}
