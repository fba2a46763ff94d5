package copilotcli

import (
	"bytes"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// pieceText returns the text of a line, or of a value in one, from its own bytes: every string except ids, models and
// encrypted data. Of a prompt it is what the user typed, not what Copilot made of it; of a tool.execution_start nothing,
// since the request has it, and of a stream's pieces nothing, since the message has them. Images and other encoded data, which
// can outweigh the text of a session, are left out.
func pieceText(v jsontext.Value) string {
	data, typ := v.Get("data"), v.Get("type")
	if !data.Exists() || !typ.IsString() {
		return string(appendText(nil, v))
	}
	switch typ.Str() {
	case "tool.execution_start", "session.shutdown", "session.start", "session.resume", "session.usage_checkpoint", "session.usage_record":
		return ""
	case "session.mcp_servers_loaded", "session.skills_loaded", "session.tools_updated", // what each output begins with
		"assistant.message_delta", "assistant.reasoning_delta", "assistant.streaming_delta", "assistant.tool_call_delta": // the message has it
		return ""
	case "user.message":
		return userText(data)
	case "tool.execution_complete":
		return resultText(data)
	}
	return string(appendText(nil, data))
}

func userText(data jsontext.Value) string {
	dst := appendText(nil, data.Get("content"))
	if len(bytes.TrimSpace(dst)) == 0 {
		dst = appendText(dst, data.Get("transformedContent"))
	}
	return string(appendText(dst, data.Get("attachments")))
}

// resultText returns the result as the model saw it, and as the user saw it where that differs.
func resultText(data jsontext.Value) string {
	result := data.Get("result")
	content := string(appendText(nil, result.Get("content")))
	if !result.IsObject() {
		content = string(appendText(nil, result))
	}
	var dst []byte
	dst = append(dst, content...)
	for key, m := range result.Fields() {
		if key == "content" {
			continue
		}
		if more := string(appendText(nil, m)); !strings.Contains(content, more) {
			dst = appendText(dst, m)
		}
	}
	return string(appendText(dst, data.Get("error")))
}

// maxTextDepth bounds how deep skippedKeys are looked at; below it every string counts as text.
const maxTextDepth = 32

// skippedKeys are members of a line or a call that hold no text to search.
var skippedKeys = map[string]bool{
	"toolCallId": true, "messageId": true, "apiCallId": true, "interactionId": true, "turnId": true, "sessionId": true,
	"hookInvocationId": true, "id": true, "parentId": true, "timestamp": true, "role": true, "model": true, "newModel": true,
	"previousModel": true, "agentId": true, "parentToolCallId": true, "reasoningOpaque": true, "encryptedContent": true,
	"toolTelemetry": true, "requestId": true, "serviceRequestId": true, "providerCallId": true, "reasoningId": true,
	"reasoningBlocks": true, "encrypted_content": true, "signature": true, "originatingMessageId": true,
}

func appendText(dst []byte, v jsontext.Value) []byte { return jsontext.AppendText(dst, v, visit) }

func visit(dst []byte, depth int, key string, v jsontext.Value) ([]byte, bool) {
	switch {
	case depth > maxTextDepth:
		return jsontext.AppendStrings(dst, v), true
	case key == "arguments": // all of a tool's input, ids included
		return jsontext.AppendScalars(dst, v), true
	case key == "type", depth <= 2 && skippedKeys[key], (key == "data" || key == "blob") && v.IsString():
		return dst, true
	}
	return dst, v.IsDataURL()
}
