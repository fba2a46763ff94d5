package windsurf

import (
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// Text returns the text of one part of an event.
func (windsurf) Text(role string, raw []byte, _ int) (string, error) {
	return format.TextOf(role, raw, jsontext.Appended(appendValue))
}

// appendValue appends the text of a piece of a step: of a whole line all strings except type and status; of what was said all except the rules; of an
// action all strings and numbers except what came of it; of an output the string or number that it is.
func appendValue(dst []byte, v jsontext.Value) []byte {
	switch {
	case !v.IsObject():
		return jsontext.AppendScalars(dst, v)
	case v.Get("type").IsString():
		return jsontext.AppendText(dst, v, skip("type", "status"))
	case v.Get("user_response").Exists(), v.Get("response").Exists():
		return jsontext.AppendText(dst, v, skip("rules_applied"))
	}
	return jsontext.AppendTextAndNumbers(dst, v, skip("output", "content", "total_results", "exit_code", "user_rejected", "acknowledgement_type"))
}

// skip leaves out members of a value, and images anywhere in it.
func skip(names ...string) jsontext.Visit {
	return func(dst []byte, depth int, key string, m jsontext.Value) ([]byte, bool) {
		if depth == 1 {
			for _, name := range names {
				if key == name {
					return dst, true
				}
			}
		}
		return dst, m.IsDataURL()
	}
}
