package awf

import (
	"fmt"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// event returns the event of one line.
func event(c *conversation, l *line) *transcript.Event {
	e := &transcript.Event{
		Conversation: c.id,
		Run:          c.run,
		Type:         l.kind,
		Time:         l.now,
		Origin:       l.origin,
		Seq:          l.seq.Count(),
		Attributes:   transcript.Attributes{},
	}
	e.Kind, e.Role = kindOf(e.Type)
	if role := l.body.role.Str(); role != "" && e.Kind == transcript.KindMessage {
		e.Role = role
	}
	e.Parts = parts(c, e, l)
	e.Attributes.Set("fidelity", fidelity(l.body))
	where := l.path.Str()
	switch l.class() {
	case "message":
		e.Flow = where
		if e.Kind == transcript.KindMessage && onlyReasoning(e.Parts) {
			e.Kind = transcript.KindReasoning
		}
		c.steps.assignStep(e)
	case "tool":
		c.steps.assignStep(e)
	case "step":
		e.Step = l.stepName()
		e.Attributes.Set("step_path", where)
		e.Attributes.Set("step_kind", l.body.kind.Str())
		e.Attributes.Set("child_run_id", l.child.Str())
	default:
		e.Attributes.Set("path", where)
	}
	if n, ok := l.iteration.Int(); ok && n != 0 {
		e.Attributes["iteration"] = n
	}
	return e
}

// kindOf returns the kind and role of a native type.
func kindOf(name string) (transcript.Kind, string) {
	switch name {
	case "message.user", "message.assistant", "message.system":
		return transcript.KindMessage, strings.TrimPrefix(name, "message.")
	case "tool.call":
		return transcript.KindToolCall, "assistant"
	case "tool.result":
		return transcript.KindToolResult, "tool"
	}
	if strings.HasPrefix(name, "step.") || strings.HasPrefix(name, "run.") {
		return transcript.KindLifecycle, ""
	}
	return transcript.KindUnknown, ""
}

func onlyReasoning(parts []transcript.Part) bool {
	for _, part := range parts {
		if part.Kind != transcript.KindReasoning {
			return false
		}
	}
	return len(parts) > 0
}

// fidelity returns who vouches for an event: one word, or several joined by commas if its blocks differ.
func fidelity(p payload) string {
	if s := p.fidelity.Str(); s != "" {
		return s
	}
	var words []string
	for block := range p.blocks.Items() {
		if s := block.Get("fidelity").Str(); s != "" && !slices.Contains(words, s) {
			words = append(words, s)
		}
	}
	return strings.Join(words, ",")
}

// parts returns the parts of an event: a single one, or one per block.
func parts(c *conversation, e *transcript.Event, l *line) []transcript.Part {
	if !l.isEvent() {
		return []transcript.Part{{Text: blockText(l.raw)}}
	}
	list := l.blocks()
	var all []transcript.Part
	texts := 0
	for block := range list.Items() {
		part := blockPart(c, block)
		if part.Kind == transcript.KindMessage {
			if texts++; texts == 2 && e.Type == "message.user" {
				part.Role = "system"
				e.Attributes["system_prompt_guess"] = true
			}
		}
		if !isEvent(block) {
			part.Offset, part.Length = jsontext.OffsetIn(l.raw, block), int64(block.Len())
		}
		all = append(all, part)
	}
	if rest := restText(l.raw, list.Exists()); rest != "" || len(all) == 0 {
		all = append(all, transcript.Part{Text: rest})
	}
	switch e.Kind {
	case transcript.KindToolCall:
		all[0].Call = call(c, l.body.callID.Text(), l.body.name.Text(), l.body.input, 1)
	case transcript.KindToolResult:
		all[0].Result = routerResult(l.body)
	}
	return all
}

// blockPart returns the part for one block of a message.
func blockPart(c *conversation, block jsontext.Value) transcript.Part {
	part := transcript.Part{Kind: transcript.KindUnknown, Text: blockText(block)}
	switch block.Get("type").Str() {
	case "text":
		part.Kind = transcript.KindMessage
	case "thinking":
		part.Kind = transcript.KindReasoning
	case "tool_use":
		part.Kind = transcript.KindToolCall
		part.Call = call(c, block.Get("tool_id").Text(), block.Get("tool_name").Text(), block.Get("tool_input"), 0)
	case "tool_result":
		part.Kind, part.Role = transcript.KindToolResult, "tool"
		part.Result = blockResult(block)
	}
	return part
}

// call returns a call. Its Key joins the reports of the two channels; a call without an id counts by itself.
func call(c *conversation, id, name string, input jsontext.Value, rank int) *transcript.Call {
	toolCall := &transcript.Call{ID: id, Key: id, Rank: rank, Name: name, Input: int64(input.Len()), Paths: paths(input)}
	if id == "" {
		c.callsWithoutID++
		toolCall.ID = fmt.Sprintf("#%d", c.callsWithoutID)
	}
	return toolCall
}

func routerResult(p payload) *transcript.Result {
	result := &transcript.Result{Call: p.callID.Text(), Name: p.name.Text(), Failed: p.output.Get("IsError").Bool()}
	if !p.output.IsNull() {
		result.Output = int64(p.output.Len())
	}
	if p.err.Text() != "" {
		result.Failed = transcript.Yes
	}
	return result
}

// blockResult reads a tool_result block. AWF reserves the type but does not write it today. The names are those of its own
// block, then those of the agents it wraps.
func blockResult(block jsontext.Value) *transcript.Result {
	result := &transcript.Result{Call: block.Get("tool_id").Text(), Name: block.Get("tool_name").Text(), Failed: block.Get("is_error").Bool()}
	if result.Call == "" {
		result.Call = block.Get("tool_use_id").Text()
	}
	for _, key := range []string{"tool_content", "output", "content"} {
		if output := block.Get(key); !output.IsNull() {
			result.Output = int64(output.Len())
			break
		}
	}
	return result
}

// paths returns the files that an input names. Some agents write the input as a string of JSON.
func paths(input jsontext.Value) []string {
	var all []string
	for key, value := range input.Unwrap().Fields() {
		switch key {
		case "file_path", "path", "notebook_path", "filename", "file":
			if s := value.Str(); s != "" {
				all = append(all, s)
			}
		}
	}
	return all
}
