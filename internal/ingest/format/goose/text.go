package goose

import (
	"bytes"
	"fmt"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// Text returns the text of one part of an event. Consecutive thinking blocks are one part, which is not valid JSON by itself.
func (goose) Text(role string, raw []byte, _ int) (string, error) {
	v, err := jsontext.Parse(raw)
	if err == nil {
		return string(appendValue(nil, v)), nil
	}
	several, failed := jsontext.Parse(bytes.Join([][]byte{[]byte("["), raw, []byte("]")}, nil))
	if failed != nil {
		return "", fmt.Errorf("read %s: %w", role, err)
	}
	var all []jsontext.Value
	for item := range several.Items() {
		all = append(all, item)
	}
	return string(appendReasoning(nil, all)), nil
}

// appendReasoning appends the pieces of reasoning without a separator; a signature ends a block, so the next piece starts a new line.
func appendReasoning(dst []byte, all []jsontext.Value) []byte {
	signed := false
	for _, v := range all {
		if signed && len(dst) > 0 {
			dst = append(dst, '\n')
		}
		dst = append(dst, v.Get("thinking").Str()...)
		signed = len(v.Get("signature").Str()) > 0
	}
	return dst
}

// appendValue appends the text of a line or a block, from its own bytes: of a call the tool and its input, of a result the
// output; of a session its name and directory; of everything else all strings except ids, types, signatures and images.
func appendValue(dst []byte, v jsontext.Value) []byte {
	switch {
	case v.Get("thinking").IsString():
		return appendReasoning(dst, []jsontext.Value{v})
	case v.Get("toolCall").Exists():
		return appendCall(dst, v.Get("toolCall"))
	case v.Get("toolResult").Exists():
		return appendResult(dst, v.Get("toolResult"))
	case v.Get("table").Is(tableSession), v.Get("message_count").Exists() && !v.Get("role").Exists():
		for _, key := range []string{"name", "description", "working_dir"} {
			dst = jsontext.AppendStrings(dst, v.Get(key))
		}
		return appendStrings(appendStrings(dst, v.Get("recipe_json")), v.Get("extension_data"))
	case v.Get("content_json").IsArray():
		for item := range v.Get("content_json").Items() {
			dst = appendValue(dst, item)
		}
		return dst
	}
	return appendStrings(dst, v)
}

// appendCall appends the text of a call: all of its input, or what is wrong with it.
func appendCall(dst []byte, v jsontext.Value) []byte {
	value := v.Get("value")
	for key, m := range value.Fields() {
		switch {
		case key == "arguments":
			dst = jsontext.AppendScalars(dst, m)
		case !skippedKeys[key] && !alwaysSkipped[key]:
			dst = appendStrings(dst, m)
		}
	}
	if !value.IsObject() {
		dst = appendStrings(dst, value)
	}
	return appendStrings(dst, v.Get("error"))
}

// appendResult appends the output of a tool: its content, which in older versions was the whole value, or its error. What is there
// for the model and again for the user is one text.
func appendResult(dst []byte, v jsontext.Value) []byte {
	value := v.Get("value")
	content := value
	if value.IsObject() {
		content = value.Get("content")
	}
	before := len(dst)
	var last []byte
	for item := range content.Items() {
		start := len(dst)
		dst = appendStrings(dst, item)
		text := bytes.TrimPrefix(dst[start:], []byte("\n"))
		if item.Get("annotations", "audience").Exists() && bytes.Equal(text, last) {
			dst = dst[:start] // text is overwritten by what follows
			continue
		}
		last = text
	}
	if len(dst) == before {
		dst = appendStrings(dst, value)
	}
	return appendStrings(dst, v.Get("error"))
}

// Members that hold no text to search: skippedKeys at the top of a block, alwaysSkipped at any depth.
var (
	skippedKeys   = map[string]bool{"id": true, "type": true, "table": true, "role": true, "message_id": true, "session_id": true, "thread_id": true, "began": true}
	alwaysSkipped = map[string]bool{"mimeType": true, "annotations": true, "signature": true, "thoughtSignature": true}
)

func appendStrings(dst []byte, v jsontext.Value) []byte {
	typ := v.Get("type")
	binary := typ.Is("image") || typ.Is("document") || typ.Is("redactedThinking")
	return jsontext.AppendText(dst, v, func(dst []byte, depth int, key string, m jsontext.Value) ([]byte, bool) {
		return dst, alwaysSkipped[key] || depth == 1 && (skippedKeys[key] || binary && key == "data") || m.IsDataURL()
	})
}
