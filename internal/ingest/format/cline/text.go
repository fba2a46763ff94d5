package cline

import (
	"bytes"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// uiText returns the text of a message in ui_messages.json: its text (the strings in it where it is JSON), its reasoning
// and the summary of a condensed context; no images.
func uiText(v jsontext.Value) string {
	if !v.IsObject() {
		return string(appendText(nil, v))
	}
	var dst []byte
	for key, m := range v.Fields() {
		switch key {
		case "text":
			var inside jsontext.Value
			if !verbatim[v.Get("ask").Str()] && !verbatim[v.Get("say").Str()] {
				inside = insideJSON(m)
			}
			switch {
			case inside.Exists() && calls[v.Get("ask").Str()+v.Get("say").Str()]:
				for key, f := range inside.Fields() {
					if key != "type" {
						dst = jsontext.AppendScalars(dst, f)
					}
				}
			case inside.Exists():
				dst = appendText(dst, inside)
			default:
				dst = bytes.TrimSuffix(appendText(dst, m), mark(v))
			}
		case "reasoning", "contextCondense", "contextTruncation", "files":
			dst = appendText(dst, m)
		}
	}
	return string(dst)
}

// mark returns what Cline puts behind the text of a message for its own view: that files have changed, or that a command needs approval.
func mark(v jsontext.Value) []byte {
	switch {
	case v.Get("say").Is("completion_result"):
		return []byte("HAS_CHANGES")
	case v.Get("ask").Is("command"), v.Get("say").Is("command"):
		return []byte("REQ_APP")
	}
	return nil
}

// verbatim are the messages whose text is taken as it is. The text of all others may be JSON written by the program.
var verbatim = map[string]bool{
	"task": true, "text": true, "user_feedback": true, "completion_result": true, "reasoning": true, "command": true, "command_output": true,
	"mcp_server_response": true, "error": true,
}

// calls are the messages whose JSON is a call of a tool, so that numbers in it are text.
var calls = map[string]bool{"tool": true, "use_mcp_server": true}

// blockText returns the text of a block, a string, or a whole metadata file.
func blockText(v jsontext.Value) string { return string(appendText(nil, v)) }

// maxTextDepth bounds how deep skippedKeys and types are looked at; below it every string counts as text.
const maxTextDepth = 32

// skippedKeys are members of a message, a block or a metadata file that hold no text to search.
var skippedKeys = map[string]bool{
	"id": true, "role": true, "tool_use_id": true, "call_id": true, "signature": true, "parentTaskId": true, "rootTaskId": true,
	"childIds": true, "images": true, "apiProtocol": true, "cancelReason": true, "session_id": true, "sessionId": true,
}

func appendText(dst []byte, v jsontext.Value) []byte { return jsontext.AppendText(dst, v, visit) }

func visit(dst []byte, depth int, key string, v jsontext.Value) ([]byte, bool) {
	switch {
	case depth > maxTextDepth:
		return jsontext.AppendStrings(dst, v), true
	case key == "input", key == "arguments": // all of a tool's input, ids included
		return jsontext.AppendScalars(dst, v), true
	case key == "type", depth <= 2 && skippedKeys[key]:
		return dst, true
	}
	t := v.Get("type").Word()
	return dst, v.IsDataURL() || t == "image" || t == "redacted_thinking"
}
