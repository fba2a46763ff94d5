package shelley

import (
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// Text returns the text of one part of an event.
func (shelley) Text(role string, raw []byte, _ int) (string, error) {
	return format.TextOf(role, raw, jsontext.Appended(appendValue))
}

// appendValue appends the text of a row or a piece of one, from its own bytes: of a call the tool and its input; of a conversation its name, its
// directory and what was not sent yet; of everything else all strings except ids, types, signatures and images.
func appendValue(dst []byte, v jsontext.Value) []byte {
	switch {
	case v.Get("table").Is(tableConversation):
		for _, key := range []string{"slug", "cwd", "draft"} {
			dst = jsontext.AppendStrings(dst, v.Get(key))
		}
		return appendStrings(appendStrings(dst, v.Get("tags")), v.Get("queued_messages"))
	case v.Get("ToolInput").Exists() && v.Get("ToolName").IsString() && !v.Get("ToolName").IsBlank():
		return jsontext.AppendScalars(jsontext.AppendStrings(dst, v.Get("ToolName")), v.Get("ToolInput"))
	}
	return appendStrings(dst, v)
}

// isSkipped reports whether a member holds no text to search.
func isSkipped(key string) bool {
	switch key {
	case "table", "message_id", "conversation_id", "type", "root", "forked_from", "forked_from_message_id",
		"created_at", "usage_data", "other_usage_data", "llm_api_url", "model_name", "user_email", "ID",
		"ToolUseID", "tool_use_id", "MediaType", "Data", "Signature", "EncryptedContent", "EncryptedIndex",
		"ToolUseStartTime", "ToolUseEndTime", "ErrorType", "DisplayImageURL":
		return true
	}
	return false
}

func appendStrings(dst []byte, v jsontext.Value) []byte {
	return jsontext.AppendText(dst, v, func(dst []byte, _ int, key string, m jsontext.Value) ([]byte, bool) {
		return dst, isSkipped(key) || m.IsDataURL() || m.IsBase64()
	})
}
