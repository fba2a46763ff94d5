package openwebui

import (
	"bytes"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// Text returns the text of one part of an event. Its bytes are a JSON value with a string in it, or a piece of the body of a string, which has no
// quote that is not escaped.
func (openWebUI) Text(_ string, raw []byte, _ int) (string, error) {
	if bytes.IndexByte(raw, '"') >= 0 {
		if v, err := jsontext.Parse(raw); err == nil {
			return jsontext.Build(func(b []byte) []byte { return appendValue(b, v) }), nil
		}
	}
	return string(appendFragment(nil, raw)), nil
}

// hasString reports whether a value is a string or has one in it.
func hasString(v jsontext.Value) bool { return bytes.IndexByte(v.Raw(), '"') >= 0 }

// appendText appends the text that Text returns for the bytes of a value.
func appendText(dst []byte, v jsontext.Value) []byte {
	if !hasString(v) {
		return appendFragment(dst, v.Raw())
	}
	return appendValue(dst, v)
}

// appendValue appends the text of a message, an item of an answer or something beside a message, from its own bytes: of a message what was said, of
// a call the tool and its input, of a result the output, of everything else all strings except ids, types, signatures and images.
func appendValue(dst []byte, v jsontext.Value) []byte {
	switch typ := v.Get("type").Word(); {
	case typ == "reasoning":
		before := len(dst)
		if dst = appendContent(dst, v.Get("content")); len(dst) == before {
			dst = appendContent(dst, v.Get("summary"))
		}
		return dst
	case typ == itemCode:
		return jsontext.AppendStrings(dst, v.Get("code"))
	case strings.HasSuffix(typ, outSuffix):
		return jsontext.AppendTextAndNumbers(dst, v.Get("output"), visit)
	case strings.HasSuffix(typ, callSuffix):
		dst = jsontext.AppendStrings(dst, v.Get("name"))
		for key, input := range v.Fields() {
			switch key {
			case "arguments", "code", "action", "input", "queries", "query":
				dst = jsontext.AppendScalars(dst, input.UnwrapContainer())
			}
		}
		return dst
	case v.Get("role").IsString():
		return appendContent(dst, v.Get("content"))
	}
	if v.Get("stdout").Exists() || v.Get("stderr").Exists() || v.Get("result").Exists() { // of code
		return jsontext.AppendTextAndNumbers(dst, v, visit)
	}
	return jsontext.AppendText(dst, v, visit)
}

// appendContent appends a text, or those of a list of pieces.
func appendContent(dst []byte, v jsontext.Value) []byte { return jsontext.AppendText(dst, v, visit) }

// isSkipped reports whether a member holds no text to search.
func isSkipped(key string) bool {
	switch key {
	case "id", "type", "table", "role", "user_id", "hash", "status", "collection_name", "content_type",
		"itemId", "folder_id", "share_id", "chat_id", "message_id", "encrypted_content", "signature", "parentId",
		"embedding_config", "start_tag", "end_tag", "done", "detail", "mime_type":
		return true
	}
	return false
}

func visit(dst []byte, _ int, key string, m jsontext.Value) ([]byte, bool) {
	return dst, isSkipped(key) || m.IsDataURL() || m.IsBase64()
}
