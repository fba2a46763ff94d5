package atif

import "github.com/txarchive/txarchive/internal/ingest/jsontext"

// The text of an event is what was said, thought, put into a tool and came out of it; not ids, names of tools, pictures and their paths, or
// what producers add in extra.

// appendPiece appends the text of a piece of a step: a call, a result, the step itself if it has no pieces, or content.
func appendPiece(dst []byte, v jsontext.Value) []byte {
	switch {
	case !v.IsObject():
		return appendContent(dst, v)
	case v.Get("function_name").Exists() || v.Get("arguments").Exists():
		return appendArguments(dst, v.Get("arguments"))
	case v.Get("source").Exists() && !v.Get("content").Exists():
		return appendContent(dst, v.Get("message"))
	case v.Get("content").Exists() || v.Get("source_call_id").Exists() || v.Get("subagent_trajectory_ref").Exists():
		return appendContent(dst, v.Get("content"))
	}
	return appendContent(dst, v)
}

// appendArguments appends the input of a tool. Some producers write it as JSON in a string.
func appendArguments(dst []byte, v jsontext.Value) []byte {
	if inside := v.Inside(); inside.IsObject() {
		return jsontext.AppendScalars(dst, inside)
	}
	return jsontext.AppendScalars(dst, v)
}

// appendContent appends content: a text, or a list of parts with texts and pictures. What else came out of a tool is data.
func appendContent(dst []byte, v jsontext.Value) []byte {
	if !v.IsArray() {
		return jsontext.AppendScalars(dst, v)
	}
	for part := range v.Items() {
		switch source := part.Get("source"); {
		case part.Get("type").Is("text"):
			dst = jsontext.AppendStrings(dst, part.Get("text"))
		case source.IsObject():
			dst = jsontext.AppendStrings(dst, part.Get("transcript"))
		default:
			dst = jsontext.AppendScalars(dst, part)
		}
	}
	return dst
}

// appendResult appends the text of what Harbor says of a trial: the task, and why it failed.
func appendResult(dst []byte, v jsontext.Value) []byte {
	for _, key := range []string{"task_name", "trial_name"} {
		dst = jsontext.AppendStrings(dst, v.Get(key))
	}
	for _, key := range []string{"exception_type", "exception_message", "exception_traceback"} {
		dst = jsontext.AppendStrings(dst, v.Get("exception_info", key))
	}
	return dst
}
