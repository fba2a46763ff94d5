package antigravity

import "github.com/txarchive/txarchive/internal/ingest/jsontext"

// textOf returns all strings of a value except types and times. It does not depend on what surrounds the value. The input of a tool is taken with
// its numbers; each of its members is JSON in a string.
var textOf = jsontext.Appended(appendText)

func appendText(dst []byte, v jsontext.Value) []byte { return jsontext.AppendText(dst, v, visit) }

func visit(dst []byte, _ int, key string, value jsontext.Value) ([]byte, bool) {
	switch key {
	case "type", "source", "status", "created_at", "id", "table":
		return dst, true
	case "arguments_json":
		return jsontext.AppendScalars(dst, value.Unwrap()), true
	case "args":
		for _, m := range value.Fields() {
			dst = jsontext.AppendScalars(dst, m.Unwrap())
		}
		return dst, true
	}
	return dst, value.IsDataURL()
}
