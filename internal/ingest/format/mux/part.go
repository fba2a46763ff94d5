package mux

import (
	"cmp"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// parts yields the events of a message. What was said, or thought, is in many parts as it came: one after the other they are one event.
func (p *parser) parts(v jsontext.Value, role string, kind transcript.Kind) {
	speaker := role
	if kind != transcript.KindMessage {
		speaker = "system"
	}
	var files []transcript.Part
	var first, last jsontext.Value // of the parts that go on with one text
	say := func() {
		if first.Exists() {
			p.say(first, last, kind, speaker)
			first = jsontext.Value{}
		}
	}
	for part := range v.Get("parts").Items() {
		typ := part.Get("type").Word()
		if isText := typ == "text" || typ == "reasoning"; isText && !part.Get("text").IsString() {
			typ = ""
		}
		if first.Exists() && !first.Get("type").Is(typ) {
			say()
		}
		switch typ {
		case "text", "reasoning":
			if !first.Exists() {
				first = part
			}
			last = part
		case "dynamic-tool":
			p.call(part)
			for nested := range part.Get("nestedCalls").Items() { // they have none themselves
				p.call(nested)
				p.outcome(nested)
			}
			p.outcome(part)
		case "file":
			if name := part.Get("filename"); !name.IsBlank() {
				files = append(files, p.Part(name))
			}
		default:
			p.emit(p.Event(transcript.KindUnknown, role, typ, part), transcript.Uncounted)
		}
	}
	say()
	if len(files) > 0 {
		e := p.Lend.Event(transcript.Event{Kind: transcript.KindMessage, Role: role, Type: "file", Origin: p.Row.Origin})
		e.Parts = files
		p.emit(e, transcript.Counted)
	}
}

// say yields the text of one part, or of several in a row.
func (p *parser) say(first, last jsontext.Value, kind transcript.Kind, role string) {
	if first.Get("type").Is("reasoning") {
		kind, role = transcript.KindReasoning, "assistant"
	}
	e := p.Event(kind, role, first.Get("type").Word(), first)
	part := &e.Parts[0]
	if first.Offset() != last.Offset() {
		part.Length = last.Offset() + int64(last.Len()) - first.Offset()
		raw := p.Row.Value.Raw()[part.Offset : part.Offset+part.Length]
		part.Text = p.Lend.Text(func(dst []byte) []byte { return appendRun(dst, raw) })
	}
	if strings.TrimSpace(part.Text) == "" {
		return
	}
	if kind == transcript.KindMessage && role == "user" && p.head.Title == "" && !p.isDuplicate {
		p.head.Title = strings.Clone(format.Title(part.Text))
	}
	p.emit(e, transcript.Counted)
}

// pathNames are the members of a call's input that name files.
var pathNames = []string{"file_path", "filePath", "path", "source_path", "target_path"}

// call yields a call.
func (p *parser) call(v jsontext.Value) {
	name, input := v.Get("toolName").Word(), v.Get("input")
	e := p.Event(transcript.KindToolCall, "assistant", name, cmp.Or(input, v))
	e.Parts[0].Call = &transcript.Call{ID: v.Get("toolCallId").Str(), Name: name, Input: int64(input.Len()), Paths: format.Paths(input, pathNames, nil)}
	p.emit(e, transcript.Counted)
}

// outcome yields what came of a call, if anything has.
func (p *parser) outcome(v jsontext.Value) {
	id, name, output := v.Get("toolCallId").Str(), v.Get("toolName").Word(), v.Get("output")
	switch state := v.Get("state"); {
	case state.Is("output-available") && output.Exists():
		p.result(id, name, output, output.Get("success").Bool().Not())
		p.started(id, name, output)
	case state.Is("output-available"), state.Is("output-redacted"):
		p.result(id, name, state, v.Get("failed").Bool())
	}
}

// result yields the result of a call.
func (p *parser) result(id, name string, output jsontext.Value, failed transcript.Truth) {
	res := &transcript.Result{Call: id, Name: name, Failed: failed, Output: int64(output.Len())}
	if ms, ok := output.Get("wall_duration_ms").Int(); ok && ms >= 0 && ms < 1<<40 {
		res.Duration = transcript.Known(ms * 1000)
	}
	e := p.Event(transcript.KindToolResult, "tool", name, output)
	e.Parts[0].Result = res
	p.emit(e, transcript.Counted)
}

// started yields links to the sub-agents that a call has started. A workspace of its own that works for another one has no such id.
func (p *parser) started(call, name string, output jsontext.Value) {
	if name != "task" || output.Get("handleKind").Is("workspace_turn") {
		return
	}
	p.child(p.Session, output.Get("taskId").Str(), call, output)
	for id := range output.Get("taskIds").Items() {
		p.child(p.Session, id.Str(), call, id)
	}
	for _, list := range []string{"tasks", "reports"} {
		for task := range output.Get(list).Items() {
			p.child(p.Session, task.Get("taskId").Str(), call, task)
		}
	}
}
