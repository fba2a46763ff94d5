package codebuff

import (
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// Text returns the text of one part of an event.
func (codebuff) Text(role string, raw []byte, _ int) (string, error) {
	return format.TextOf(role, raw, jsontext.Appended(appendValue))
}

// appendValue appends the text of a piece of a message: of a call the tool and its input, of a sub-agent what it was asked, of a block of text its
// content, of an output all of it, of everything else all strings except ids, types, images and the state that a message may hold.
func appendValue(dst []byte, v jsontext.Value) []byte {
	switch v.Get("type").Word() {
	case "tool":
		if v.Get("toolName").IsString() {
			return jsontext.AppendScalars(jsontext.AppendStrings(dst, v.Get("toolName")), v.Get("input"))
		}
	case "ask-user":
		return jsontext.AppendScalars(dst, v.Get("questions"))
	case "agent":
		for _, key := range []string{"agentType", "agentName", "initialPrompt", "params"} {
			dst = jsontext.AppendScalars(dst, v.Get(key))
		}
		return dst
	case "text", "plan":
		if v.Get("content").IsString() {
			return jsontext.AppendStrings(dst, v.Get("content"))
		}
	}
	return jsontext.AppendTextAndNumbers(dst, v, visit)
}

// alwaysSkipped are members that hold no text to search.
var alwaysSkipped = map[string]bool{
	"id": true, "type": true, "role": true, "variant": true, "timestamp": true, "parentId": true, "metadata": true, "image": true, "mediaType": true, "preview": true,
	"charCount": true, "size": true, "width": true, "height": true, "isCollapsed": true, "userOpened": true, "toolCallId": true, "agentId": true, "completionTime": true,
}

func visit(dst []byte, _ int, key string, m jsontext.Value) ([]byte, bool) {
	return dst, alwaysSkipped[key] || m.IsDataURL() || m.IsBase64()
}
