package copilotvscode

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

// pieceText gives the text of a piece of a session from its own bytes: a prompt, a part of an answer, what a call asked for and gave, a
// change. What search finds is every string but ids, kinds, the looks of things and encoded data.
func pieceText(v format.Value) string {
	return format.Build(func(dst []byte) []byte { return appendPiece(dst, v) })
}

// textOf gives the text of a part of an event from its own bytes: one value, or the parts of an answer that are one text.
func textOf(raw []byte, part int) (string, error) {
	v, err := format.ParseJSON(raw)
	if kind := v.Get("kind"); err == nil && (part == 0 || !kind.Is("inlineReference") && !kind.Is("markdownVuln")) {
		return pieceText(v), nil
	}
	all, err := format.ParseJSON(slices.Concat([]byte("["), raw, []byte("]")))
	if err != nil {
		return "", fmt.Errorf("read a part of a session: %w", err)
	}
	parts := slices.Collect(all.Items())
	if part > 0 {
		return besideText(parts), nil
	}
	return passageText(parts), nil
}

// passageText gives the words of some parts of an answer as the editor shows them, one text with the names of what is referred to. Words that
// follow words without space are a paragraph of their own there: the program has joined all others.
func passageText(parts []format.Value) string {
	if len(parts) == 1 {
		return pieceText(parts[0])
	}
	return format.Build(func(dst []byte) []byte {
		named := true // what was appended last is no words
		for _, v := range parts {
			if jointOf(v) != words {
				continue
			}
			said, reference := pieceText(v), v.Get("kind").Is("inlineReference")
			if !named && !reference && said != "" && len(dst) > 0 && dst[len(dst)-1] > ' ' && said[0] > ' ' {
				dst = append(dst, '\n')
			}
			dst, named = append(dst, said...), reference
		}
		return dst
	})
}

// appendMarkdown appends what a part of an answer says, as it is written.
func appendMarkdown(dst []byte, v format.Value) []byte {
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
	return appendWords(dst, v)
}

// label is what the editor shows of a reference: its name, else that of the file, with the lines that are meant.
func label(v format.Value) string {
	to := v.Get("inlineReference")
	for _, name := range []format.Value{v.Get("name"), to.Get("name")} {
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

// besideText gives what else some parts of an answer say: the files that they refer to, and what the program warns of.
func besideText(parts []format.Value) string {
	return format.Build(func(dst []byte) []byte {
		for _, v := range parts {
			var said format.Value
			switch kind := v.Get("kind"); {
			case kind.Is("inlineReference"):
				said = v.Get("inlineReference")
			case kind.Is("codeblockUri"):
				said = v.Get("uri")
			case kind.Is("markdownVuln"):
				said = v.Get("vulnerabilities")
			default:
				continue
			}
			for line := range strings.SplitSeq(format.Build(func(b []byte) []byte { return appendWords(b, said) }), "\n") {
				if line != label(v) && !bytes.Contains(dst, []byte(line)) {
					dst = append(append(dst, line...), '\n')
				}
			}
		}
		return bytes.TrimSuffix(dst, []byte("\n"))
	})
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
	case kind.Exists() && jointOf(v) == words, v.Get("value").Exists() && !kind.Exists():
		return appendMarkdown(dst, v)
	}
	return appendWords(dst, v)
}

// appendCall appends what is shown of a call before it has a result.
func appendCall(dst []byte, v format.Value) []byte {
	dst = appendWords(dst, v.Get("invocationMessage"))
	var commands []string // the one that the model gave, as it was changed, as it is shown, as it was confirmed
	for key, m := range v.Get("toolSpecificData").Fields() {
		switch {
		case key == "terminalCommandOutput" || key == "result" || unsaid[key]:
		case m.IsObject() && (key == "commandLine" || key == "confirmation"):
			for _, s := range m.Fields() {
				if command := strings.TrimSpace(s.Str()); !slices.Contains(commands, command) {
					commands = append(commands, command)
					dst = appendWords(dst, s)
				}
			}
		default:
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
