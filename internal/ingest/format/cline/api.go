package cline

import (
	"fmt"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// hintModel is the key of the hints that say which model answered from a time on: "<ms>\t<model>".
const hintModel = "model"

// modelHint yields a hint that model answers from the time at on; an absent time means from the start.
func (p *parser) modelHint(at jsontext.Value, model string) {
	ms, _ := at.Int()
	if model == "" {
		return
	}
	p.out.Hint(p.task, hintModel, fmt.Sprintf("%016d\t%s", max(ms, 0), model), p.docOrigin)
}

// api yields the messages of the model's side as uncounted rows. It also yields a conversation without events, for tasks of
// which only this file is left.
func (p *parser) api() {
	p.emitTask(transcript.Conversation{})
	if !p.document() {
		return
	}
	if !p.doc.IsArray() {
		p.noMessages("not a task")
		return
	}
	for v := range p.doc.Items() {
		p.apiMessage(v)
		if p.out.Done() {
			return
		}
	}
}

// apiMessage yields one message of the model's side: a row with a part for each block.
func (p *parser) apiMessage(v jsontext.Value) {
	e := &transcript.Event{
		Run: p.task, Verdict: transcript.Uncounted, Kind: transcript.KindMessage, Role: v.Get("role").Str(), Type: roleAPI, Origin: p.origin(v),
		Time: v.Get("ts").MilliTime(),
	}
	add := func(b jsontext.Value) {
		part := jsontext.PartIn(v, b, blockText(b))
		part.Kind = blockKinds[b.Get("type").Str()]
		e.Parts = append(e.Parts, part)
	}
	content := v.Get("content")
	if content.IsArray() {
		for b := range content.Items() {
			add(b)
		}
	} else if content.Exists() {
		add(content)
	}
	if len(e.Parts) == 0 {
		e.Kind = transcript.KindUnknown
		e.Parts = []transcript.Part{{Text: blockText(v)}}
	}
	p.emit(e)
	if e.Role != "user" {
		return
	}
	for _, part := range e.Parts {
		p.environment(part.Text, v.Get("ts"))
	}
}

var blockKinds = map[string]transcript.Kind{
	"thinking": transcript.KindReasoning, "redacted_thinking": transcript.KindReasoning, "reasoning": transcript.KindReasoning,
	"tool_use": transcript.KindToolCall, "server_tool_use": transcript.KindToolCall, "tool_result": transcript.KindToolResult,
}

// environment reads model and working directory from the environment details that Roo and Kilo add to a prompt.
func (p *parser) environment(text string, at jsontext.Value) {
	const before = "<environment_details>"
	_, text, ok := strings.Cut(text, before)
	if !ok {
		return
	}
	if _, rest, ok := strings.Cut(text, "<model>"); ok {
		if model, _, ok := strings.Cut(rest, "</model>"); ok && model != "" && len(model) < 200 {
			p.modelHint(at, model)
			if model != p.model {
				p.model = model
				p.emit(&transcript.Run{ID: p.task, Model: model})
			}
		}
	}
	for _, head := range []string{"# Current Working Directory (", "# Current Workspace Directory ("} {
		if _, rest, ok := strings.Cut(text, head); ok && !p.headings[head] {
			dir, _, _ := strings.Cut(rest, ")")
			if strings.ContainsAny(dir, `/\`) && len(dir) < 4096 && !strings.Contains(dir, "\n") {
				p.headings[head] = true
				p.emit(&transcript.Run{ID: p.task, Project: dir})
			}
		}
	}
}
