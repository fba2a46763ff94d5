package codewhale

import "github.com/txarchive/txarchive/internal/ingest/jsontext"

var textOf = jsontext.Appended(appendValue)

// appendValue appends the text of a block: of a call the tool and its input, of a result all of it, of text and reasoning what is said. Of everything else
// it appends all strings but ids, types, times, signatures and images.
func appendValue(dst []byte, v jsontext.Value) []byte {
	switch v.Get("type").Word() {
	case "tool_use", "server_tool_use":
		return jsontext.AppendScalars(jsontext.AppendStrings(dst, v.Get("name")), v.Get("input"))
	case "tool_result", "tool_search_tool_result", "code_execution_tool_result":
		return jsontext.AppendText(jsontext.AppendScalars(dst, v.Get("content")), v.Get("content_blocks"), visit)
	case "text":
		return jsontext.AppendStrings(dst, v.Get("text"))
	case "thinking":
		return jsontext.AppendStrings(dst, v.Get("thinking"))
	}
	return jsontext.AppendText(dst, v, visit)
}

func visit(dst []byte, _ int, key string, v jsontext.Value) ([]byte, bool) {
	switch key {
	case "id", "parent_id", "type", "kind", "role", "created_at", "tool_use_id", "execution_id", "signature", "thought_signature", "state", "cache_control", "caller":
		return dst, true
	case "input":
		return jsontext.AppendScalars(dst, v), true
	}
	return dst, v.IsDataURL() || v.IsBase64()
}
