package lechat

import "github.com/txarchive/txarchive/internal/ingest/jsontext"

// appendText appends the text of a part from its own bytes: a message, a chunk, a list of files, quotes or canvases, or what goes into a tool or comes
// out of it. Only that may be JSON in a string: what was said stays as it is.
func appendText(dst []byte, v jsontext.Value) []byte {
	if in := v.UnwrapContainer(); v.IsString() && in.Type() != '"' {
		return jsontext.AppendScalars(dst, in)
	}
	typ := v.Get("type")
	switch {
	case v.Get("chatId").Exists() && v.Get("role").Exists() && v.Get("createdAt").Exists():
		return appendMessage(dst, v)
	case typ.Is("text"):
		return jsontext.AppendStrings(dst, v.Get("text"))
	}
	noted := v.IsArray() || typ.Is("image_url") || typ.Is("file_reference") || typ.Is("canva") || typ.Is("custom_element")
	return jsontext.AppendTextAndNumbers(dst, v, func(dst []byte, _ int, key string, m jsontext.Value) ([]byte, bool) {
		return dst, key == "_context" || noted && key == "type" || m.IsBase64() || m.IsDataURL()
	})
}

// appendMessage appends what was said in a message: its content, or without one the texts of a prompt. Those of an answer are events of their own.
func appendMessage(dst []byte, v jsontext.Value) []byte {
	if content := v.Get("content"); !content.IsBlank() {
		return jsontext.AppendStrings(dst, content)
	}
	if v.Get("role").Is("user") {
		for c := range v.Get("contentChunks").Items() {
			if text := c.Get("text"); !text.IsBlank() {
				dst = jsontext.AppendStrings(dst, text)
			}
		}
	}
	return dst
}
