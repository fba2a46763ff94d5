package copilotcli

import (
	"bytes"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

// pieceText gives the text of a line, or of a piece of one, from its own bytes: every string but ids, models and
// what is encrypted; of a prompt what the user typed, not what the program made of it; of a tool at work nothing,
// since the request has it; no images.
func pieceText(v format.Value) string {
	data, typ := v.Get("data"), v.Get("type")
	if !data.Exists() || !typ.IsString() {
		return string(appendPiece(nil, v))
	}
	switch typ.Str() {
	case "tool.execution_start", "session.shutdown", "session.start", "session.resume":
		return ""
	case "user.message":
		return userText(data)
	case "tool.execution_complete":
		return resultText(data)
	}
	return string(appendPiece(nil, data))
}

func userText(data format.Value) string {
	dst := appendPiece(nil, data.Get("content"))
	if len(bytes.TrimSpace(dst)) == 0 {
		dst = appendPiece(dst, data.Get("transformedContent"))
	}
	return string(appendPiece(dst, data.Get("attachments")))
}

// resultText gives the model's view of a result, and the user's where that has other words.
func resultText(data format.Value) string {
	result := data.Get("result")
	content := string(appendPiece(nil, result.Get("content")))
	if !result.IsObject() {
		content = string(appendPiece(nil, result))
	}
	var dst []byte
	dst = append(dst, content...)
	for key, m := range result.Fields() {
		if key == "content" {
			continue
		}
		if more := string(appendPiece(nil, m)); !strings.Contains(content, more) {
			dst = appendPiece(dst, m)
		}
	}
	return string(appendPiece(dst, data.Get("error")))
}

// deepest is how far the pieces of a line are told apart; below it every string counts.
const deepest = 32

// silent are the members of a line or a call that are no words.
var silent = map[string]bool{
	"toolCallId": true, "messageId": true, "apiCallId": true, "interactionId": true, "turnId": true, "sessionId": true,
	"hookInvocationId": true, "id": true, "parentId": true, "timestamp": true, "role": true, "model": true, "newModel": true,
	"previousModel": true, "agentId": true, "parentToolCallId": true, "reasoningOpaque": true, "encryptedContent": true,
	"toolTelemetry": true, "requestId": true, "serviceRequestId": true, "providerCallId": true, "reasoningId": true,
}

func appendPiece(dst []byte, v format.Value) []byte { return appendDeep(dst, v, 0) }

func appendDeep(dst []byte, v format.Value, depth int) []byte {
	switch {
	case depth > deepest:
		return format.AppendStrings(dst, v)
	case v.IsObject():
		for key, m := range v.Fields() {
			switch {
			case key == "arguments":
				dst = format.AppendStrings(dst, m) // whatever a tool is asked, ids too
			case key == "type", depth <= 1 && silent[key]:
			default:
				dst = appendDeep(dst, m, depth+1)
			}
		}
		return dst
	case v.IsArray():
		for item := range v.Items() {
			dst = appendDeep(dst, item, depth+1)
		}
		return dst
	case v.IsString() && isImage(v):
		return dst
	}
	return format.AppendStrings(dst, v)
}

// isImage says that a string is a data URL, or base64 as long as only files are.
func isImage(v format.Value) bool {
	return v.IsDataURL()
}
