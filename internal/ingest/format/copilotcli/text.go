package copilotcli

import (
	"bytes"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

// pieceText gives the text of a line, or of a piece of one, from its own bytes: every string but ids, models and
// what is encrypted; of a prompt what the user typed, not what the program made of it; of a tool at work nothing,
// since the request has it; no images and other encoded data, which a session can have more of than words.
func pieceText(v format.Value) string {
	data, typ := v.Get("data"), v.Get("type")
	if !data.Exists() || !typ.IsString() {
		return string(appendPiece(nil, v))
	}
	switch typ.Str() {
	case "tool.execution_start", "session.shutdown", "session.start", "session.resume", "session.usage_checkpoint", "session.usage_record":
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
	"reasoningBlocks": true, "encrypted_content": true, "signature": true, "originatingMessageId": true,
}

func appendPiece(dst []byte, v format.Value) []byte { return format.AppendText(dst, v, visit) }

func visit(dst []byte, depth int, key string, v format.Value) ([]byte, bool) {
	switch {
	case depth > deepest, key == "arguments": // whatever a tool is asked, ids too
		return format.AppendStrings(dst, v), true
	case key == "type", depth <= 2 && silent[key], (key == "data" || key == "blob") && v.IsString():
		return dst, true
	}
	return dst, v.IsDataURL()
}
