package cline

import (
	"github.com/txarchive/txarchive/internal/ingest/format"
)

// uiText gives the text of a message that a person saw: what it says, decoded where that is JSON inside a string, its
// reasoning and the summary of a context that was made shorter; no images.
func uiText(v format.Value) string {
	if !v.IsObject() {
		return string(appendPiece(nil, v, 0))
	}
	var dst []byte
	for key, m := range v.Fields() {
		switch key {
		case "text":
			var inside format.Value
			if packed[v.Get("ask").Str()] || packed[v.Get("say").Str()] {
				inside = nested(m)
			}
			if inside.Exists() {
				dst = appendPiece(dst, inside, 0)
			} else {
				dst = appendPiece(dst, m, 0)
			}
		case "reasoning", "contextCondense", "contextTruncation", "files":
			dst = appendPiece(dst, m, 0)
		}
	}
	return string(dst)
}

// packed are the messages whose text is JSON that the program wrote.
var packed = map[string]bool{
	"tool": true, "use_mcp_server": true, "api_req_started": true, "deleted_api_reqs": true, "browser_action": true, "followup": true,
}

// blockText gives the text of a block of a message of the model, of a string, or of a note.
func blockText(v format.Value) string { return string(appendPiece(nil, v, 0)) }

// deepest is how far the pieces of a value are told apart; below it every string counts.
const deepest = 32

// silent are the members of a message, a block or a note that are no words.
var silent = map[string]bool{
	"id": true, "role": true, "tool_use_id": true, "call_id": true, "signature": true, "parentTaskId": true, "rootTaskId": true,
	"childIds": true, "images": true, "apiProtocol": true, "cancelReason": true, "session_id": true, "sessionId": true,
}

func appendPiece(dst []byte, v format.Value, depth int) []byte {
	switch {
	case depth > deepest:
		return format.AppendStrings(dst, v)
	case v.IsArray():
		for item := range v.Items() {
			dst = appendPiece(dst, item, depth+1)
		}
		return dst
	case v.IsObject():
		if t := v.Get("type").Str(); t == "image" || t == "redacted_thinking" {
			return dst
		}
		for key, m := range v.Fields() {
			switch {
			case key == "input" || key == "arguments":
				dst = format.AppendStrings(dst, m) // whatever a tool is asked, ids too
			case key == "type", depth <= 1 && silent[key]:
			default:
				dst = appendPiece(dst, m, depth+1)
			}
		}
		return dst
	case v.IsString() && v.IsDataURL():
		return dst
	}
	return format.AppendStrings(dst, v)
}
