package reasonix

import "github.com/txarchive/txarchive/internal/ingest/jsontext"

var textOf = jsontext.Appended(appendValue)

// appendValue appends the text of a string, of a call (the tool and its input), or of anything else: all strings but ids,
// types, times, digests, signatures and images.
func appendValue(dst []byte, v jsontext.Value) []byte {
	if name, input := callOf(v); name.Exists() && input.Exists() {
		return appendInput(jsontext.AppendStrings(dst, name), input)
	}
	return jsontext.AppendText(dst, v, visit)
}

// callOf returns the tool and the input of a call, in any of its forms; absent values if it is none.
func callOf(v jsontext.Value) (name, input jsontext.Value) {
	if f := v.Get("function"); f.IsObject() {
		v = f
	}
	return v.Get("name"), v.First("arguments", "args")
}

// appendInput appends the input of a call, which most models write as JSON in a string.
func appendInput(dst []byte, v jsontext.Value) []byte {
	if v.IsString() {
		return jsontext.AppendUnescaped(jsontext.AppendStrings(dst, v), v)
	}
	return jsontext.AppendScalars(dst, v)
}

func visit(dst []byte, _ int, key string, v jsontext.Value) ([]byte, bool) {
	switch key {
	case "id", "ts", "turn", "type", "role", "kind", "callId", "tool_call_id",
		"created_at", "createdAt", "updated_at", "updatedAt", "prefixHash", "content_digest",
		"writer_id", "signature", "reasoning_signature", "thought_signature",
		"recordType", "sessionId", "turnId", "systemPromptHash", "toolSchemaHash", "capsuleHash", "systemFingerprint":
		return dst, true
	case "arguments", "args", "input":
		return appendInput(dst, v), true
	}
	return dst, v.IsDataURL() || v.IsBase64()
}
