package amp

import "github.com/txarchive/txarchive/internal/ingest/jsontext"

// Search finds what was said, reasoning, and the inputs and outputs of tools; not ids, signatures, images or bookkeeping of Amp.

// appendPrompt appends the texts of a prompt.
func appendPrompt(dst []byte, content jsontext.Value) []byte {
	if content.IsString() {
		return jsontext.AppendStrings(dst, content)
	}
	for b := range content.Items() {
		if b.Get("type").Is("text") {
			dst = jsontext.AppendStrings(dst, b.Get("text"))
		}
	}
	return dst
}

// appendText appends the text of an event or a part of one.
func appendText(dst []byte, v jsontext.Value) []byte { return jsontext.AppendText(dst, v, visit) }

func visit(dst []byte, _ int, key string, v jsontext.Value) ([]byte, bool) {
	switch {
	case skipped[key]:
		return dst, true
	case key == "input", key == "args":
		return jsontext.AppendScalars(dst, v), true // its keys are the tool's own
	case key == "run": // of a tool
		return jsontext.AppendTextAndNumbers(dst, v, visit), true
	case v.Get("type").Is("image"):
		return jsontext.AppendStrings(dst, v.Get("sourcePath")), true
	case v.Get("isImage").Type() == 't': // a file that a tool has read
		for name, f := range v.Fields() {
			if name != "content" && !skipped[name] {
				dst = appendText(dst, f)
			}
		}
		return dst, true
	}
	return dst, v.IsDataURL()
}

// skipped are members that hold no text to search.
var skipped = map[string]bool{
	"type": true, "id": true, "name": true, "toolUseID": true, "tool_use_id": true, "threadID": true, "status": true, "complete": true, "signature": true,
	"provider": true, "data": true, "openAIReasoning": true, "metadata": true, "inputPartialJSON": true, "normalizedName": true, "~debug": true,
	"trackFiles": true, "isImage": true, "imageInfo": true, "mimeType": true, "mediaType": true,
	"blockState": true, "providerToolUseId": true,
}
