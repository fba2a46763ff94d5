package lmstudio

import (
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

var textOf = jsontext.Appended(appendValue)

// appendValue appends the text of a part: of a call the tool and its input, of a result what it returned, of a list what was said.
// Of everything else it appends all strings but types, ids and what concerns the display.
func appendValue(dst []byte, v jsontext.Value) []byte {
	switch v.Get("type").Word() {
	case request:
		asks := nested(v)
		return jsontext.AppendScalars(jsontext.AppendStrings(dst, asks.Get("name")), asks.First("parameters", "arguments").UnwrapContainer())
	case result:
		return jsontext.AppendTextAndNumbers(dst, v.Get("content").UnwrapContainer(), visitResult)
	case "toolStatus", "requestConfirmToolCall":
		return jsontext.AppendTextAndNumbers(dst, v, visit)
	}
	if v.IsArray() {
		return appendContent(dst, v)
	}
	return jsontext.AppendText(dst, v, visit)
}

// appendContent appends what was said in a list of pieces. An answer may come in several that break its words apart.
func appendContent(dst []byte, v jsontext.Value) []byte {
	within := false // the last piece was text, too
	for piece := range v.Items() {
		switch piece.Get("type").Word() {
		case request, result:
			within = false
		case "text":
			text := piece.Get("text")
			switch {
			case isStructural(piece):
			case within:
				dst = append(dst, text.Str()...)
			default:
				before := len(dst)
				dst = jsontext.AppendStrings(dst, text)
				within = len(dst) > before
			}
		default:
			within = false
			dst = jsontext.AppendText(dst, piece, visit)
		}
	}
	return dst
}

// isStructural reports whether a piece of text only marks the parts of an answer, such as a tag around reasoning.
func isStructural(piece jsontext.Value) bool {
	return piece.Get("isStructural").Bool() == transcript.Yes
}

// hasText reports whether anything was said in the content of a message or a block, besides calls and results.
func hasText(content jsontext.Value) bool {
	if content.IsString() {
		return !content.IsBlank()
	}
	for piece := range content.Items() {
		switch piece.Get("type").Word() {
		case request, result:
		case "text":
			if !isStructural(piece) && !piece.Get("text").IsBlank() {
				return true
			}
		default:
			return true
		}
	}
	return false
}

// isSkipped reports whether a member holds no text to search. Those of predictions repeat settings.
func isSkipped(key string) bool {
	switch key {
	case "type", "role", "stepIdentifier", "callId", "toolCallRequestId", "fileType", "sizeBytes",
		"genInfo", "style", "prefix", "suffix", "senderInfo", "timeMs", "preprocessed",
		"roleOverride", "pageNumber", "lineNumber", "currentlySelected", "indentation":
		return true
	}
	return false
}

func visit(dst []byte, _ int, key string, v jsontext.Value) ([]byte, bool) {
	isState := key == "status" && v.IsString()
	return dst, isSkipped(key) || isState || v.IsDataURL() || v.IsBase64()
}

// visitResult leaves out the types of what a server of MCP returns, which is a list of texts and images.
func visitResult(dst []byte, depth int, key string, v jsontext.Value) ([]byte, bool) {
	isType := key == "type" && depth == 2 && (v.Is("text") || v.Is("image") || v.Is("audio") || v.Is("resource"))
	return dst, isType || v.IsDataURL() || v.IsBase64()
}
