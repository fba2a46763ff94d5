package strands

import (
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// Text returns the text of one part of an event.
func (strands) Text(role string, raw []byte, _ int) (string, error) {
	return format.TextOf(role, jsontext.WithoutNaN(raw), jsontext.Appended(appendValue))
}

// appendValue appends the text of a block or a file, from its own bytes: of a call the tool and its input, of a result what came out; of everything
// else all strings except ids, types, signatures, and what is binary.
func appendValue(dst []byte, v jsontext.Value) []byte {
	switch {
	case v.Get("toolUse").IsObject():
		return jsontext.AppendScalars(jsontext.AppendStrings(dst, v.Get("toolUse", "name")), v.Get("toolUse", "input"))
	case v.Get("toolResult").IsObject():
		return jsontext.AppendTextAndNumbers(dst, v.Get("toolResult", "content"), visit)
	}
	return jsontext.AppendText(dst, v, visit)
}

// isSkipped reports whether a member holds no text to search.
func isSkipped(key string) bool {
	switch key {
	case "session_id", "session_type", "agent_id", "message_id", "created_at", "updated_at", "tracking_id", "metadata", "role", "toolUseId", "status",
		"signature", "redactedContent", "cachePoint", "format", "__name__", "_internal_state", "qualifiers":
		return true
	}
	return false
}

// visit skips bytes, which the SDK writes as an object that says so.
func visit(dst []byte, _ int, key string, m jsontext.Value) ([]byte, bool) {
	return dst, isSkipped(key) || m.Get("__bytes_encoded__").Exists() || m.IsDataURL() || m.IsBase64()
}
