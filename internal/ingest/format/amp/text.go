package amp

import "github.com/txarchive/txarchive/internal/ingest/format"

// Search finds what was said, reasoning, and the inputs and outputs of tools; not ids, signatures, images or bookkeeping of Amp.

// appendPrompt appends the texts of a prompt.
func appendPrompt(dst []byte, content format.Value) []byte {
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

// appendText appends the text of an event or a part of one.
func appendText(dst []byte, v format.Value) []byte {
	if v.Get("type").Is("image") {
		return format.AppendStrings(dst, v.Get("sourcePath"))
	}
	switch v.Type() {
	case '[':
		for item := range v.Items() {
			dst = appendText(dst, item)
		}
		return dst
	case '{':
		for key, f := range v.Fields() {
			switch key {
			case "type", "id", "name", "toolUseID", "tool_use_id", "threadID", "status", "complete", "signature", "provider", "data", "openAIReasoning",
				"metadata", "inputPartialJSON", "normalizedName", "~debug", "trackFiles", "isImage", "imageInfo", "mimeType", "mediaType":
			case "input", "args":
				dst = format.AppendStrings(dst, f) // its keys are the tool's own
			default:
				if key != "content" || v.Get("isImage").Type() != 't' {
					dst = appendText(dst, f)
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
