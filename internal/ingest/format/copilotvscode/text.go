package copilotvscode

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// pieceText returns the text of a value of a session from its own bytes: a prompt, a part of an answer, a call or its result, a
// change. That is every string but ids, kinds, styling and encoded data.
var pieceText = jsontext.Appended(appendText)

// textOf returns the text of a part of an event from its own bytes: one value, or the parts of an answer that form one text.
func textOf(raw []byte, part int) (string, error) {
	if v, err := jsontext.Parse(raw); err == nil {
		return valueText(v, part), nil
	}
	all, err := jsontext.Parse(slices.Concat([]byte("["), raw, []byte("]")))
	if err != nil {
		return "", fmt.Errorf("read a part of a session: %w", err)
	}
	parts := slices.Collect(all.Items())
	if part > 0 {
		return notesText(parts), nil
	}
	return answerText(parts), nil
}

// valueText returns the text of a value that is one part of an event. After the first part, a part of an answer has what it states beside its text.
func valueText(v jsontext.Value, part int) string {
	if kind := v.Get("kind"); part > 0 && (kind.Is("inlineReference") || kind.Is("markdownVuln")) {
		return notesText([]jsontext.Value{v})
	}
	return pieceText(v)
}

// answerText returns the text of some parts of an answer as the editor shows them: one text with the labels of inline references. If two
// texts follow each other without white space, the second starts a new line: the program has already joined all others.
func answerText(parts []jsontext.Value) string {
	if len(parts) == 1 {
		return pieceText(parts[0])
	}
	return jsontext.Build(func(dst []byte) []byte {
		named := true // the last appended string was a label, not text
		for _, v := range parts {
			if classOf(v) != classText {
				continue
			}
			text, reference := pieceText(v), v.Get("kind").Is("inlineReference")
			if !named && !reference && text != "" && len(dst) > 0 && dst[len(dst)-1] > ' ' && text[0] > ' ' {
				dst = append(dst, '\n')
			}
			dst, named = append(dst, text...), reference
		}
		return dst
	})
}

// appendMarkdown appends the Markdown of a part of an answer, as written.
func appendMarkdown(dst []byte, v jsontext.Value) []byte {
	if v.Get("kind").Is("inlineReference") {
		return append(dst, label(v)...)
	}
	text := v.Get("value")
	if !text.Exists() {
		text = v.Get("content")
	}
	if text.IsObject() {
		text = text.Get("value")
	}
	switch {
	case text.IsString():
		return append(dst, text.Str()...)
	case text.IsArray():
		for s := range text.Items() {
			dst = append(dst, s.Str()...)
		}
		return dst
	}
	return appendStrings(dst, v)
}

// label returns what the editor shows for a reference: its name, else the file's, with the lines.
func label(v jsontext.Value) string {
	to := v.Get("inlineReference")
	for _, name := range []jsontext.Value{v.Get("name"), to.Get("name")} {
		if !name.IsBlank() {
			return name.Str()
		}
	}
	file := to.Get("path")
	if to.Get("uri").IsObject() {
		file = to.Get("uri", "path")
	}
	if file.IsBlank() {
		return ""
	}
	name := path.Base(file.Str())
	from, _ := to.Get("range", "startLineNumber").Int()
	until, _ := to.Get("range", "endLineNumber").Int()
	switch {
	case from <= 0:
		return name
	case until <= from:
		return name + ":" + strconv.FormatInt(from, 10)
	}
	return name + ":" + strconv.FormatInt(from, 10) + "-" + strconv.FormatInt(until, 10)
}

// notesText returns what some parts of an answer state beside their text: the files they refer to, and warnings about vulnerabilities.
func notesText(parts []jsontext.Value) string {
	noted := map[string]bool{"": true}
	return jsontext.Build(func(dst []byte) []byte {
		for _, v := range parts {
			var value jsontext.Value
			switch kind := v.Get("kind"); {
			case kind.Is("inlineReference"):
				value = v.Get("inlineReference")
			case kind.Is("codeblockUri"):
				value = v.Get("uri")
			case kind.Is("markdownVuln"):
				value = v.Get("vulnerabilities")
			default:
				continue
			}
			shown := label(v)
			for line := range strings.SplitSeq(jsontext.Build(func(b []byte) []byte { return appendStrings(b, value) }), "\n") {
				if line != shown && !noted[line] {
					noted[line] = true
					dst = append(append(dst, line...), '\n')
				}
			}
		}
		return bytes.TrimSuffix(dst, []byte("\n"))
	})
}

func appendText(dst []byte, v jsontext.Value) []byte {
	kind := v.Get("kind")
	switch {
	case kind.Is("toolInvocationSerialized"), kind.Is("toolInvocation"):
		return appendCall(dst, v)
	case v.Get("arguments").IsString():
		return appendArguments(dst, v.Get("arguments"))
	case kind.Exists() && !kind.IsString(): // a change
		return appendStrings(dst, v.Get("v"))
	case kind.Exists() && classOf(v) == classText, v.Get("value").Exists() && !kind.Exists():
		return appendMarkdown(dst, v)
	}
	return appendStrings(dst, v)
}

// appendCall appends the text of a call as shown, without its result.
func appendCall(dst []byte, v jsontext.Value) []byte {
	dst = appendStrings(dst, v.Get("invocationMessage"))
	commands := map[string]bool{} // the same command as given by the model, as edited, as shown and as confirmed
	for key, m := range v.Get("toolSpecificData").Fields() {
		switch {
		case key == "terminalCommandOutput" || key == "result" || skippedKeys[key]:
		case key == "rawInput":
			dst = jsontext.AppendScalars(dst, m)
		case m.IsObject() && (key == "commandLine" || key == "confirmation"):
			for _, s := range m.Fields() {
				if command := strings.TrimSpace(s.Str()); !commands[command] {
					commands[command] = true
					dst = appendStrings(dst, s)
				}
			}
		default:
			dst = appendStrings(dst, m)
		}
	}
	return appendStrings(dst, v.Get("resultDetails", "input"))
}

// appendArguments appends what is in the arguments of a call, which are JSON in a string.
func appendArguments(dst []byte, v jsontext.Value) []byte {
	if inner := v.Inside(); inner.IsObject() || inner.IsArray() {
		return jsontext.AppendScalars(dst, inner)
	}
	return jsontext.AppendStrings(dst, v)
}

// appendStrings appends all strings of a value that are text. Of a URI object it appends the path.
func appendStrings(dst []byte, v jsontext.Value) []byte {
	details := v.Get("output").Exists() && v.Get("input").Exists() // resultDetails, whose input belongs to the call
	return jsontext.AppendText(dst, v, func(dst []byte, depth int, key string, v jsontext.Value) ([]byte, bool) {
		switch {
		case depth > 0 && skippedKeys[key], details && depth == 1 && key == "input":
			return dst, true
		case v.IsString():
			return dst, v.IsDataURL() || v.Len() > minEncodedLen && v.IsBase64()
		case v.IsObject() && v.Get("path").IsString() && v.Get("scheme").IsString():
			return jsontext.AppendStrings(dst, v.Get("path")), true
		}
		return dst, false
	})
}

// minEncodedLen is the length in bytes above which a string that looks like base64 is not text.
const minEncodedLen = 256

// skippedKeys are members that hold no text to search.
var skippedKeys = map[string]bool{
	"$mid": true, "id": true, "kind": true, "type": true, "uris": true, "baseUri": true, "external": true, "mimeType": true, "base64Data": true,
	"encrypted": true, "metadata": true, "statefulMarker": true, "presentation": true, "icon": true, "iconPath": true, "language": true,
	"resolveId": true, "undoStopId": true, "toolId": true, "toolCallId": true, "requestId": true, "responseId": true, "sessionId": true,
	"subAgentInvocationId": true, "suggestionId": true, "terminalToolSessionId": true, "terminalCommandId": true, "terminalCommandUri": true,
	"terminalTheme": true, "terminalCommandState": true, "toolCallRoundId": true, "ctor": true, "ctorName": true, "references": true, "priority": true,
	"agent": true, "role": true, "modelId": true, "identifier": true, "extensionId": true, "selections": true, "range": true, "editorRange": true, "cacheType": true,
}
