package cursor

import "github.com/txarchive/txarchive/internal/ingest/format"

// deepest is how far the pieces of a line are told apart; below it every string counts.
const deepest = 32

// appendPiece gives the text of a line, a row or a piece of one, from its own bytes: of a prompt what the person typed; of a call the
// tool and its input; of everything else every string but ids, types, ciphers and images.
func appendPiece(dst []byte, role string, v format.Value) []byte {
	switch {
	case v.IsObject() && v.Get("table").IsString():
		return appendRow(dst, v)
	case v.IsString() && role == roleRows:
		return appendInside(dst, v) // what a tool gave
	case v.IsString():
		return appendText(dst, v)
	case v.IsObject() && role == roleRows && (v.Get("bubbleId").Exists() || v.Get("type").Type() == '0'):
		return appendBubble(dst, v)
	case v.IsObject() && role == roleRows && isTool(v):
		return appendCall(dst, v)
	}
	return appendDeep(dst, v, 0)
}

// appendRow gives what a row of a database says that is no piece of its own.
func appendRow(dst []byte, v format.Value) []byte {
	value := v.Get("value")
	switch table := v.Get("table"); {
	case table.Is(tableMessage), table.Is(tableLost) && v.Get("data").Exists():
		return appendDeep(dst, v.Get("data"), 0)
	case table.Is(tableBubble), table.Is(tableLost):
		return appendBubble(dst, value)
	case table.Is(tableList):
		for c := range value.Get("allComposers").Items() {
			dst = format.AppendStrings(format.AppendStrings(dst, c.Get("name")), c.Get("subtitle"))
		}
		return dst
	}
	for _, key := range []string{"name", "subtitle", "text", "todos", "latestConversationSummary"} {
		dst = appendDeep(dst, value.Get(key), 1)
	}
	return dst
}

// appendBubble gives the words of a message, and what was put to a prompt.
func appendBubble(dst []byte, v format.Value) []byte {
	if text := v.Get("text"); text.IsString() {
		dst = appendText(dst, text)
	}
	return appendDeep(dst, v.Get("attachedCodeChunks"), 1)
}

// appendText gives a string, without the tags around a prompt.
func appendText(dst []byte, v format.Value) []byte {
	if v.IsDataURL() {
		return dst
	}
	before := len(dst)
	dst = format.AppendStrings(dst, v)
	own := dst[before:]
	if len(own) > 0 && own[0] == '\n' && before > 0 {
		before++
		own = own[1:]
	}
	if text := string(own[:min(len(own), len(beginTime)+64)]); !mayWrap(text) {
		return dst
	}
	return append(dst[:before], unwrapped(string(own))...)
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

// appendInside gives the strings of JSON that a string holds, which is how what tools give is written; else the string.
func appendInside(dst []byte, v format.Value) []byte {
	if inside := v.Inside(); inside.IsObject() || inside.IsArray() {
		return format.AppendStrings(dst, inside)
	}
	return appendText(dst, v)
}

// isTool knows what the editor's database has of a call.
func isTool(v format.Value) bool {
	return v.Get("rawArgs").Exists() || v.Get("toolCallId").Exists() && v.Get("name").Exists() || v.Get("params").Exists() && v.Get("name").Exists()
}

// appendCall gives the name and the input of a call. What it gave is a piece of its own.
func appendCall(dst []byte, v format.Value) []byte {
	dst = format.AppendStrings(dst, v.Get("name"))
	input := inputOf(v)
	if inside := input.Inside(); inside.Exists() {
		return format.AppendStrings(dst, inside)
	}
	return format.AppendStrings(dst, input)
}

// inputOf is what a tool was asked: what the model wrote, else what the program made of it.
func inputOf(v format.Value) format.Value {
	for _, key := range []string{"rawArgs", "params"} {
		if m := v.Get(key); m.Exists() && !m.IsNull() && m.Len() > len(`""`) {
			return m
		}
	}
	return format.Value{}
}

// silent are the members of a line or piece that are no words.
var silent = map[string]bool{
	"id": true, "role": true, "tool_use_id": true, "toolCallId": true, "signature": true, "cache_control": true, "media_type": true,
	"mimeType": true, "providerOptions": true, "experimental_providerMetadata": true, "modelCallId": true, "composerId": true, "bubbleId": true,
	"createdAt": true, "toolCallBinary": true, "data": true,
}

// appendDeep appends what stands in a line, or where that is at 1, in a piece of one.
func appendDeep(dst []byte, v format.Value, at int) []byte {
	call := at == 0 && (v.Get("type").Is("tool_use") || v.Get("type").Is("tool-call"))
	return format.AppendText(dst, v, func(dst []byte, depth int, key string, v format.Value) ([]byte, bool) {
		depth += at
		switch {
		case depth > deepest, call && depth == 1 && (key == "input" || key == "args"): // whatever a tool is asked, ids too
			return format.AppendStrings(dst, v), true
		case key == "type", depth <= 2 && silent[key]:
			return dst, true
		case depth == 1 && key == "text" && v.IsString():
			return appendText(dst, v), true
		}
		return dst, v.IsDataURL()
	})
}
