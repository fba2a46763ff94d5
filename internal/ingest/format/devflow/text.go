package devflow

import (
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// Text returns the text of one part. Part 0 is a turn (without its calls), a value of the metadata or an artifact; the
// parts after it are calls, by their object, and results, by their members of the call.
func (devflow) Text(_ string, raw []byte, part int) (string, error) { return partText(raw, part), nil }

func partText(raw []byte, part int) string {
	if part > 0 {
		return callText(raw)
	}
	v, err := jsontext.Parse(jsontext.TrimBOM(raw))
	switch {
	case err == nil && v.Get("role").Exists() && v.Get("content").Exists():
		return turnText(v)
	case err == nil && (v.IsObject() || v.IsArray() || v.IsString()):
		return jsontext.AllStrings(v)
	}
	return strings.ToValidUTF8(string(raw), "\uFFFD")
}

// turnText returns every string of a turn except its role, its time and its calls.
func turnText(turn jsontext.Value) string {
	var text []byte
	for key, v := range turn.Fields() {
		if key == "role" || key == "timestamp" || key == "toolCalls" && v.IsArray() {
			continue
		}
		text = jsontext.AppendStrings(text, v)
	}
	return string(text)
}

// callText returns every string of a call except its id and its result, or of a result, and the numbers in its input or output.
func callText(raw []byte) string {
	if len(raw) > 0 && raw[0] == '"' {
		wrapped := append(append([]byte{'{'}, raw...), '}')
		if v, err := jsontext.Parse(wrapped); err == nil {
			return string(jsontext.AppendScalars(jsontext.AppendScalars(nil, v.Get("output")), v.Get("error")))
		}
	}
	v, err := jsontext.Parse(raw)
	if err != nil {
		return strings.ToValidUTF8(string(raw), "\uFFFD")
	}
	if !v.IsObject() {
		return jsontext.AllStrings(v)
	}
	var text []byte
	for key, m := range v.Fields() {
		switch key {
		case "id", "output", "error":
		case "input":
			text = jsontext.AppendScalars(text, m)
		default:
			text = jsontext.AppendStrings(text, m)
		}
	}
	return string(text)
}
