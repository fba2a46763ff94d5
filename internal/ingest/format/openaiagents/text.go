package openaiagents

import (
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// Text returns the text of one part of an event.
func (openaiAgents) Text(role string, raw []byte, _ int) (string, error) {
	return format.TextOf(role, raw, jsontext.Appended(appendValue))
}

// appendValue appends the text of an item, or of a piece of one, from its own bytes: of a call the tool and its input; of everything else all
// strings except ids, types, signatures and images. A row of usage has none.
func appendValue(dst []byte, v jsontext.Value) []byte {
	if v.Get("table").Is(rowUsage) || v.Get("__enc__").Exists() {
		return dst
	}
	typ := v.Get("type").Word()
	switch {
	case !v.IsObject():
		return appendOutput(dst, v.UnwrapContainer())
	case strings.HasSuffix(typ, "_call"):
		dst = jsontext.AppendStrings(dst, v.Get("name"))
		for _, key := range inputKeys {
			dst = jsontext.AppendScalars(dst, v.Get(key).UnwrapContainer())
		}
		return dst
	case isOutput(typ):
		return appendOutput(dst, v.First(outputKeys...).UnwrapContainer())
	}
	return appendStrings(dst, v)
}

// isSkipped reports whether a member holds no text to search.
func isSkipped(key string) bool {
	switch key {
	case "table", "session_id", "began", "created_at", "branch_id", "type", "role", "id", "call_id", "status", "phase", "encrypted_content", "logprobs",
		"provider_data", "file_id", "detail":
		return true
	}
	return false
}

func visit(dst []byte, _ int, key string, m jsontext.Value) ([]byte, bool) {
	return dst, isSkipped(key) || m.IsDataURL() || m.IsBase64()
}

func appendStrings(dst []byte, v jsontext.Value) []byte { return jsontext.AppendText(dst, v, visit) }

// appendOutput appends what came out of a tool: with numbers if it is JSON.
func appendOutput(dst []byte, v jsontext.Value) []byte {
	return jsontext.AppendTextAndNumbers(dst, v, visit)
}
