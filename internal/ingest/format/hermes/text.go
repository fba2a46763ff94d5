package hermes

import (
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// Text returns the text of one part of an event.
func (hermes) Text(role string, raw []byte, _ int) (string, error) {
	return format.TextOf(role, raw, jsontext.Appended(appendValue))
}

// appendValue appends the text of a row, a line or a piece of a message, from its own bytes: of a call the tool and its input; of a session
// its title and directory; of everything else all strings except ids, types, signatures and images.
func appendValue(dst []byte, v jsontext.Value) []byte {
	switch {
	case v.IsString():
		return appendContent(dst, v)
	case v.Get("table").Is(tableSession), v.Get("source").IsString() && v.Get("model_config").Exists():
		for _, key := range []string{"title", "display_name", "cwd"} {
			dst = jsontext.AppendStrings(dst, v.Get(key))
		}
		return dst
	case v.Get("table").Is(tablePrompt):
		return jsontext.AppendStrings(dst, v.Get("prompt"))
	case v.Get("role").Is("session_meta"):
		return jsontext.AppendStrings(jsontext.AppendStrings(dst, v.Get("model")), v.Get("content"))
	case isCall(v):
		name, input := callOf(v)
		dst = appendLine(dst, name)
		return appendInput(dst, input.UnwrapContainer())
	}
	return appendStrings(dst, v)
}

// appendInput appends the text of a call's input, whose members are the tool's.
func appendInput(dst []byte, input jsontext.Value) []byte {
	return jsontext.AppendTextAndNumbers(dst, input, func(dst []byte, _ int, _ string, m jsontext.Value) ([]byte, bool) { return dst, m.IsDataURL() })
}

// isCall reports whether a value is a call of a tool.
func isCall(v jsontext.Value) bool {
	name, input := callOf(v)
	return name != "" && input.Exists() && !v.Get("role").Exists()
}

func appendLine(dst []byte, s string) []byte {
	if len(dst) > 0 && s != "" {
		dst = append(dst, '\n')
	}
	return append(dst, s...)
}

// contentText returns the text of a message.
var contentText = jsontext.Appended(appendContent)

// jsonMark begins a text that has JSON behind it: the parts of a message with images.
const jsonMark = "\x00json:"

// appendContent appends the text of a message's content.
func appendContent(dst []byte, content jsontext.Value) []byte {
	if !content.IsString() {
		return appendStrings(dst, content)
	}
	if body := content.Body(); len(body) == 0 || body[0] != '\\' {
		return jsontext.AppendStrings(dst, content)
	}
	text := content.Str()
	parts, marked := strings.CutPrefix(text, jsonMark)
	if !marked {
		return jsontext.AppendStrings(dst, content)
	}
	v, err := jsontext.Parse([]byte(parts))
	if err != nil {
		return appendLine(dst, parts)
	}
	return appendStrings(dst, v)
}

// isBlank reports whether a piece of a message has no text.
func isBlank(v jsontext.Value) bool {
	if v.IsString() && (len(v.Body()) == 0 || v.Body()[0] != '\\') {
		return v.IsBlank()
	}
	return v.IsNull() || strings.TrimSpace(contentText(v)) == ""
}

// alwaysSkipped are members that hold no text to search.
var alwaysSkipped = map[string]bool{
	"id": true, "type": true, "table": true, "role": true, "session_id": true, "call_id": true, "tool_call_id": true, "response_item_id": true, "format": true,
	"signature": true, "encrypted_content": true, "platform_message_id": true, "finish_reason": true, "display_identity": true, "status": true, "phase": true,
	"timestamp": true,
}

func appendStrings(dst []byte, v jsontext.Value) []byte {
	return jsontext.AppendText(dst, v, func(dst []byte, _ int, key string, m jsontext.Value) ([]byte, bool) {
		return dst, alwaysSkipped[key] || m.IsDataURL() || key == "data" && m.IsBase64()
	})
}
