package goose

import (
	"bytes"
	"fmt"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

// Text gives the text of one part of an event. Thoughts that follow each other are a part, which by itself is no JSON.
func (goose) Text(role string, raw []byte, _ int) (string, error) {
	v, err := format.ParseJSON(raw)
	if err == nil {
		return string(appendPiece(nil, v)), nil
	}
	several, failed := format.ParseJSON(bytes.Join([][]byte{[]byte("["), raw, []byte("]")}, nil))
	if failed != nil {
		return "", fmt.Errorf("read %s: %w", role, err)
	}
	var all []format.Value
	for item := range several.Items() {
		all = append(all, item)
	}
	return string(appendThoughts(nil, all)), nil
}

// appendThoughts gives the pieces of thoughts as they came, one behind the other; one that is signed was the last of its kind.
func appendThoughts(dst []byte, all []format.Value) []byte {
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

// appendPiece gives the text of a line or a block, from its own bytes: of a call the tool and its input, of a result what the tool
// gave; of a session its name and place; of everything else every string but ids, types, signatures and images.
func appendPiece(dst []byte, v format.Value) []byte {
	switch {
	case v.Get("thinking").IsString():
		return appendThoughts(dst, []format.Value{v})
	case v.Get("toolCall").Exists():
		for _, key := range []string{"value", "error"} {
			dst = appendWords(dst, v.Get("toolCall", key))
		}
		return dst
	case v.Get("toolResult").Exists():
		return appendResult(dst, v.Get("toolResult"))
	case v.Get("table").Is(tableSession), v.Get("message_count").Exists() && !v.Get("role").Exists():
		for _, key := range []string{"name", "description", "working_dir"} {
			dst = format.AppendStrings(dst, v.Get(key))
		}
		return appendWords(appendWords(dst, v.Get("recipe_json")), v.Get("extension_data"))
	case v.Get("content_json").IsArray():
		for item := range v.Get("content_json").Items() {
			dst = appendPiece(dst, item)
		}
		return dst
	}
	return appendWords(dst, v)
}

// appendResult gives what a tool gave: its content, which was all of the value once, or why it failed.
func appendResult(dst []byte, v format.Value) []byte {
	value := v.Get("value")
	content := value
	if value.IsObject() {
		content = value.Get("content")
	}
	before := len(dst)
	for item := range content.Items() {
		dst = appendWords(dst, item)
	}
	if len(dst) == before {
		dst = appendWords(dst, value)
	}
	return appendWords(dst, v.Get("error"))
}

// silent are the members of blocks that are no words, and mute those that are none wherever they stand.
var (
	silent = map[string]bool{"id": true, "type": true, "table": true, "role": true, "message_id": true, "session_id": true, "thread_id": true, "began": true}
	mute   = map[string]bool{"mimeType": true, "annotations": true, "signature": true, "thoughtSignature": true}
)

func appendWords(dst []byte, v format.Value) []byte {
	binary := v.Get("type").Is("image") || v.Get("type").Is("redactedThinking")
	return format.AppendText(dst, v, func(dst []byte, depth int, key string, m format.Value) ([]byte, bool) {
		return dst, mute[key] || depth == 1 && (silent[key] || binary && key == "data") || m.IsDataURL()
	})
}
