package claudeai

import "github.com/txarchive/txarchive/internal/ingest/jsontext"

// The text of an event is messages, reasoning, arguments of tools and their results, and the text of files; not ids, times
// or display data.

// appendPiece appends the text of an event or of a part of it: a string, a block, a file, or a whole message.
func appendPiece(dst []byte, v jsontext.Value) []byte {
	switch {
	case !v.IsObject():
		return jsontext.AppendStrings(dst, v)
	case v.Get("type").IsString():
		return appendBlock(dst, v)
	case v.Get("chat_messages").Exists(), v.Get("sender").Exists():
		return dst // its parts have the text
	}
	for _, key := range []string{"file_name", "extracted_content"} {
		dst = jsontext.AppendStrings(dst, v.Get(key))
	}
	return dst
}

func appendBlock(dst []byte, v jsontext.Value) []byte {
	for key, f := range v.Fields() {
		switch key {
		case "type", "id", "uuid", "tool_use_id", "name", "start_timestamp", "stop_timestamp", "signature", "data", "flags", "icon_name",
			"integration_icon_url", "integration_name", "tool_identifier", "approval_key", "approval_options", "citations", "mcp_server_url":
		case "input":
			dst = jsontext.AppendScalars(dst, f)
		case "content":
			dst = appendResult(dst, f)
		default:
			dst = jsontext.AppendStrings(dst, f)
		}
	}
	return dst
}

// appendResult appends a tool's result: text, or a list of blocks.
func appendResult(dst []byte, v jsontext.Value) []byte {
	if !v.IsArray() {
		return jsontext.AppendStrings(dst, v)
	}
	for b := range v.Items() {
		if !b.IsObject() {
			dst = jsontext.AppendStrings(dst, b)
			continue
		}
		for key, f := range b.Fields() {
			switch key {
			case "type", "uuid", "id", "icon_url", "encrypted_content", "data":
			default:
				dst = jsontext.AppendStrings(dst, f)
			}
		}
	}
	return dst
}

// appendSaid appends the texts of a message.
func appendSaid(dst []byte, m jsontext.Value) []byte {
	textsOf(m, func(_ int, v jsontext.Value) { dst = appendPiece(dst, v) })
	return dst
}
