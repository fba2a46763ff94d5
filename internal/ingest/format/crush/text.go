package crush

import (
	"encoding/base64"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// Text returns the text of one part of an event.
func (crush) Text(role string, raw []byte, _ int) (string, error) {
	return format.TextOf(role, raw, jsontext.Appended(appendValue))
}

// appendValue appends the text of a line or a part, from its own bytes: of a call the tool and its input, of a result the output, of an
// attached text the file; of a session its title and tasks; of everything else all strings except ids, types, signatures and images.
func appendValue(dst []byte, v jsontext.Value) []byte {
	data := v.Get("data")
	switch {
	case v.Get("table").Is(tableSession):
		return appendStrings(jsontext.AppendStrings(dst, v.Get("title")), v.Get("todos"))
	case v.Get("table").Is(tableMessage):
		if parts := v.Get("parts"); parts.IsArray() {
			for part := range parts.Items() {
				dst = appendValue(dst, part)
			}
			return dst
		}
	case !data.IsObject():
	case v.Get("type").Is("reasoning"):
		return jsontext.AppendStrings(dst, data.Get("thinking"))
	case v.Get("type").Is("tool_call"):
		dst = jsontext.AppendStrings(dst, data.Get("name"))
		if input := data.Get("input").Inside(); input.IsObject() || input.IsArray() {
			return jsontext.AppendScalars(dst, input)
		}
		return jsontext.AppendStrings(dst, data.Get("input"))
	case v.Get("type").Is("tool_result"):
		return jsontext.AppendStrings(dst, data.Get("content"))
	case v.Get("type").Is("binary"):
		return appendAttachment(dst, data)
	case v.Get("type").Is("finish"):
		return jsontext.AppendStrings(jsontext.AppendStrings(dst, data.Get("message")), data.Get("details"))
	}
	return appendStrings(dst, v)
}

// appendAttachment appends the path of an attached file and, if it is text, its content.
func appendAttachment(dst []byte, data jsontext.Value) []byte {
	dst = jsontext.AppendStrings(dst, data.Get("Path"))
	if !strings.HasPrefix(data.Get("MIMEType").Str(), "text/") {
		return dst
	}
	content, err := base64.StdEncoding.DecodeString(data.Get("Data").Str())
	if err != nil || len(content) == 0 {
		return dst
	}
	if len(dst) > 0 {
		dst = append(dst, '\n')
	}
	return append(dst, strings.ToValidUTF8(string(content), "\uFFFD")...)
}

// alwaysSkipped are members that hold no text to search.
var alwaysSkipped = map[string]bool{
	"id": true, "type": true, "table": true, "role": true, "session_id": true, "parent": true, "model": true, "provider": true, "signature": true,
	"thought_signature": true, "tool_id": true, "mime_type": true, "MIMEType": true, "encrypted_content": true,
}

func appendStrings(dst []byte, v jsontext.Value) []byte {
	return jsontext.AppendText(dst, v, func(dst []byte, _ int, key string, m jsontext.Value) ([]byte, bool) {
		return dst, alwaysSkipped[key] || m.IsDataURL() || m.IsBase64()
	})
}
