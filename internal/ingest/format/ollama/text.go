package ollama

import (
	"encoding/base64"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// Text returns the text of one part of an event.
func (ollama) Text(role string, raw []byte, _ int) (string, error) {
	if role == roleHistory {
		return lineText(raw), nil
	}
	return format.TextOf(role, raw, jsontext.Appended(appendValue))
}

// appendValue appends the text of a row or a piece of one, from its own bytes: of a call the tool and its input, of an attachment its name and,
// if it is text, its content; of everything else all strings except ids, roles and images.
func appendValue(dst []byte, v jsontext.Value) []byte {
	switch {
	case v.Get("table").Is(tableAttachment):
		return appendAttachment(dst, v)
	case v.Get("function_name").Exists() && !v.Get("table").Exists():
		return appendCall(dst, v)
	case v.IsObject() && !v.Get("table").Exists(), v.IsArray():
		return jsontext.AppendScalars(dst, v) // the data of a result
	}
	return jsontext.AppendText(dst, v, func(dst []byte, _ int, key string, m jsontext.Value) ([]byte, bool) {
		return dst, skipped[key] || m.IsDataURL()
	})
}

// appendCall appends the text of a call: the tool, and all of its input.
func appendCall(dst []byte, v jsontext.Value) []byte {
	dst = jsontext.AppendStrings(dst, v.Get("function_name"))
	return jsontext.AppendScalars(dst, v.Get("function_arguments").UnwrapContainer())
}

// appendAttachment appends the name of an attached file and, if it is text, its content.
func appendAttachment(dst []byte, v jsontext.Value) []byte {
	dst = jsontext.AppendStrings(dst, v.Get("filename"))
	content, err := base64.StdEncoding.DecodeString(v.Get("data").Str())
	if err != nil || !format.IsText(content) {
		return dst
	}
	if len(dst) > 0 {
		dst = append(dst, '\n')
	}
	return append(dst, strings.ToValidUTF8(string(content), "\uFFFD")...)
}

// skipped are columns that hold no text to search.
var skipped = map[string]bool{
	"table": true, "id": true, "chat_id": true, "role": true, "type": true, "model_name": true, "created_at": true, "updated_at": true,
	"thinking_time_start": true, "thinking_time_end": true, "images": true, "tool_call_id": true,
}

// lineText returns the text of a line of the history.
func lineText(raw []byte) string {
	return strings.TrimSpace(strings.ToValidUTF8(string(raw), "\uFFFD"))
}
