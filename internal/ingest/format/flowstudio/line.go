package flowstudio

import (
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// entry holds what one transcript line states by itself, before calls and results are paired.
type entry struct {
	kind  transcript.Kind
	role  string
	typ   string
	model string
	parts []transcript.Part
}

// readEntry reads a line in any of the five dialects. It identifies the dialect line by line, since a file may mix them.
func readEntry(o jsontext.Value) entry {
	message := o.Get("message")
	e := entry{typ: o.Get("type").Str(), role: o.Get("role").Str(), model: message.Get("model").Str()}
	if e.model == "" {
		e.model = o.Get("model").Str()
	}
	var role string
	e.kind, role = kindOf(o, e.typ, e.role)
	if e.role == "" {
		e.role = role
	}
	content := message.Get("content")
	blocks := blocksOf(content)
	e.parts = ownParts(o, e.typ)
	switch {
	case len(e.parts) == 0 && len(blocks) == 0:
		e.parts = []transcript.Part{{Text: lineText(o, content, nil)}}
	case len(e.parts) == 0:
		e.parts = blockParts(o, blocks)
		e.parts[0].Text = lineText(o, content, blocks[1:])
		// The first block's part is the line's own row and also has the line's other strings, so it has no range of its
		// own.
		e.parts[0].Offset, e.parts[0].Length = 0, 0
	default:
		skip := blocks
		if len(e.parts) == 2 {
			skip = append(outputsOf(o), blocks...)
		}
		e.parts[0].Text = lineText(o, content, skip)
		e.parts = append(e.parts, blockParts(o, blocks)...)
	}
	return e
}

// kindOf returns the kind of a line, and the role if the line states none.
func kindOf(o jsontext.Value, typ, role string) (transcript.Kind, string) {
	switch typ {
	case "":
		switch role {
		case "system", "user", "assistant":
			return transcript.KindMessage, role
		case "tool":
			return transcript.KindToolCall, role
		}
		return transcript.KindUnknown, role
	case "message":
		return transcript.KindMessage, o.Get("message").Get("role").Str()
	case "assistant", "user":
		return transcript.KindMessage, typ
	case "system", "SystemMessage":
		if o.Get("subtype").Str() == "init" {
			return transcript.KindLifecycle, "system"
		}
		return transcript.KindSystem, "system"
	case "init", "SystemInitEvent", "result", "ResultEvent", "ResultMessage":
		return transcript.KindLifecycle, ""
	case "tool_use", "ToolUseEvent":
		return transcript.KindToolCall, "assistant"
	case "tool_result", "ToolResultEvent":
		return transcript.KindToolResult, "tool"
	case "error", "ErrorEvent":
		return transcript.KindError, ""
	case "text":
		return transcript.KindNotice, ""
	case "thinking", "reasoning", "ThinkingEvent":
		return transcript.KindReasoning, "assistant"
	}
	// The SDK's class is AssistantMessage; stand-ins for it write AssistantMessageEvent.
	if who, ok := strings.CutSuffix(strings.TrimSuffix(typ, "Event"), "Message"); ok {
		return transcript.KindMessage, strings.ToLower(who)
	}
	return transcript.KindUnknown, role
}

// ownParts returns the call or result that the line itself is: none for most lines, both for a role:"tool" line that has an
// output.
func ownParts(o jsontext.Value, typ string) []transcript.Part {
	switch {
	case typ == "tool_use" || typ == "ToolUseEvent":
		return []transcript.Part{{Kind: transcript.KindToolCall, Call: readCall(o)}}
	case typ == "tool_result" || typ == "ToolResultEvent":
		return []transcript.Part{{Kind: transcript.KindToolResult, Result: readResult(o)}}
	case o.Get("role").Str() == "tool":
		parts := []transcript.Part{{Kind: transcript.KindToolCall, Call: readCall(o)}}
		if outputs := outputsOf(o); len(outputs) > 0 {
			var text []byte
			for _, output := range outputs {
				text = jsontext.AppendScalars(text, output)
			}
			parts = append(parts, transcript.Part{
				Kind: transcript.KindToolResult, Text: string(text), Result: readResult(o),
			})
		}
		return parts
	}
	return nil
}

// outputsOf returns the members of a role:"tool" line that hold the result, in line order.
func outputsOf(o jsontext.Value) []jsontext.Value {
	var list []jsontext.Value
	for key, m := range o.Fields() {
		if (key == "tool_output" || key == "content") && !m.IsNull() {
			list = append(list, m)
		}
	}
	return list
}

func blocksOf(content jsontext.Value) []jsontext.Value {
	var list []jsontext.Value
	for b := range content.Items() {
		list = append(list, b)
	}
	return list
}

// blockParts returns a part for each content block.
func blockParts(line jsontext.Value, blocks []jsontext.Value) []transcript.Part {
	parts := make([]transcript.Part, len(blocks))
	for i, b := range blocks {
		part := &parts[i]
		part.Kind, part.Text = transcript.KindUnknown, blockText(b)
		switch b.Get("type").Str() {
		case "text", "image", "document":
			part.Kind = transcript.KindMessage
		case "thinking", "redacted_thinking":
			part.Kind = transcript.KindReasoning
		case "tool_use":
			part.Kind, part.Call = transcript.KindToolCall, readCall(b)
		case "tool_result":
			part.Kind, part.Result, part.Role = transcript.KindToolResult, readResult(b), "tool"
		}
		if b.IsString() {
			part.Kind = transcript.KindMessage
		}
		if !isLine(b) {
			part.Offset, part.Length = jsontext.OffsetIn(line, b), int64(b.Len())
		}
	}
	return parts
}

// isLine distinguishes a line with several parts from one of its blocks, so that Text needs only the bytes: such lines have
// a role or a message, and a block that has either never gets a range of its own.
func isLine(v jsontext.Value) bool { return v.Get("role").Exists() || v.Get("message").Exists() }
