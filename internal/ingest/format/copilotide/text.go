package copilotide

import "github.com/txarchive/txarchive/internal/ingest/jsontext"

var textOf = jsontext.Appended(appendValue)

// appendValue appends the text of a row or a piece of one, from its own bytes: of a call the tool, its input, and what the user was shown of
// it; of a list of strings, which is reasoning in the pieces in which it came, all of it as one; of everything else all strings but ids,
// kinds, images and copies of files.
func appendValue(dst []byte, v jsontext.Value) []byte {
	switch {
	case isCall(v):
		dst = jsontext.AppendStrings(dst, v.Get("name"))
		dst = jsontext.AppendScalars(dst, inputOf(v))
		for _, key := range []string{"title", "inputMessage", "progressMessage"} {
			dst = jsontext.AppendStrings(dst, v.Get(key))
		}
		return jsontext.AppendStrings(dst, v.Get("invokeParams", "message"))
	case isStrings(v):
		for item := range v.Items() {
			dst = append(dst, item.Str()...)
		}
		return dst
	case isResult(v):
		return jsontext.AppendTextAndNumbers(dst, v, visitResult)
	}
	return jsontext.AppendText(dst, v, visit)
}

// isCall reports whether a value is a call of a tool.
func isCall(v jsontext.Value) bool {
	return v.Get("name").IsString() && v.Get("status").IsString() && !v.Get("table").Exists()
}

// isStrings reports whether a value is a list of strings.
func isStrings(v jsontext.Value) bool {
	if !v.HasItems() {
		return false
	}
	for item := range v.Items() {
		if !item.IsString() {
			return false
		}
	}
	return true
}

// isResult reports whether a value is what a tool returned: a list of values, or of errors. Steps, which may have errors too, have titles.
func isResult(v jsontext.Value) bool {
	for item := range v.Items() {
		return item.First("value", "error").Exists() && !item.Get("title").Exists()
	}
	return false
}

// visitResult leaves out of what a tool returned only of what type it is, and images.
func visitResult(dst []byte, depth int, key string, v jsontext.Value) ([]byte, bool) {
	return dst, depth == 2 && key == "type" || key == "mimeType" || v.IsDataURL() || v.IsBase64()
}

// visit leaves out what is no text.
func visit(dst []byte, depth int, key string, v jsontext.Value) ([]byte, bool) {
	return dst, depth <= 2 && isSkipped(key) || v.IsDataURL() || v.IsBase64()
}

// isSkipped reports whether a member of a row, or of a piece of one, holds no text to search.
func isSkipped(key string) bool {
	switch key {
	case "table", "id", "conversationID", "conversationId", "CLSConversationID", "CLSTurnID", "turnId", "parentTurnId", "subagentToolCallId",
		"role", "type", "kind", "status", "source", "timestamp", "referenceType", "requestType", "turnStatus", "mimeType", "location",
		"encrypted", "clientEntryId", "originalContent", "modifiedContent", "data":
		return true
	}
	return false
}
