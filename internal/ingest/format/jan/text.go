package jan

import "github.com/txarchive/txarchive/internal/ingest/jsontext"

var textOf = jsontext.Appended(appendValue)

// appendValue appends the text of a part: of a call the tool and its input, of a piece of content, or of a message, all strings but
// types, ids and images. Everything else is what a call returned, or a text.
func appendValue(dst []byte, v jsontext.Value) []byte {
	call := v.Get("function")
	switch {
	case call.IsObject():
		return jsontext.AppendScalars(jsontext.AppendStrings(dst, call.Get("name")), call.Get("arguments").UnwrapContainer())
	case v.Get("type").Is("tool_call"):
		return jsontext.AppendScalars(jsontext.AppendStrings(dst, v.Get("tool_name")), v.Get("input").UnwrapContainer())
	case v.Get("type").IsString() || v.Get("role").IsString():
		return jsontext.AppendText(dst, v, visit)
	}
	return jsontext.AppendTextAndNumbers(dst, v.UnwrapContainer(), visitResult)
}

// skipped are members of a message, or of a piece of it, that hold no text to search.
var skipped = map[string]bool{
	"type": true, "id": true, "object": true, "thread_id": true, "assistant_id": true, "role": true, "status": true, "created_at": true,
	"completed_at": true, "tool_call_id": true, "detail": true, "metadata": true,
}

func visit(dst []byte, depth int, key string, v jsontext.Value) ([]byte, bool) {
	return dst, depth <= 2 && skipped[key] || v.IsDataURL() || v.IsBase64()
}

// visitResult leaves out the types of what a server of MCP returns, which is a list of texts and images.
func visitResult(dst []byte, _ int, key string, v jsontext.Value) ([]byte, bool) {
	isType := key == "type" && (v.Is("text") || v.Is("image") || v.Is("audio") || v.Is("resource"))
	return dst, isType || v.IsDataURL() || v.IsBase64()
}
