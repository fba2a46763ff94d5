package geminicli

import (
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// pieceText returns the text of a piece of a session from its own bytes: a message, a thought, a call, a result, a record
// of the log. That is every string except ids, states and times, and never images. Of a message it is only the content, of
// a call only the arguments, since the rest are pieces of their own.
func pieceText(v jsontext.Value) string {
	if !v.IsObject() {
		return textOf(v)
	}
	typ, content := v.Get("type"), v.Get("content")
	switch {
	case typ.IsString() && content.Exists():
		text := textOf(content)
		if display := textOf(v.Get("displayContent")); !strings.Contains(text, display) {
			text += "\n" + display
		}
		return text
	case v.Get("$set").Exists(), v.Get("$patch").Exists():
		return v.Get("$set", "summary").Str()
	}
	isCall := v.Get("args").Exists()
	var dst []byte
	for key, m := range v.Fields() {
		switch key {
		case "id", "timestamp", "status", "agentId", "sessionId", "projectHash", "startTime", "lastUpdated", "kind", "messages",
			"type", "model", "displayName", "thoughts", "toolCalls", "originalContent", "newContent", "messageId", "$rewindTo":
		case "args":
			dst = jsontext.AppendScalars(dst, m)
		case "result", "resultDisplay":
			if !isCall {
				dst = appendPiece(dst, m)
			}
		default:
			dst = appendPiece(dst, m)
		}
	}
	return string(dst)
}

// textOf returns the text of content: a string, a part, or a list of these.
var textOf = jsontext.Appended(appendPiece)

func appendPiece(dst []byte, v jsontext.Value) []byte {
	switch {
	case v.IsArray():
		for item := range v.Items() {
			dst = appendPart(dst, item)
		}
		return dst
	case v.IsObject():
		return appendPart(dst, v)
	}
	return jsontext.AppendStrings(dst, v)
}

// appendPart appends the strings of one part of content, and the numbers that go into a tool and come out of it.
func appendPart(dst []byte, v jsontext.Value) []byte {
	if !v.IsObject() {
		return jsontext.AppendStrings(dst, v)
	}
	for key, m := range v.Fields() {
		switch key {
		case "inlineData", "thoughtSignature":
		case "functionResponse", "functionCall":
			for inner, f := range m.Fields() {
				if inner != "id" && inner != "name" && inner != "parts" {
					dst = jsontext.AppendScalars(dst, f)
				}
			}
		default:
			dst = jsontext.AppendStrings(dst, m)
		}
	}
	return dst
}
