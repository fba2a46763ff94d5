package rovodev

import "github.com/txarchive/txarchive/internal/ingest/jsontext"

var textOf = jsontext.Appended(appendValue)

// appendValue appends the text of a part: of a call the tool and its input, of a result all that it returned. Of everything else
// it appends all strings but kinds, ids, times, signatures and images.
func appendValue(dst []byte, v jsontext.Value) []byte {
	switch v.Get("part_kind").Word() {
	case "tool-call", "builtin-tool-call":
		return jsontext.AppendScalars(jsontext.AppendStrings(dst, v.Get("tool_name")), v.Get("args").UnwrapContainer())
	case "tool-return", "builtin-tool-return", "retry-prompt":
		return jsontext.AppendTextAndNumbers(dst, v, visit)
	case "user-prompt":
		return jsontext.AppendText(dst, v, visitPrompt)
	}
	return jsontext.AppendText(dst, v, visit)
}

// skipped are members of a part, or of a message, that hold no text to search. Deeper down they are what a tool returned.
var skipped = map[string]bool{
	"part_kind": true, "kind": true, "role": true, "timestamp": true, "id": true, "tool_name": true, "tool_call_id": true,
	"outcome": true, "dynamic_ref": true, "signature": true, "provider_name": true, "provider_url": true,
	"provider_details": true, "vendor_details": true, "provider_response_id": true, "vendor_id": true, "model_name": true,
	"finish_reason": true, "run_id": true, "conversation_id": true, "usage": true, "instructions": true, "fork_data": true,
	"session_id": true, "parent_session_id": true,
}

func visit(dst []byte, depth int, key string, v jsontext.Value) ([]byte, bool) {
	return dst, depth == 1 && skipped[key] || v.Get("kind").Is("binary") || v.IsDataURL() || v.IsBase64()
}

// visitPrompt leaves out how the images and files in a prompt are told apart, too.
func visitPrompt(dst []byte, depth int, key string, v jsontext.Value) ([]byte, bool) {
	switch key {
	case "kind", "media_type", "identifier":
		return dst, true
	}
	return visit(dst, depth, key, v)
}
