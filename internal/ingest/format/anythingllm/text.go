package anythingllm

import (
	"bytes"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// Text returns the text of one part of an event. Its bytes are a JSON value with a string in it, or a piece of the body of a string, which has no
// quote that is not escaped.
func (anythingLLM) Text(_ string, raw []byte, _ int) (string, error) {
	if bytes.IndexByte(raw, '"') >= 0 {
		if v, err := jsontext.Parse(raw); err == nil {
			return jsontext.Build(func(b []byte) []byte { return appendValue(b, v) }), nil
		}
	}
	return string(appendFragment(nil, raw)), nil
}

// appendValue appends the text of a value, from its own bytes: all strings but ids, times, pictures and vectors.
func appendValue(dst []byte, v jsontext.Value) []byte {
	if bytes.IndexByte(v.Raw(), '"') < 0 {
		return appendFragment(dst, v.Raw())
	}
	return jsontext.AppendText(dst, v, func(dst []byte, _ int, key string, m jsontext.Value) ([]byte, bool) {
		return dst, isSkipped(key) || m.IsDataURL() || m.IsBase64()
	})
}

// isSkipped reports whether a member holds no text to search.
func isSkipped(key string) bool {
	switch key {
	case "table", "id", "uuid", "type", "createdAt", "lastUpdatedAt", "timestamp", "session_id", "api_session_id", "mime", "vector",
		"workspace_slug", "workspace_created", "thread_slug", "thread_created", "embed":
		return true
	}
	return false
}

// appendFragment appends the text of a piece of the body of a string.
func appendFragment(dst, body []byte) []byte {
	return append(dst, jsontext.Unquote(`"`+string(body)+`"`)...)
}

// think finds what a model thought, which is an element at the beginning of its answer, in the body of a string: its ends, and where the answer
// begins. Without it they are 0. What is not closed is the answer.
func think(body []byte) (from, to, rest int) {
	begin := skipSpace(body, 0)
	for _, name := range []string{"think", "thinking", "thought", "thought_chain"} {
		if !bytes.HasPrefix(body[begin:], []byte("<"+name+">")) {
			continue
		}
		from = begin + len(name) + len("<>")
		n := bytes.Index(body[from:], []byte("</"+name+">"))
		if n < 0 {
			return 0, 0, 0
		}
		to = from + n
		return skipSpace(body[:to], from), to, skipSpace(body, to+len(name)+len("</>"))
	}
	return 0, 0, 0
}

// skipSpace returns where what follows white space begins, in the body of a string.
func skipSpace(body []byte, i int) int {
	for i < len(body) {
		switch {
		case body[i] == ' ':
			i++
		case body[i] == '\\' && i+1 < len(body) && (body[i+1] == 'n' || body[i+1] == 'r' || body[i+1] == 't'):
			i += 2
		default:
			return i
		}
	}
	return i
}
