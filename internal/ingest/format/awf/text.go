package awf

import (
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

// transcriptText gives the text of a part, from the part's own bytes (a block) or from those of its event.
func transcriptText(v format.Value, part int) string {
	if !isEvent(v) {
		return blockText(v)
	}
	i := 0
	for block := range eventBlocks(v).Items() {
		if i == part {
			return blockText(block)
		}
		i++
	}
	return restText(v, eventBlocks(v).Exists())
}

// isEvent tells the bytes of a line from those of a block in it. A block that looks like a line is never given a
// place of its own.
func isEvent(v format.Value) bool {
	return v.Get("run_id").Exists() || v.Get("seq").Exists() || v.Get("timestamp").Exists() || v.Get("payload").Exists()
}

// eventBlocks gives the blocks that an event is cut into; calls and results of the router stay whole.
func eventBlocks(v format.Value) format.Value {
	if wholeEvent(v.Get("type").Str()) {
		return format.Value{}
	}
	return readPayload(v.Get("payload")).blocks
}

func wholeEvent(name string) bool { return strings.HasPrefix(name, "tool.") }

// blockText is every string of a block but its type and its ids.
func blockText(block format.Value) string {
	if !block.IsObject() {
		return format.AllStrings(block)
	}
	return format.Build(func(text []byte) []byte {
		for key, value := range block.Fields() {
			switch key {
			case "type", "fidelity", "tool_id", "tool_use_id", "call_id":
			default:
				text = format.AppendStrings(text, value)
			}
		}
		return text
	})
}

// restText is every string of a line but ids, names and times of the line, and but the blocks when the event is
// cut into them.
func restText(v format.Value, cut bool) string {
	return format.Build(func(text []byte) []byte {
		for key, value := range v.Fields() {
			switch key {
			case "run_id", "parent_run_id", "child_run_id", "timestamp", "path", "type":
			case "payload":
				text = appendPayload(text, value, cut)
			default:
				text = format.AppendStrings(text, value)
			}
		}
		return text
	})
}

func appendPayload(text []byte, payload format.Value, cut bool) []byte {
	if !payload.IsObject() {
		if cut && payload.IsArray() {
			return text
		}
		return format.AppendStrings(text, payload)
	}
	for key, value := range payload.Fields() {
		switch key {
		case "call_id", "tool_id", "run_id", "parent_run_id", "child_run_id", "fidelity", "role":
		case "blocks":
			if !cut || !value.IsArray() {
				text = format.AppendStrings(text, value)
			}
		default:
			text = format.AppendStrings(text, value)
		}
	}
	return text
}
