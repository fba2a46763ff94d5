package codebuddy

import "github.com/txarchive/txarchive/internal/ingest/jsontext"

// textOf returns all strings of a value except ids, types, times and names of models, and what the program keeps beside an item. It does not depend
// on what surrounds the value. The input of a tool is taken with its numbers, and so is its output if that is JSON.
var textOf = jsontext.Appended(appendText)

func appendText(dst []byte, v jsontext.Value) []byte { return jsontext.AppendText(dst, v, visit) }

func visit(dst []byte, _ int, key string, value jsontext.Value) ([]byte, bool) {
	switch key {
	case "type", "id", "parentId", "timestamp", "sessionId", "cwd", "role", "status", "callId", "providerData", "snapshot", "blob_id", "blob_path", "mime":
		return dst, true
	case "arguments":
		return jsontext.AppendScalars(dst, value.Unwrap()), true
	case "output":
		return appendOutput(dst, value), true
	case "message":
		return dst, value.Get("usage").Exists() // a copy of the tokens
	}
	return dst, value.IsDataURL()
}

// appendOutput appends what a tool returned: a text, a block or several, each of which may have JSON inside.
func appendOutput(dst []byte, v jsontext.Value) []byte {
	switch {
	case v.IsDataURL():
		return dst
	case v.IsArray():
		for item := range v.Items() {
			dst = appendOutput(dst, item)
		}
		return dst
	case v.IsObject():
		for key, m := range v.Fields() {
			if key != "type" {
				dst = appendOutput(dst, m)
			}
		}
		return dst
	}
	return jsontext.AppendScalars(dst, v.UnwrapContainer())
}
