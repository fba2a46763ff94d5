package continuedev

import "github.com/txarchive/txarchive/internal/ingest/jsontext"

// appendText appends the text of a value, from its own bytes: of a call the tool and its input, of a log of a request the answer; of
// everything else all strings except ids, types, images, signatures and what repeats the conversation.
func appendText(dst []byte, v jsontext.Value) []byte {
	return jsontext.AppendText(dst, v, func(dst []byte, _ int, key string, m jsontext.Value) ([]byte, bool) {
		switch {
		case skipped[key] || m.IsDataURL():
			return dst, true
		case key == "arguments":
			return jsontext.AppendScalars(dst, m.UnwrapContainer()), true
		}
		return dst, false
	})
}

// skipped are members that hold no text to search: prompts of requests and states of the editor repeat the conversation.
var skipped = map[string]bool{
	"id": true, "type": true, "role": true, "toolCallId": true, "tool_call_id": true, "sessionId": true, "session_id": true, "icon": true, "uri": true,
	"signature": true, "redactedThinking": true, "reasoning_details": true, "editorState": true, "promptLogs": true, "prompt": true, "appliedRules": true,
	"dateCreated": true, "date_created": true, "eventName": true, "schema": true, "timestamp": true, "createdAt": true, "userId": true, "userAgent": true,
	"selectedProfileId": true, "modelName": true, "modelTitle": true, "modelProvider": true, "tools": true, "rules": true, "tool": true, "parsedArgs": true,
	"processedArgs": true,
}
