package openhands

import "github.com/txarchive/txarchive/internal/ingest/jsontext"

// textOf returns all strings of a value except ids, types, times, names of models, encoded data, settings, and whole files before and after a
// change; of what goes into a tool and comes out of it numbers, too. It does not depend on what surrounds the value.
var textOf = jsontext.Appended(appendText)

func appendText(dst []byte, v jsontext.Value) []byte {
	whole := v.Get("timestamp").IsString() && v.Get("source").IsString()
	named, reasoned := v.Get("kind").IsString(), v.Get("summary").IsArray()
	appendText := jsontext.AppendText
	if v.IsObject() && !whole { // what goes into a tool or comes out of it
		appendText = jsontext.AppendTextAndNumbers
	}
	return appendText(dst, v, func(dst []byte, depth int, key string, f jsontext.Value) ([]byte, bool) {
		switch {
		case depth == 1 && whole && ofEvent(key), depth == 1 && ofTool(key), depth == 1 && key == "thought" && !named,
			depth == 1 && named && key == "metadata", depth == 1 && reasoned && (key == "id" || key == "status"):
			return dst, true
		case key == "data" && f.IsBase64(), key == "signature", key == "encrypted_content", f.IsDataURL():
			return dst, true
		case f.IsObject() && f.Get("type").Is("text") && f.Get("text").IsString():
			return jsontext.AppendStrings(dst, f.Get("text")), true
		case f.IsObject() && f.Get("type").Is("thinking"):
			return jsontext.AppendStrings(dst, f.Get("thinking")), true
		case f.IsObject() && (f.Get("type").Is("image") || f.Get("type").Is("redacted_thinking")):
			return dst, true
		}
		return dst, false
	})
}

// aboutText returns the text of a file about a conversation: its title, tags, directory and repository. Everything else is configuration, or
// in the events.
func aboutText(v jsontext.Value) string {
	return jsontext.Build(func(b []byte) []byte {
		for _, f := range []jsontext.Value{v.Get("title"), v.Get("tags"), v.Get("workspace", "working_dir"), v.Get("selected_repository"), v.Get("selected_branch")} {
			b = jsontext.AppendStrings(b, f)
		}
		return b
	})
}

// ofEvent reports whether a member of a whole event is no text.
func ofEvent(key string) bool {
	switch key {
	case "id", "timestamp", "source", "kind", "action", "observation", "llm_metrics", "tool_call_metadata", "parent_id", "tool_call_id", "action_id",
		"llm_response_id", "forgotten_event_ids", "original_kind", "prompt_token_ids", "response_token_ids", "status", "log_data":
		return true
	}
	return false
}

// ofTool reports whether a member of what goes into a tool, or comes out of it, is no text.
func ofTool(key string) bool {
	switch key {
	case "kind", "security_risk", "confirmation_state", "old_content", "new_content", "screenshot", "screenshot_data", "set_of_marks", "dom_object",
		"axtree_object", "extra_element_properties", "impl_source", "recall_type":
		return true
	}
	return false
}
