package ibmbob

import (
	"bytes"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// Text returns the text of one part of an event.
func (bob) Text(role string, raw []byte, _ int) (string, error) {
	return format.TextOf(role, raw, jsontext.Appended(appendValue))
}

// appendValue appends the text of a row or a piece of one, from its own bytes: of a task its title, its first prompt, what is still to be said and
// done, and how it failed; of a call the tool and its input; of everything else all strings except ids, types and images, and what is in another
// event: the call that a result answers, and the messages of a sub-agent.
func appendValue(dst []byte, v jsontext.Value) []byte {
	switch {
	case v.Get("table").Is(tableTask):
		title := v.Get("title")
		for _, key := range []string{"title", "first_message", "directory", "project_id", "message_queue", "last_error"} {
			m := v.Get(key)
			if m.Is("null") || key == "first_message" && bytes.Equal(m.Raw(), title.Raw()) {
				continue
			}
			dst = appendStrings(dst, m)
		}
		for task := range v.Get("env", "task").Items() {
			dst = appendStrings(dst, task.Get("description"))
		}
		return dst
	case v.Get("arguments").Exists() && v.Get("name").IsString():
		return jsontext.AppendScalars(jsontext.AppendStrings(dst, v.Get("name")), v.Get("arguments"))
	case v.Get("function", "name").IsString():
		return jsontext.AppendScalars(jsontext.AppendStrings(dst, v.Get("function", "name")), v.Get("function", "arguments"))
	}
	return appendStrings(dst, v)
}

// isSkipped reports whether a member holds no text to search. before and after are whole files, around the patch that a call made of one into the other.
func isSkipped(key string) bool {
	switch key {
	case "table", "id", "task_id", "role", "type", "timestamp", "tool_call_id", "subagentId", "permission", "signature", "labels", "availableTools", "messages",
		"before", "after", "mimeType", "media_type":
		return true
	}
	return false
}

func appendStrings(dst []byte, v jsontext.Value) []byte {
	return jsontext.AppendText(dst, v, func(dst []byte, _ int, key string, m jsontext.Value) ([]byte, bool) {
		return dst, isSkipped(key) || m.IsDataURL() || m.IsBase64()
	})
}
