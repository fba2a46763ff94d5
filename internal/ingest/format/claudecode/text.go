package claudecode

import (
	"bytes"
	"fmt"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// Text decodes a part from its own bytes. The text of a value does not depend on its surroundings, so blocks, lines,
// metadata and the copies of results in toolUseResult are all decoded the same way.
func (claudeCode) Text(role string, raw []byte, _ int) (string, error) {
	switch role {
	case roleOutput, rolePaste, rolePlan, roleShown:
		return format.LooseText(raw), nil
	case roleHistory:
		return format.TextOf(role, raw, historyText)
	case roleDesktop:
		return format.TextOf(role, raw, desktopText)
	case roleList:
		return format.TextOf(role, raw, listText)
	case roleInbox:
		return format.TextOf(role, raw, inboxText)
	case roleInsight:
		return format.TextOf(role, raw, insightText)
	case roleEdited:
		return format.TextOf(role, raw, jsontext.Appended(appendEdited))
	}
	v, err := jsontext.Parse(jsontext.TrimBOM(raw))
	if err != nil {
		return "", fmt.Errorf("read claude-code %s: %w", role, err)
	}
	if role == roleStream || role == roleMessages {
		return jsontext.Build(func(b []byte) []byte { return appendStreamText(b, v) }), nil
	}
	return textOf(v), nil
}

// textOf returns every string of a value except ids, names of types and places, encoded data, and what the program repeats
// for its own use. It includes all of a tool's input.
var textOf = jsontext.Appended(appendText)

// text is like textOf; its result is valid until the next line.
func (r *reader) text(v jsontext.Value) string {
	if r.stream != nil {
		return r.lend.Text(func(b []byte) []byte { return appendStreamText(b, v) })
	}
	return r.lend.Text(func(b []byte) []byte { return appendText(b, v) })
}

func appendText(dst []byte, v jsontext.Value) []byte { return jsontext.AppendText(dst, v, visit) }

func visit(dst []byte, _ int, key string, value jsontext.Value) ([]byte, bool) {
	switch key {
	case "type", "id", "uuid", "parentUuid", "logicalParentUuid", "sessionId", "timestamp", "requestId", "messageId", "leafUuid",
		"parentSessionId", "parentLastUuid", "continuedInSessionId", "tool_use_id", "toolUseId", "toolUseID", "callId", "parentToolUseID", "sourceToolAssistantUUID", "sourceToolUseID", "promptId", "agentId",
		"signature", "version", "userType", "cwd", "gitBranch", "slug", "entrypoint", "role", "model", "usage", "caller",
		"media_type", "cache_control", "stop_reason", "encrypted_content", "encrypted_index",
		"originalFile", "structuredPatch", "oldTodos", "normalizedMessages",
		"trackedFileBackups":
		return dst, true
	case "input":
		return jsontext.AppendScalars(dst, value), true
	case "content":
		if value.IsObject() { // a result of iFlow's
			return jsontext.AppendTextAndNumbers(dst, value, visit), true
		}
	case "data", "base64":
		if value.IsBase64() {
			return dst, true
		}
	}
	return dst, false
}

// hasMoreText reports whether the copy of a result in toolUseResult has text that neither the result's block nor the call's
// input has. Usually it is the same text again.
func hasMoreText(toolUseResult, block jsontext.Value) bool {
	if toolUseResult.IsObject() && toolUseResult.Get("file").IsObject() {
		return false // the output of Read, which the block has with line numbers
	}
	written := toolUseResult.IsObject() && toolUseResult.Get("structuredPatch").Exists()
	return !covered(toolUseResult, block, written)
}

// startsWith reports whether a content begins with a text. Usually they are the same, so this avoids a search.
func startsWith(content jsontext.Value, text []byte) bool {
	for item := range content.Items() {
		content = item.Get("text")
		break
	}
	return content.IsString() && bytes.HasPrefix(content.Body(), text)
}

// covered compares strings in their encoded form, since one program wrote both.
func covered(v, block jsontext.Value, written bool) bool {
	switch v.Type() {
	case '"':
		body := v.Body()
		for bytes.HasSuffix(body, []byte(`\n`)) {
			body = body[:len(body)-2]
		}
		return len(body) == 0 || startsWith(block.Get("content"), body) || bytes.Contains(block.Raw(), body)
	case '[':
		for item := range v.Items() {
			if !covered(item, block, written) {
				return false
			}
		}
	case '{':
		for key, value := range v.Fields() {
			switch key {
			case "content":
				if written {
					continue // the new content of a file, which is in the call's input
				}
			case "type", "filePath", "oldString", "newString", "originalFile", "structuredPatch", "oldTodos", "newTodos", "edits",
				"prompt", "description", "query", "url", "codeText", "mode", "status", "agentId", "agentType", "usage",
				"persistedOutputPath", "backgroundTaskId", "tool_use_id", "toolUseId", "id", "model", "base64":
				continue
			}
			if !covered(value, block, written) {
				return false
			}
		}
	}
	return true
}
