package flowstudio

import "github.com/txarchive/txarchive/internal/ingest/jsontext"

// The members whose strings are left out of the text: ids, names and times at the top level of a line, block or document.
// They are facets and columns, and would drown the words. Inside inputs, outputs and payloads nothing is left out.
var (
	lineNames = set("type", "role", "timestamp", "ts", "id", "uuid", "session_id", "tool_use_id", "tool_call_id",
		"call_id", "tool_id", "parent_tool_use_id", "phase", "model")
	timelineNames = set("event_id", "run_id", "ts", "kind", "flow_key", "step_id", "agent_key")
	documentNames = set("run_id", "started_at", "completed_at", "created_at", "updated_at", "timestamp", "compiled_at")
)

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}

// textWithout returns the strings of an object except those of the named members.
func textWithout(v jsontext.Value, names map[string]bool) string {
	var text []byte
	for key, m := range v.Fields() {
		if !names[key] {
			text = jsontext.AppendStrings(text, m)
		}
	}
	return string(text)
}

// rowText returns the text of an uncounted row that is JSON.
func rowText(role string, v jsontext.Value) string {
	if role == roleTimeline {
		return textWithout(v, timelineNames)
	}
	return textWithout(v, documentNames)
}

// toolNames are the members with what goes into a tool and comes out of it, of which numbers are text, too.
var toolNames = set("input", "args", "tool_input", "arguments", "parameters", "output", "result", "tool_output")

// appendMember appends the text of a member of a line or a block.
func appendMember(text []byte, key string, m jsontext.Value) []byte {
	if toolNames[key] {
		return jsontext.AppendScalars(text, m)
	}
	return jsontext.AppendStrings(text, m)
}

// lineText returns the text of a transcript line except that of the values in skip. These are members of the line itself or items of
// content, its list of blocks.
func lineText(line, content jsontext.Value, skip []jsontext.Value) string {
	var skipped map[int64]bool
	if len(skip) > 0 {
		skipped = make(map[int64]bool, len(skip))
	}
	for _, s := range skip {
		skipped[jsontext.OffsetIn(line, s)] = true
	}
	var text []byte
	for key, m := range line.Fields() {
		switch {
		case lineNames[key] || skipped[jsontext.OffsetIn(line, m)]:
		case key == "message" && m.IsObject():
			for inner, v := range m.Fields() {
				switch {
				case lineNames[inner]:
				case content.Exists() && jsontext.OffsetIn(v, content) == 0:
					for b := range v.Items() {
						if !skipped[jsontext.OffsetIn(line, b)] {
							text = appendBlock(text, b, 0)
						}
					}
					if !v.IsArray() {
						text = jsontext.AppendStrings(text, v)
					}
				default:
					text = jsontext.AppendStrings(text, v)
				}
			}
		default:
			text = appendMember(text, key, m)
		}
	}
	return string(text)
}

// appendBlock appends the text of a content block. The content of a tool result contains blocks again; no writer nests
// deeper.
func appendBlock(text []byte, b jsontext.Value, depth int) []byte {
	if !b.IsObject() || depth > 2 {
		return jsontext.AppendStrings(text, b)
	}
	for key, m := range b.Fields() {
		switch {
		case lineNames[key]:
		case key == "content" && m.IsArray():
			for inner := range m.Items() {
				text = appendBlock(text, inner, depth+1)
			}
		default:
			text = appendMember(text, key, m)
		}
	}
	return text
}

func blockText(b jsontext.Value) string { return string(appendBlock(nil, b, 0)) }
