package cortexcode

import "github.com/txarchive/txarchive/internal/ingest/jsontext"

var textOf = jsontext.Appended(appendValue)

// appendValue appends the text of a block: of a call the tool and its input, of a result all of it. Of everything else it appends all strings but ids,
// types, times, signatures and images.
func appendValue(dst []byte, v jsontext.Value) []byte {
	switch v.Get("type").Word() {
	case "tool_use":
		in := inner(v)
		return jsontext.AppendScalars(jsontext.AppendStrings(dst, in.Get("name")), in.Get("input"))
	case "tool_result":
		return jsontext.AppendTextAndNumbers(dst, inner(v), visit)
	}
	return jsontext.AppendText(dst, v, visit)
}

func visit(dst []byte, _ int, key string, v jsontext.Value) ([]byte, bool) {
	switch key {
	case "id", "type", "role", "name", "status", "model", "message_id", "request_id", "tool_use_id", "user_sent_time", "assistant_sent_time", "signature", "media_type":
		return dst, true
	case "input":
		return jsontext.AppendScalars(dst, v), true
	}
	return dst, v.IsDataURL() || v.IsBase64()
}
