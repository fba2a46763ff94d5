package chatjsonl

import "github.com/txarchive/txarchive/internal/ingest/format"

// The text of an event is messages, reasoning, arguments of tools and their results; not ids, roles, signatures, or binary
// data.

// appendSaid appends the text of a message.
func appendSaid(dst []byte, m format.Value) []byte {
	for _, at := range []format.Value{m, m.Get("content"), m.Get("value")} {
		if at.IsString() {
			dst = format.AppendStrings(dst, at)
		}
	}
	for b := range m.Get("content").Items() {
		dst = format.AppendStrings(dst, b.Get("text"))
	}
	return dst
}

// appendPiece appends the text of an event or of a part of it.
func appendPiece(dst []byte, v format.Value) []byte {
	switch v.Type() {
	case '"':
		if v.IsDataURL() {
			return dst
		}
		return format.AppendStrings(dst, v)
	case '[':
		for item := range v.Items() {
			dst = appendPiece(dst, item)
		}
	case '{':
		for key, f := range v.Fields() {
			switch key {
			case "role", "from", "type", "id", "call_id", "tool_call_id", "tool_use_id", "toolCallId", "name", "toolName", "status", "signature", "data",
				"encrypted_content", "file_data", "detail", "cache_control", "format", "media_type", "annotations", "logprobs":
			case "arguments", "input", "args":
				dst = appendInput(dst, f)
			default:
				dst = appendPiece(dst, f)
			}
		}
	}
	return dst
}

// appendInput appends a tool's arguments, which are often JSON in a string. Their keys are the tool's own.
func appendInput(dst []byte, v format.Value) []byte {
	if in := v.Inside(); in.IsObject() || in.IsArray() {
		return format.AppendStrings(dst, in)
	}
	return format.AppendStrings(dst, v)
}
