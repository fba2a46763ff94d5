package devin

import (
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// Text returns the text of one part of an event.
func (devin) Text(role string, raw []byte, _ int) (string, error) {
	return format.TextOf(role, raw, jsontext.Appended(appendValue))
}

// appendValue appends the text of a row or a piece of a message: of a call the tool and its input, of the name of the table, which stands for a copy,
// nothing, of a session its id, of everything else all strings except ids, types, signatures and images.
func appendValue(dst []byte, v jsontext.Value) []byte {
	switch {
	case v.Is(tableNode):
		return dst
	case v.IsObject() && nameOf(v) != "" && inputOf(v).Exists():
		name, input := v.Get("name"), inputOf(v)
		if !name.Exists() {
			name = v.Get("function", "name")
		}
		return jsontext.AppendScalars(jsontext.AppendStrings(dst, name), input.UnwrapContainer())
	case v.IsObject():
		if v.Get("table").Is(tableSession) {
			dst = jsontext.AppendStrings(dst, v.Get("id"))
		}
		return jsontext.AppendText(dst, v, visit)
	}
	return jsontext.AppendTextAndNumbers(dst, v, visit)
}

// alwaysSkipped are members that hold no text to search.
var alwaysSkipped = map[string]bool{
	"table": true, "id": true, "session_id": true, "message_id": true, "tool_call_id": true, "role": true, "type": true, "kind": true, "metadata": true,
	"signature": true, "backend_type": true, "agent_mode": true, "model": true, "cogs_json": true, "agent": true, "data": true, "mimeType": true,
}

func visit(dst []byte, _ int, key string, m jsontext.Value) ([]byte, bool) {
	return dst, alwaysSkipped[key] || m.IsDataURL() || m.IsBase64()
}
