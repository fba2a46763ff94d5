package forge

import (
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// Text returns the text of one part of an event.
func (forge) Text(role string, raw []byte, _ int) (string, error) {
	return format.TextOf(role, raw, jsontext.Appended(appendValue))
}

// appendValue appends the text of a row or a piece of a message: of a call the tool and its input, of a result the output, of a prompt what the
// model was told, of everything else all strings except ids, types, signatures and images.
func appendValue(dst []byte, v jsontext.Value) []byte {
	switch {
	case v.Get("arguments").Exists() && v.Get("name").IsString():
		return jsontext.AppendScalars(jsontext.AppendStrings(dst, v.Get("name")), inputOf(v))
	case v.Get("output").Exists() && v.Get("name").IsString():
		return jsontext.AppendTextAndNumbers(dst, v.Get("output"), visitOutput)
	case v.Get("role").IsString() && !v.Get("content").IsBlank():
		return appendStrings(dst, v.Get("content"))
	}
	return appendStrings(dst, v)
}

// inputOf returns the input of a call, which is text if it was no valid JSON when it came.
func inputOf(call jsontext.Value) jsontext.Value {
	input := call.Get("arguments")
	return input.UnwrapContainer()
}

// visitOutput leaves out what visit does, and the word that stands for no value.
func visitOutput(dst []byte, depth int, key string, m jsontext.Value) ([]byte, bool) {
	dst, done := visit(dst, depth, key, m)
	return dst, done || key == "" && m.Is("empty")
}

// alwaysSkipped are members that hold no text to search.
var alwaysSkipped = map[string]bool{
	"table": true, "role": true, "id": true, "call_id": true, "conversation_id": true, "signature": true, "thought_signature": true, "data": true, "format": true,
	"type_of": true, "mime_type": true, "model": true,
}

func appendStrings(dst []byte, v jsontext.Value) []byte { return jsontext.AppendText(dst, v, visit) }

func visit(dst []byte, _ int, key string, m jsontext.Value) ([]byte, bool) {
	return dst, alwaysSkipped[key] || m.IsDataURL() || m.IsBase64()
}
