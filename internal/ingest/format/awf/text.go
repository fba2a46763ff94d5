package awf

import (
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// transcriptText returns the text of a part, given the bytes of the part itself (a block) or of its event.
func transcriptText(v jsontext.Value, part int) string {
	if !isEvent(v) {
		return blockText(v)
	}
	for i, block := range eventBlocks(v).Numbered() {
		if i == part {
			return blockText(block)
		}
	}
	return restText(v, eventBlocks(v).Exists())
}

// isEvent reports whether v is a line, not a block of one. A block that looks like a line never gets a range of its own.
func isEvent(v jsontext.Value) bool {
	return v.Get("run_id").Exists() || v.Get("seq").Exists() || v.Get("timestamp").Exists() || v.Get("payload").Exists()
}

// eventBlocks returns the blocks that become parts of the event; the router's calls and results are not split.
func eventBlocks(v jsontext.Value) jsontext.Value {
	if isRouterEvent(v.Get("type").Str()) {
		return jsontext.Value{}
	}
	return readPayload(v.Get("payload")).blocks
}

// isRouterEvent reports whether a type is one of the router's, tool.call or tool.result.
func isRouterEvent(name string) bool { return strings.HasPrefix(name, "tool.") }

// blockText returns every string of a block except its type and ids, and the numbers that go into a tool and come out of it.
func blockText(block jsontext.Value) string {
	if !block.IsObject() {
		return jsontext.AllStrings(block)
	}
	return jsontext.Build(func(text []byte) []byte {
		for key, value := range block.Fields() {
			switch key {
			case "type", "fidelity", "tool_id", "tool_use_id", "call_id":
			case "tool_input", "tool_content", "output":
				text = jsontext.AppendUnescaped(jsontext.AppendScalars(text, value), value)
			default:
				text = jsontext.AppendStrings(text, value)
			}
		}
		return text
	})
}

// restText returns every string of a line except its ids, names and times, and except the blocks if these are parts of
// their own (cut), and the numbers that go into a tool and come out of it.
func restText(v jsontext.Value, cut bool) string {
	return jsontext.Build(func(text []byte) []byte {
		for key, value := range v.Fields() {
			switch key {
			case "run_id", "parent_run_id", "child_run_id", "timestamp", "path", "type":
			case "payload":
				text = appendPayload(text, value, cut)
			default:
				text = jsontext.AppendStrings(text, value)
			}
		}
		return text
	})
}

func appendPayload(text []byte, payload jsontext.Value, cut bool) []byte {
	if !payload.IsObject() {
		if cut && payload.IsArray() {
			return text
		}
		return jsontext.AppendStrings(text, payload)
	}
	for key, value := range payload.Fields() {
		switch key {
		case "call_id", "tool_id", "run_id", "parent_run_id", "child_run_id", "fidelity", "role":
		case "blocks":
			if !cut || !value.IsArray() {
				text = jsontext.AppendStrings(text, value)
			}
		case "input", "output":
			text = jsontext.AppendUnescaped(jsontext.AppendScalars(text, value), value)
		default:
			text = jsontext.AppendStrings(text, value)
		}
	}
	return text
}
