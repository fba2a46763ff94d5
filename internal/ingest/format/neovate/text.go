package neovate

import "github.com/txarchive/txarchive/internal/ingest/jsontext"

// textOf returns all strings of a value except ids, types, times, names of models, images, and what the program keeps beside a message. The input of a
// tool is taken with its numbers. Of a result only what the tool returned is taken: the call has the input.
var textOf = jsontext.Appended(appendText)

func appendText(dst []byte, v jsontext.Value) []byte {
	if isResult(v) {
		return appendOutput(dst, v.Get("result"))
	}
	return jsontext.AppendText(dst, v, visit)
}

func visit(dst []byte, _ int, key string, v jsontext.Value) ([]byte, bool) {
	switch key {
	case "type", "id", "uuid", "parentUuid", "timestamp", "sessionId", "role", "model", "usage", "metadata", "providerMetadata", "mimeType", "messageId",
		"snapshot", "agentId", "agentType", "approvalMode":
		return dst, true
	case "input":
		return jsontext.AppendScalars(dst, v), true
	}
	return dst, isFile(key, v)
}

// isFile reports whether a member is the content of a file that is no text.
func isFile(key string, v jsontext.Value) bool { return v.IsDataURL() || key == "data" && v.IsBase64() }

// appendOutput appends what a tool returned to the model, which may be JSON in a string, and what it had the program display.
func appendOutput(dst []byte, result jsontext.Value) []byte {
	return jsontext.AppendTextAndNumbers(dst, result, func(dst []byte, _ int, key string, v jsontext.Value) ([]byte, bool) {
		switch key {
		case "type", "mimeType", "metadata", "agentId":
			return dst, true
		}
		if inner := v.UnwrapContainer(); v.IsString() && !inner.IsString() {
			return jsontext.AppendScalars(dst, inner), true
		}
		return dst, isFile(key, v)
	})
}
