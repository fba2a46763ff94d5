package llmlogs

import "github.com/txarchive/txarchive/internal/ingest/jsontext"

// appendValue appends the text of a row or a value in one, from its own bytes: of a call the tool and its input, of a result the
// output, of a part its text without that of fragments, which have rows of their own; of other rows names, texts and URLs.
func appendValue(dst []byte, v jsontext.Value) []byte {
	switch {
	case !v.IsObject():
		return jsontext.AppendStrings(dst, v)
	case v.Get("table").Exists():
		return appendRow(dst, v)
	case v.Get("position").Exists():
		return appendPart(dst, v)
	}
	return appendTool(dst, v)
}

// appendRow appends the text of a whole row, as far as its values have no events of their own.
func appendRow(dst []byte, v jsontext.Value) []byte {
	switch v.Get("table").Word() {
	case tableResponse, tableMessage, tableLost, tableTurn, tableLog:
		return dst
	case tableFragment, tableAttachment, tableThread:
		for _, key := range []string{"name", "source", "url", "path"} {
			dst = jsontext.AppendStrings(dst, v.Get(key))
		}
		if v.Get("table").Is(tableFragment) {
			dst = jsontext.AppendStrings(dst, v.Get("content"))
		}
		return dst
	}
	return jsontext.AppendStrings(dst, v)
}

func appendPart(dst []byte, v jsontext.Value) []byte {
	payload := v.Get("payload")
	switch v.Get("type").Word() {
	case "tool_call", "tool_result":
		return appendTool(jsontext.AppendStrings(dst, v.Get("text")), payload)
	case "attachment":
		return dst
	case "text", "reasoning":
		dst = jsontext.AppendStrings(dst, v.Get("text"))
		for item := range payload.Get("text_ref").Items() {
			dst = jsontext.AppendStrings(dst, item.Get("literal"))
		}
		return dst
	}
	return jsontext.AppendStrings(jsontext.AppendStrings(dst, v.Get("text")), payload)
}

// appendTool appends a call or a result. A result leaves out the tool's name, which its call has.
func appendTool(dst []byte, v jsontext.Value) []byte {
	if !v.IsObject() {
		return jsontext.AppendStrings(dst, v)
	}
	keys := []string{"name", "arguments"}
	if v.Get("output").Exists() {
		keys = []string{"output", "exception"}
	}
	for _, key := range keys {
		dst = jsontext.AppendScalars(dst, v.Get(key))
	}
	return dst
}
