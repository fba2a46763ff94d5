package geminicli

import (
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// pieceText returns the text of a piece of a session from its own bytes: a message, a thought, a call, a result, a record
// of the log. That is every string except ids, states and times, and never images. Of a message it is only the content, and
// of that neither thoughts nor calls that it also lists apart; of a call only the arguments: the rest are pieces of their own.
func pieceText(v jsontext.Value) string {
	if !v.IsObject() {
		return textOf(v)
	}
	typ, content := v.Get("type"), v.Get("content")
	switch {
	case typ.IsString() && content.Exists():
		text := messageText(v, content)
		if display := textOf(v.Get("displayContent")); !strings.Contains(text, display) {
			text += "\n" + display
		}
		return text
	case v.Get("$set").Exists(), v.Get("$patch").Exists():
		return v.Get("$set", "summary").Str() + updatesText(v.Get("$patch", "updates"))
	}
	if v.Get("functionResponse").Exists() {
		return textOf(v)
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

// messageText returns the text of a message's content without the calls and thoughts that the message has beside it: of
// content without anything else, the thoughts.
func messageText(v, content jsontext.Value) string {
	if !content.IsArray() {
		return textOf(content)
	}
	thoughts, calls := hasValue(v.Get("thoughts")), hasValue(v.Get("toolCalls"))
	var said, thought []byte
	for item := range content.Items() {
		switch {
		case calls && item.Get("functionCall").Exists():
		case thoughts && isThought(item):
			thought = appendPart(thought, item)
		default:
			said = appendPart(said, item)
		}
	}
	if len(said) == 0 {
		said = thought
	}
	return string(said)
}

// updatesText returns what a change of several messages at once states about them.
func updatesText(updates jsontext.Value) string {
	var dst []byte
	for update := range updates.Items() {
		dst = appendPiece(dst, update.Get("content"))
		for c := range update.Get("toolCalls").Items() {
			dst = appendPiece(dst, c.Get("result"))
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
	ofTool := v.Get("functionResponse").Exists()
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
			if ofTool {
				dst = jsontext.AppendScalars(dst, m)
			} else {
				dst = jsontext.AppendStrings(dst, m)
			}
		}
	}
	return dst
}
