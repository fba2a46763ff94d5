package librechat

import "github.com/txarchive/txarchive/internal/ingest/jsontext"

// appendValue appends the text of a piece of a message, from its own bytes: of a call the tool and its input, of a list, which is a result, all of it,
// of everything else all strings but ids, types and places of files.
func appendValue(dst []byte, v jsontext.Value) []byte {
	switch {
	case v.IsArray():
		return jsontext.AppendTextAndNumbers(dst, v, visit)
	case v.IsObject() && isCall(v):
		name, input, _ := toolOf(v)
		if dst = append(dst, name...); !input.Exists() {
			return dst
		}
		return jsontext.AppendScalars(dst, input.UnwrapContainer())
	}
	return jsontext.AppendText(dst, v, visit)
}

// isCall reports whether an object is a call of a tool.
func isCall(v jsontext.Value) bool {
	return v.Get("name").IsString() && v.First("args", "output").Exists() || v.Get("function").IsObject() || v.Get("code_interpreter").IsObject()
}

func visit(dst []byte, _ int, key string, m jsontext.Value) ([]byte, bool) {
	return dst, isSkipped(key) || m.IsDataURL() || m.IsBase64()
}

// isSkipped reports whether a member holds no text to search.
func isSkipped(key string) bool {
	switch key {
	case "_id", "id", "type", "file_id", "filepath", "temp_file_id", "messageId", "conversationId", "toolCallId", "user", "source", "object", "context",
		"createdAt", "updatedAt", "expiresAt", "embedded", "native_media", "thoughtSignature", "index":
		return true
	}
	return false
}
