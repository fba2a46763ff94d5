package auggie

import (
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// Text returns the text of one part of an event.
func (auggie) Text(role string, raw []byte, _ int) (string, error) {
	return format.TextOf(role, raw, jsontext.Appended(appendValue))
}

// appendValue appends the text of a piece of an exchange: of a call the tool and its input, of a summary what it says, of an answer in nodes all that
// they say, of a result its text, of everything else all strings except ids, types and images.
func appendValue(dst []byte, v jsontext.Value) []byte {
	call, summary := v.Get("tool_use"), v.Get("history_summary_node")
	switch {
	case call.IsObject():
		input := call.Get("input_json")
		return jsontext.AppendScalars(jsontext.AppendStrings(dst, call.Get("tool_name")), input.UnwrapContainer())
	case summary.IsObject():
		return jsontext.AppendStrings(dst, summary.Get("summary_text"))
	case v.IsArray() && isAnswer(v):
		return appendNodes(dst, v)
	}
	return jsontext.AppendTextAndNumbers(dst, v, visit)
}

// isAnswer reports whether a list holds nodes of a response that are texts.
func isAnswer(v jsontext.Value) bool {
	for node := range v.Items() {
		if node.Get("type").Text() == responseText && node.Get("content").IsString() {
			return true
		}
	}
	return false
}

// appendNodes appends what the texts in a response say, which may end within a word.
func appendNodes(dst []byte, nodes jsontext.Value) []byte {
	for node := range nodes.Items() {
		if node.Get("type").Text() == responseText {
			dst = append(dst, node.Get("content").Str()...)
		}
	}
	return dst
}

// alwaysSkipped are members that hold no text to search.
var alwaysSkipped = map[string]bool{
	"id": true, "type": true, "tool_use_id": true, "request_id": true, "image_data": true, "image_id": true, "file_data": true, "file_id": true, "format": true,
	"timestamp_ms": true, "started_at_ms": true, "completed_at_ms": true, "start_time_ms": true, "finishedAt": true, "sequenceId": true, "encrypted_content": true,
	"model_id": true, "source": true, "mode": true, "requestId": true, "subscriptionId": true, "duration_ms": true,
}

func visit(dst []byte, _ int, key string, m jsontext.Value) ([]byte, bool) {
	return dst, alwaysSkipped[key] || m.IsDataURL() || m.IsBase64()
}
