package amazonqide

import (
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// Text returns the text of one part of an event.
func (amazonQ) Text(role string, raw []byte, _ int) (string, error) {
	return format.TextOf(role, raw, textOf)
}

var textOf = jsontext.Appended(appendText)

// appendText appends the text of a value, from its own bytes: all strings except ids, states, encoded data, and what is beside an open file. The input of a
// tool is taken with its numbers, and so is a result that is JSON.
func appendText(dst []byte, v jsontext.Value) []byte {
	if !v.Get("toolUseId").Exists() && !v.Get("input").Exists() { // neither a result nor a call
		return jsontext.AppendText(dst, v, visit)
	}
	for key, f := range v.Fields() {
		switch key {
		case "input":
			dst = jsontext.AppendScalars(dst, f.UnwrapContainer())
		case "content":
			dst = jsontext.AppendTextAndNumbers(dst, f, visitOutput)
		case "name":
			dst = jsontext.AppendStrings(dst, f)
		}
	}
	return dst
}

func visit(dst []byte, depth int, key string, v jsontext.Value) ([]byte, bool) {
	if depth > 0 {
		switch key {
		case "toolResults", "tools", "envState", "workspaceFolders", "programmingLanguage", "symbolType": // shown elsewhere, or no text
			return dst, true
		}
	}
	return dst, isFile(v)
}

func visitOutput(dst []byte, _ int, key string, v jsontext.Value) ([]byte, bool) {
	if inner := v.UnwrapContainer(); key == "text" && !inner.IsString() {
		return jsontext.AppendScalars(dst, inner), true
	}
	return dst, isFile(v)
}

// isFile reports whether a value is the content of a file that is no text.
func isFile(v jsontext.Value) bool { return v.IsDataURL() || v.IsBase64() }
