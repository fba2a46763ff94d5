package cline

import "github.com/txarchive/txarchive/internal/ingest/format"

// uiText gives the text of a message that a person saw: what it says, decoded where that is JSON inside a string, its
// reasoning and the summary of a context that was made shorter; no images.
func uiText(v format.Value) string {
	if !v.IsObject() {
		return string(appendPiece(nil, v))
	}
	var dst []byte
	for key, m := range v.Fields() {
		switch key {
		case "text":
			var inside format.Value
			if !verbatim[v.Get("ask").Str()] && !verbatim[v.Get("say").Str()] {
				inside = nested(m)
			}
			if inside.Exists() {
				dst = appendPiece(dst, inside)
			} else {
				dst = appendPiece(dst, m)
			}
		case "reasoning", "contextCondense", "contextTruncation", "files":
			dst = appendPiece(dst, m)
		}
	}
	return string(dst)
}

// verbatim are the messages whose text is somebody's words. That of all others may be JSON that the program wrote.
var verbatim = map[string]bool{
	"task": true, "text": true, "user_feedback": true, "completion_result": true, "reasoning": true, "command": true, "command_output": true,
	"mcp_server_response": true, "error": true,
}

// blockText gives the text of a block of a message of the model, of a string, or of a note.
func blockText(v format.Value) string { return string(appendPiece(nil, v)) }

// deepest is how far the pieces of a value are told apart; below it every string counts.
const deepest = 32

// silent are the members of a message, a block or a note that are no words.
var silent = map[string]bool{
	"id": true, "role": true, "tool_use_id": true, "call_id": true, "signature": true, "parentTaskId": true, "rootTaskId": true,
	"childIds": true, "images": true, "apiProtocol": true, "cancelReason": true, "session_id": true, "sessionId": true,
}

func appendPiece(dst []byte, v format.Value) []byte { return format.AppendText(dst, v, visit) }

func visit(dst []byte, depth int, key string, v format.Value) ([]byte, bool) {
	switch {
	case depth > deepest, key == "input", key == "arguments": // whatever a tool is asked, ids too
		return format.AppendStrings(dst, v), true
	case key == "type", depth <= 2 && silent[key]:
		return dst, true
	}
	t := v.Get("type").Word()
	return dst, v.IsDataURL() || t == "image" || t == "redacted_thinking"
}
