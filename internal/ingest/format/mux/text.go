package mux

import (
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// Text returns the text of one part of an event: a value, or parts of a message in a row.
func (mux) Text(role string, raw []byte, _ int) (string, error) {
	if _, err := jsontext.Parse(raw); err != nil {
		if list, err := jsontext.Parse(listOf(raw)); err == nil && list.HasItems() {
			return jsontext.Build(func(dst []byte) []byte { return appendTexts(dst, list) }), nil
		}
	}
	return format.TextOf(role, raw, jsontext.Appended(appendText))
}

// listOf returns the values that raw has, with commas between them, as a list.
func listOf(raw []byte) []byte {
	return append(append(append(make([]byte, 0, len(raw)+2), '['), raw...), ']')
}

// appendRun appends the text of parts in a row, of which one may end within a word.
func appendRun(dst, raw []byte) []byte {
	list, _ := jsontext.Parse(listOf(raw))
	return appendTexts(dst, list)
}

func appendTexts(dst []byte, parts jsontext.Value) []byte {
	for part := range parts.Items() {
		dst = append(dst, part.Get("text").Str()...)
	}
	return dst
}

// appendText appends the text of a value: of a message what its parts say, of a part its text or what the call of a tool has, and of anything else, such as the
// input of a tool, all strings and numbers except images.
func appendText(dst []byte, v jsontext.Value) []byte {
	switch typ := v.Get("type"); {
	case v.Get("parts").IsArray() && v.Get("role").IsString():
		for part := range v.Get("parts").Items() {
			dst = appendText(onNewLine(dst), part)
		}
		return dst
	case (typ.Is("text") || typ.Is("reasoning")) && v.Get("text").IsString():
		return append(dst, v.Get("text").Str()...)
	}
	return jsontext.AppendTextAndNumbers(dst, v, visit)
}

func onNewLine(dst []byte) []byte {
	if n := len(dst); n > 0 && dst[n-1] != '\n' {
		return append(dst, '\n')
	}
	return dst
}

func visit(dst []byte, _ int, _ string, m jsontext.Value) ([]byte, bool) {
	return dst, m.IsDataURL() || m.IsBase64()
}
