package zed

import (
	"bytes"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// Text returns the text of one part of an event.
func (zed) Text(role string, raw []byte, _ int) (string, error) {
	if role == roleText {
		return unquote(raw), nil
	}
	return format.TextOf("a thread", raw, jsontext.Appended(appendValue))
}

// appendValue appends the text of a row or a piece of a message: of a call the tool and its input, of a result the output, of everything else
// all strings except ids, types, signatures and images.
func appendValue(dst []byte, v jsontext.Value) []byte {
	switch {
	case v.Get("input").Exists() && v.Get("name").IsString():
		return jsontext.AppendScalars(jsontext.AppendStrings(dst, v.Get("name")), inputOf(v.Get("input")))
	case v.Get("is_error").Exists() && v.Get("content").Exists():
		return appendResult(dst, v.Get("content"), v.Get("output"))
	case v.Get("type").Is("RedactedThinking"):
		return dst
	}
	return appendStrings(dst, v)
}

// appendResult appends the output of a tool as the model has seen it, and as the tool made it if that is not the same text.
func appendResult(dst []byte, content, output jsontext.Value) []byte {
	dst = appendStrings(dst, content)
	for _, shown := range []jsontext.Value{content, content.Get("Text"), content.Get("text")} {
		if output.IsString() && bytes.Equal(output.Raw(), shown.Raw()) {
			return dst
		}
	}
	return jsontext.AppendTextAndNumbers(dst, output, visit)
}

// alwaysSkipped are members that hold no text to search.
var alwaysSkipped = map[string]bool{
	"id": true, "type": true, "table": true, "role": true, "data_type": true, "signature": true, "thought_signature": true, "raw_input": true, "tool_use_id": true,
	"source": true, "RedactedThinking": true, "encrypted_content": true, "mimeType": true, "parent_id": true, "folder_paths_order": true, "icon_path": true,
}

func appendStrings(dst []byte, v jsontext.Value) []byte {
	return jsontext.AppendText(dst, v, visit)
}

func visit(dst []byte, _ int, key string, m jsontext.Value) ([]byte, bool) {
	return dst, alwaysSkipped[key] || m.IsDataURL() || m.IsBase64()
}
