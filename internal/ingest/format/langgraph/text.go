package langgraph

import (
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// Text returns the text of one part of an event.
func (langGraph) Text(role string, raw []byte, _ int) (string, error) {
	return format.TextOf(role, raw, jsontext.Appended(appendValue))
}

// appendValue appends the text of a piece of a message, from its own bytes: of a call the tool and its input, of a result what came out; of everything
// else all strings except ids, types, signatures, files and what the provider says beside the content.
func appendValue(dst []byte, v jsontext.Value) []byte {
	switch function := v.Get("function"); {
	case v.Get("tool_call_id").Exists():
		return jsontext.AppendTextAndNumbers(dst, v.Get("content").UnwrapContainer(), visit)
	case function.IsObject():
		return jsontext.AppendScalars(jsontext.AppendStrings(dst, function.Get("name")), function.Get("arguments").UnwrapContainer())
	case v.Get("args").Exists():
		return jsontext.AppendScalars(jsontext.AppendStrings(dst, v.Get("name")), v.Get("args").UnwrapContainer())
	}
	return jsontext.AppendText(dst, v, visit)
}

// isSkipped reports whether a member holds no text to search.
func isSkipped(key string) bool {
	switch key {
	case "table", "thread_id", "began", "checkpoint_ns", "checkpoint_id", "task_id", "channel", "source", "agent_name", "cwd", "git_branch", "type", "role", "id",
		"signature", "index", "response_metadata", "usage_metadata", "additional_kwargs", "encrypted_content", "mime_type", "detail", "bytes", "lc", "status",
		"annotations", "extras", "source_type":
		return true
	}
	return false
}

func visit(dst []byte, _ int, key string, m jsontext.Value) ([]byte, bool) {
	return dst, isSkipped(key) || key == "data" && m.IsString() || m.IsDataURL() || m.IsBase64()
}
