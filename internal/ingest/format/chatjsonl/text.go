package chatjsonl

import "github.com/txarchive/txarchive/internal/ingest/jsontext"

// The text of an event is messages, reasoning, arguments of tools and their results; not ids, roles, signatures, or binary
// data.

// appendSaid appends the text of a message.
func appendSaid(dst []byte, m jsontext.Value) []byte {
	for _, at := range []jsontext.Value{m, m.Get("content"), m.Get("value")} {
		if at.IsString() {
			dst = jsontext.AppendStrings(dst, at)
		}
	}
	for b := range m.Get("content").Items() {
		dst = jsontext.AppendStrings(dst, b.Get("text"))
	}
	return dst
}

// appendPiece appends the text of an event or of a part of it.
func appendPiece(dst []byte, v jsontext.Value) []byte { return jsontext.AppendText(dst, v, visit) }

func visit(dst []byte, _ int, key string, v jsontext.Value) ([]byte, bool) {
	switch key {
	case "role", "from", "type", "id", "call_id", "tool_call_id", "tool_use_id", "toolCallId", "name", "toolName", "status", "signature", "data",
		"encrypted_content", "file_data", "detail", "cache_control", "format", "media_type", "annotations", "logprobs":
		return dst, true
	case "arguments", "input", "args":
		return appendInput(dst, v), true
	case "output", "result":
		return appendOutput(dst, v), true
	case "content":
		if v.IsObject() { // only results of tools have such
			return appendOutput(dst, v), true
		}
	}
	return dst, v.IsDataURL()
}

// appendOutput appends what a tool returned, with its numbers.
func appendOutput(dst []byte, v jsontext.Value) []byte {
	return jsontext.AppendTextAndNumbers(dst, v, visit)
}

// appendInput appends a tool's arguments, which are often JSON in a string. Their keys are the tool's own.
func appendInput(dst []byte, v jsontext.Value) []byte {
	return jsontext.AppendScalars(dst, v.UnwrapContainer())
}
