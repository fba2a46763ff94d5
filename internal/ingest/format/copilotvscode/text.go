package copilotvscode

import (
	"github.com/txarchive/txarchive/internal/ingest/format"
)

// pieceText gives the text of a piece of a session from its own bytes: a prompt, a part of an answer, what a call asked for and gave, a
// change. What search finds is every string but ids, kinds, the looks of things and encoded data.
func pieceText(v format.Value) string {
	return format.Build(func(dst []byte) []byte { return appendPiece(dst, v) })
}

func appendPiece(dst []byte, v format.Value) []byte {
	kind := v.Get("kind")
	switch {
	case kind.Is("toolInvocationSerialized"), kind.Is("toolInvocation"):
		return appendCall(dst, v)
	case v.Get("arguments").IsString():
		return appendArguments(dst, v.Get("arguments"))
	case kind.Exists() && !kind.IsString(): // a change
		return appendWords(dst, v.Get("v"))
	}
	return appendWords(dst, v)
}

// appendCall appends what is shown of a call before it has a result.
func appendCall(dst []byte, v format.Value) []byte {
	dst = appendWords(dst, v.Get("invocationMessage"))
	for key, m := range v.Get("toolSpecificData").Fields() {
		if key != "terminalCommandOutput" && key != "result" && !unsaid[key] {
			dst = appendWords(dst, m)
		}
	}
	return appendWords(dst, v.Get("resultDetails", "input"))
}

// appendArguments appends the strings of the arguments of a call, which are JSON in a string.
func appendArguments(dst []byte, v format.Value) []byte {
	if inner := v.Inside(); inner.IsObject() || inner.IsArray() {
		return format.AppendStrings(dst, inner)
	}
	return format.AppendStrings(dst, v)
}

// appendWords appends all strings of a value that are words. Of the place of a file that is its path.
func appendWords(dst []byte, v format.Value) []byte {
	details := v.Get("output").Exists() && v.Get("input").Exists() // its input is the call's
	return format.AppendText(dst, v, func(dst []byte, depth int, key string, v format.Value) ([]byte, bool) {
		switch {
		case depth > 0 && unsaid[key], details && depth == 1 && key == "input":
			return dst, true
		case v.IsString():
			return dst, v.IsDataURL() || v.Len() > leastEncoded && v.IsBase64()
		case v.IsObject() && v.Get("path").IsString() && v.Get("scheme").IsString():
			return format.AppendStrings(dst, v.Get("path")), true
		}
		return dst, false
	})
}

// leastEncoded is the length, in bytes, behind which letters and digits without a space are no word.
const leastEncoded = 256

// unsaid are the members that are no words.
var unsaid = map[string]bool{
	"$mid": true, "id": true, "kind": true, "type": true, "uris": true, "baseUri": true, "external": true, "mimeType": true, "base64Data": true,
	"encrypted": true, "metadata": true, "statefulMarker": true, "presentation": true, "icon": true, "iconPath": true, "language": true,
	"resolveId": true, "undoStopId": true, "toolId": true, "toolCallId": true, "requestId": true, "responseId": true, "sessionId": true,
	"subAgentInvocationId": true, "suggestionId": true, "terminalToolSessionId": true, "terminalCommandId": true, "terminalCommandUri": true,
	"terminalTheme": true, "terminalCommandState": true, "toolCallRoundId": true, "ctor": true, "ctorName": true, "references": true, "priority": true,
	"agent": true, "role": true, "modelId": true, "identifier": true, "extensionId": true, "selections": true, "range": true, "editorRange": true, "cacheType": true,
}
