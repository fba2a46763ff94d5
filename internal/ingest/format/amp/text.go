package amp

import "github.com/txarchive/txarchive/internal/ingest/format"

// What search finds is what was said, thought, asked of tools and answered by them; not ids, signatures, pictures, and what the
// program notes for itself.

// appendSaid appends the texts of a prompt.
func appendSaid(dst []byte, content format.Value) []byte {
	if content.IsString() {
		return format.AppendStrings(dst, content)
	}
	for b := range content.Items() {
		if b.Get("type").Is("text") {
			dst = format.AppendStrings(dst, b.Get("text"))
		}
	}
	return dst
}

// appendPiece appends the text of what an event or a part of it is.
func appendPiece(dst []byte, v format.Value) []byte {
	if v.Get("type").Is("image") {
		return format.AppendStrings(dst, v.Get("sourcePath"))
	}
	switch v.Type() {
	case '[':
		for item := range v.Items() {
			dst = appendPiece(dst, item)
		}
		return dst
	case '{':
		for key, f := range v.Fields() {
			switch key {
			case "type", "id", "name", "toolUseID", "tool_use_id", "threadID", "status", "complete", "signature", "provider", "data", "openAIReasoning",
				"metadata", "inputPartialJSON", "normalizedName", "~debug", "trackFiles", "isImage", "imageInfo", "mimeType", "mediaType":
			case "input", "args":
				dst = format.AppendStrings(dst, f) // a tool's own names
			default:
				if key != "content" || v.Get("isImage").Type() != 't' {
					dst = appendPiece(dst, f)
				}
			}
		}
		return dst
	}
	if v.IsDataURL() {
		return dst
	}
	return format.AppendStrings(dst, v)
}
