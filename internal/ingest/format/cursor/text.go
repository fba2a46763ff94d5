package cursor

import (
	"bytes"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// maxTextDepth bounds how deep skippedKeys are looked at; below it every string counts as text.
const maxTextDepth = 32

// appendValue appends the text of a line, a row or a part of one, from its own bytes: of a prompt what the user typed; of a call the
// tool and its input; of everything else all strings except ids, types, encrypted data and images.
func appendValue(dst []byte, role string, v jsontext.Value) []byte {
	switch {
	case role == roleStream:
		return appendStream(dst, v)
	case v.IsObject() && v.Get("table").IsString():
		return appendRow(dst, v)
	case v.IsString() && role == roleRows:
		return appendInside(dst, v) // a tool's result
	case v.IsString():
		return appendText(dst, v)
	case v.IsObject() && role == roleRows && (v.Get("bubbleId").Exists() || v.Get("type").Type() == '0'):
		return appendBubble(dst, v)
	case v.IsObject() && role == roleRows && isTool(v):
		return appendCall(dst, v)
	}
	return appendDeep(dst, v, 0)
}

// appendRow appends the text of a whole row of a database.
func appendRow(dst []byte, v jsontext.Value) []byte {
	value := v.Get("value")
	switch table := v.Get("table"); {
	case table.Is(tableMessage), table.Is(tableLost) && v.Get("data").Exists():
		return appendDeep(dst, v.Get("data"), 0)
	case table.Is(tableBubble), table.Is(tableLost):
		return appendBubble(dst, value)
	case table.Is(tableList):
		for c := range value.Get("allComposers").Items() {
			dst = jsontext.AppendStrings(jsontext.AppendStrings(dst, c.Get("name")), c.Get("subtitle"))
		}
		return dst
	}
	for _, key := range []string{"name", "subtitle", "text", "todos", "latestConversationSummary"} {
		dst = appendDeep(dst, value.Get(key), 1)
	}
	return dst
}

// appendBubble appends the text of a message, the code that is shown in it but not part of its text, and the code attached to it.
func appendBubble(dst []byte, v jsontext.Value) []byte {
	before := len(dst)
	if text := v.Get("text"); text.IsString() {
		dst = appendText(dst, text)
	}
	for block := range v.Get("codeBlocks").Items() {
		if code := block.Get("content"); !bytes.Contains(dst[before:], []byte(code.Str())) {
			dst = jsontext.AppendStrings(dst, code)
		}
	}
	return appendDeep(dst, v.Get("attachedCodeChunks"), 1)
}

// appendText appends a string, without the tags around a prompt.
func appendText(dst []byte, v jsontext.Value) []byte {
	if v.IsDataURL() {
		return dst
	}
	before := len(dst)
	dst = jsontext.AppendStrings(dst, v)
	text := dst[before:]
	if len(text) > 0 && text[0] == '\n' && before > 0 {
		before++
		text = text[1:]
	}
	if head := string(text[:min(len(text), len(beginTime)+64)]); !mayWrap(head) {
		return dst
	}
	return append(dst[:before], unwrap(string(text))...)
}

func mayWrap(head string) bool {
	for i := range len(head) {
		switch head[i] {
		case ' ', '\t', '\r', '\n':
		case '<':
			return true
		default:
			return false
		}
	}
	return false
}

// appendInside appends the strings and numbers of the JSON in a string, as results of tools are written; else the string.
func appendInside(dst []byte, v jsontext.Value) []byte {
	if inside := v.Inside(); inside.IsObject() || inside.IsArray() {
		return jsontext.AppendScalars(dst, inside)
	}
	return appendText(dst, v)
}

// isTool reports whether a value is a tool call in the editor's database.
func isTool(v jsontext.Value) bool {
	return v.Get("rawArgs").Exists() || v.Get("toolCallId").Exists() && v.Get("name").Exists() || v.Get("params").Exists() && v.Get("name").Exists()
}

// appendCall appends the name and the input of a call. The result has its own event.
func appendCall(dst []byte, v jsontext.Value) []byte {
	dst = jsontext.AppendStrings(dst, v.Get("name"))
	return jsontext.AppendScalars(dst, inputOf(v).Unwrap())
}

// inputOf returns the input of a call: as the model wrote it, else as Cursor parsed it.
func inputOf(v jsontext.Value) jsontext.Value {
	for _, key := range []string{"rawArgs", "params"} {
		if m := v.Get(key); m.Exists() && !m.IsNull() && m.Len() > len(`""`) {
			return m
		}
	}
	return jsontext.Value{}
}

// skippedKeys are members of a line or a part that hold no text to search.
var skippedKeys = map[string]bool{
	"id": true, "role": true, "tool_use_id": true, "toolCallId": true, "signature": true, "cache_control": true, "media_type": true,
	"mimeType": true, "providerOptions": true, "experimental_providerMetadata": true, "modelCallId": true, "composerId": true, "bubbleId": true,
	"createdAt": true, "toolCallBinary": true, "data": true,
}

// appendDeep appends the text of a line (at 0), or of a part of one (at 1).
func appendDeep(dst []byte, v jsontext.Value, at int) []byte {
	call := at == 0 && (v.Get("type").Is("tool_use") || v.Get("type").Is("tool-call"))
	return jsontext.AppendText(dst, v, func(dst []byte, depth int, key string, v jsontext.Value) ([]byte, bool) {
		depth += at
		switch {
		case depth > maxTextDepth:
			return jsontext.AppendStrings(dst, v), true
		case call && depth == 1 && (key == "input" || key == "args"): // all of a tool's input, ids included
			return jsontext.AppendScalars(dst, v), true
		case key == "type", depth <= 2 && skippedKeys[key]:
			return dst, true
		case depth == 1 && key == "text" && v.IsString():
			return appendText(dst, v), true
		}
		return dst, v.IsDataURL()
	})
}
