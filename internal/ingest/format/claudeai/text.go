package claudeai

import "github.com/txarchive/txarchive/internal/ingest/format"

// What search finds is what was said, thought, asked of tools and answered by them, and what came with it as text; not ids,
// times and what a page needs to show it.

// appendPiece appends the text of what an event or a part of it is: a string, a block, a file, or a message as a whole.
func appendPiece(dst []byte, v format.Value) []byte {
	switch {
	case !v.IsObject():
		return format.AppendStrings(dst, v)
	case v.Get("type").IsString():
		return appendBlock(dst, v)
	case v.Get("chat_messages").Exists(), v.Get("sender").Exists():
		return dst // its pieces speak for it
	}
	for _, key := range []string{"file_name", "extracted_content"} {
		dst = format.AppendStrings(dst, v.Get(key))
	}
	return dst
}

func appendBlock(dst []byte, v format.Value) []byte {
	for key, f := range v.Fields() {
		switch key {
		case "type", "id", "uuid", "tool_use_id", "name", "start_timestamp", "stop_timestamp", "signature", "data", "flags", "icon_name",
			"integration_icon_url", "integration_name", "tool_identifier", "approval_key", "approval_options", "citations", "mcp_server_url":
		case "content":
			dst = appendResult(dst, f)
		default:
			dst = format.AppendStrings(dst, f)
		}
	}
	return dst
}

// appendResult appends what a tool gave: text, or a list of blocks.
func appendResult(dst []byte, v format.Value) []byte {
	if !v.IsArray() {
		return format.AppendStrings(dst, v)
	}
	for b := range v.Items() {
		if !b.IsObject() {
			dst = format.AppendStrings(dst, b)
			continue
		}
		for key, f := range b.Fields() {
			switch key {
			case "type", "uuid", "id", "icon_url", "encrypted_content", "data":
			default:
				dst = format.AppendStrings(dst, f)
			}
		}
	}
	return dst
}

// appendSaid appends the texts of a message.
func appendSaid(dst []byte, m format.Value) []byte {
	textsOf(m, func(_ int, v format.Value) { dst = appendPiece(dst, v) })
	return dst
}
