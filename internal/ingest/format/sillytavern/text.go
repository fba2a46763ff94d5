package sillytavern

import (
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// Text returns the text of one part of an event.
func (sillyTavern) Text(role string, raw []byte, _ int) (string, error) {
	return format.TextOf(role, raw, jsontext.Appended(appendValue))
}

// appendValue appends the text of a line or a piece of one, from its own bytes: of a call the tool and its input; of everything else all strings but
// ids, names of files, and what is an event of its own.
func appendValue(dst []byte, v jsontext.Value) []byte {
	if v.Get("parameters").Exists() && v.Get("name").IsString() {
		dst = jsontext.AppendStrings(dst, v.Get("name"))
		return jsontext.AppendScalars(dst, v.Get("parameters").UnwrapContainer())
	}
	if v.IsArray() || v.Type() == '0' {
		return jsontext.AppendScalars(dst, v)
	}
	return jsontext.AppendText(dst, v, func(dst []byte, _ int, key string, m jsontext.Value) ([]byte, bool) {
		return dst, isSkipped(key) || m.IsDataURL() || m.IsBase64()
	})
}

// isSkipped reports whether a member holds no text to search.
func isSkipped(key string) bool {
	switch key {
	case "api", "model", "type", "reasoning", "reasoning_type", "reasoning_signature", "tool_invocations", "branches", "bookmark_link", "gen_started",
		"gen_finished", "send_date", "create_date", "integrity", "image", "image_swipes", "url", "force_avatar", "original_avatar", "user_name", "character_name",
		"chat_id_hash", "swipes", "swipe_info", "media_display", "media_type":
		return true
	}
	return false
}
