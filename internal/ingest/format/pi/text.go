package pi

import "github.com/txarchive/txarchive/internal/ingest/format"

// textOf is every string of a value but ids, types, signatures and what is encoded. What a tool is asked is taken whole. The
// text of a value does not depend on what stands around it.
func textOf(v format.Value) string {
	return format.Build(func(b []byte) []byte { return appendText(b, v) })
}

func appendText(dst []byte, v format.Value) []byte {
	switch v.Type() {
	case '"':
		if v.IsDataURL() {
			return dst
		}
		return format.AppendStrings(dst, v)
	case '[':
		for item := range v.Items() {
			dst = appendText(dst, item)
		}
	case '{':
		for key, value := range v.Fields() {
			dst = appendMember(dst, key, value)
		}
	}
	return dst
}

func appendMember(dst []byte, key string, value format.Value) []byte {
	switch key {
	case "type", "id", "parentId", "timestamp", "role", "api", "provider", "model", "modelId", "responseModel", "responseId", "usage",
		"stopReason", "rawStopReason", "toolCallId", "thinkingSignature", "textSignature", "thoughtSignature", "signature", "mimeType",
		"partialJson", "firstKeptEntryId", "targetId", "fromId", "retainedTail", "cwd", "parentSession", "branchedFrom", "thinkingLevel":
		return dst
	case "arguments", "input":
		return format.AppendStrings(dst, value)
	case "data":
		if encoded(value) {
			return dst
		}
	}
	return appendText(dst, value)
}

// encoded says that a string is base64 and no words.
func encoded(v format.Value) bool {
	if !v.IsString() || v.Len() < 64+len(`""`) {
		return false
	}
	body := v.Raw()[1 : v.Len()-1]
	for _, c := range body[:min(len(body), 1024)] {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && c-'0' > 9 && c != '+' && c != '/' && c != '=' && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// blank says that a string holds nothing but space, or is none.
func blank(v format.Value) bool {
	if !v.IsString() {
		return true
	}
	body := v.Raw()[1 : v.Len()-1]
	if len(body) > 0 && body[0] > ' ' && body[0] != '\\' && body[0] < 0x80 {
		return false
	}
	return isSpace(v.Str())
}
