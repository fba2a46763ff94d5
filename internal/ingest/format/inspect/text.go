package inspect

import (
	"bytes"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// The text of an event is what was said, the arguments of tools and their results, errors, and what scorers, tools and programs noted; not ids, times,
// media, signatures, or references to texts that are elsewhere in the sample.

// isReference reports whether v refers to a text among the attachments.
func isReference(v jsontext.Value) bool {
	body := v.Body()
	return bytes.HasPrefix(body, []byte("attachment://")) || bytes.HasPrefix(body, []byte("tc://"))
}

func hasText(v jsontext.Value) bool { return len(appendText(nil, v)) > 0 }

// appendText appends the text of an event or of a part of it, which it knows by its members.
func appendText(dst []byte, v jsontext.Value) []byte {
	switch {
	case !v.IsObject():
		return appendLeaves(dst, v)
	case v.Get("event").IsString():
		return appendEvent(dst, v)
	case v.Get("role").IsString() && !v.Get("arguments").Exists():
		return appendMembers(dst, v, "content", "error")
	case v.Get("function").IsString() && v.Get("arguments").Exists():
		return jsontext.AppendScalars(dst, v.Get("arguments"))
	}
	switch v.Get("type").Word() {
	case "text":
		return appendMembers(dst, v, "text")
	case "reasoning":
		return appendMembers(dst, v, "summary", "reasoning")
	case "tool_use":
		return jsontext.AppendScalars(dst, v.Get("arguments"))
	case "image", "audio", "video", "document":
		return appendMembers(dst, v, "filename")
	}
	return appendLeaves(dst, v)
}

// appendEvent appends the text of an event that is none of a message.
func appendEvent(dst []byte, v jsontext.Value) []byte {
	if v.Get("event").Is("tool") {
		return jsontext.AppendScalars(dst, v.Get("arguments"))
	}
	for key, f := range v.Fields() {
		switch key {
		case "event", "uuid", "span_id", "parent_id", "timestamp", "completed", "id", "type", "events", "role_usage", "model_usage", "input_ansi":
		default:
			dst = appendLeaves(dst, f)
		}
	}
	return dst
}

func appendMembers(dst []byte, v jsontext.Value, keys ...string) []byte {
	for _, key := range keys {
		dst = appendLeaves(dst, v.Get(key))
	}
	return dst
}

// appendLeaves appends the strings of a value that are words.
func appendLeaves(dst []byte, v jsontext.Value) []byte {
	return jsontext.AppendText(dst, v, func(dst []byte, depth int, key string, v jsontext.Value) ([]byte, bool) {
		switch {
		case v.IsObject() && depth > 0 && v.Get("type").IsString() && (v.Get("text").Exists() || v.Get("reasoning").Exists() || v.Get("image").Exists()):
			return appendText(dst, v), true
		case !v.IsString():
			return dst, false
		}
		return dst, isReference(v) || v.IsDataURL() || v.IsBase64() || key == "traceback_ansi" || key == "signature"
	})
}
