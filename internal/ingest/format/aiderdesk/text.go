package aiderdesk

import "github.com/txarchive/txarchive/internal/ingest/jsontext"

// textOf returns all strings of a value except ids, types, times, names of models, and files that are no text. The input of a tool is taken with its
// numbers, and so is its output, without the messages of a sub-agent, which are events of their own.
var textOf = jsontext.Appended(appendText)

func appendText(dst []byte, v jsontext.Value) []byte {
	if v.Get("type").Is("tool-result") {
		return appendOutput(dst, outputOf(v), messagesIn(v))
	}
	return jsontext.AppendText(dst, v, visit)
}

func visit(dst []byte, _ int, key string, v jsontext.Value) ([]byte, bool) {
	switch key {
	case "type", "id", "parentId", "role", "timestamp", "usageReport", "promptContext", "toolCallId", "providerOptions", "providerMetadata", "mediaType",
		"baseDir", "createdAt", "updatedAt", "startedAt", "completedAt", "interruptedAt", "lastAgentProviderMetadata", "worktree", "lastMergeState":
		return dst, true
	case "input", "args":
		return jsontext.AppendScalars(dst, v), true
	}
	return dst, isFile(key, v)
}

// isFile reports whether a member is the content of a file that is no text.
func isFile(key string, v jsontext.Value) bool {
	return v.IsDataURL() || (key == "data" || key == "image") && v.IsBase64()
}

// appendOutput appends what a tool returned, which may be JSON in a string, without a list that is in it.
func appendOutput(dst []byte, output, without jsontext.Value) []byte {
	return jsontext.AppendTextAndNumbers(dst, output, func(dst []byte, _ int, key string, v jsontext.Value) ([]byte, bool) {
		switch {
		case without.Exists() && v.Offset() == without.Offset():
			return dst, true
		case key == "type" || key == "id" || key == "messageId" || key == "usageReport" || key == "promptContext" || key == "mediaType":
			return dst, true
		}
		if inner := v.UnwrapContainer(); v.IsString() && !inner.IsString() {
			return jsontext.AppendScalars(dst, inner), true
		}
		return dst, isFile(key, v)
	})
}
