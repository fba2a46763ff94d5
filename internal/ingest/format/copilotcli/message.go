package copilotcli

import (
	"cmp"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// part returns the part for a value that has its own bytes in a line.
func part(l line, v jsontext.Value) transcript.Part {
	return jsontext.PartIn(l.value, v, pieceText(v))
}

// isBlank reports whether a value has no text. A number is text.
func isBlank(v jsontext.Value) bool {
	text := v.Text()
	if v.IsObject() || v.IsArray() {
		text = jsontext.AllStrings(v)
	}
	return strings.TrimSpace(text) == ""
}

// user yields a prompt. Text that a skill injected as user is marked by its source.
func (p *parser) user(l line) {
	p.messagesSince = true
	e := p.event(l, transcript.KindMessage, "user")
	e.Verdict = transcript.Counted
	e.Parts = []transcript.Part{{Text: pieceText(l.value)}}
	content, source := l.data.Get("content").Str(), l.data.Get("source").Str()
	e.Attributes.Set("source", source)
	if !strings.HasPrefix(source, "skill") && !strings.HasPrefix(strings.TrimSpace(content), "<skill-context") {
		p.setTitleFrom(content)
	}
	p.Emit(e)
}

// assistantMessage holds the fields of an assistant.message.
type assistantMessage struct {
	content, requests, output jsontext.Value
	reasoning, blocks         jsontext.Value // mostly the same text; blocks as the provider sent them
	request, model            string         // request identifies the billed request
}

func readAssistantMessage(data jsontext.Value) (a assistantMessage) {
	for key, m := range data.Fields() {
		switch key {
		case "content":
			a.content = m
		case "reasoningText":
			a.reasoning = m
		case "reasoningBlocks":
			a.blocks = m.Get("blocks")
		case "toolRequests":
			a.requests = m
		case "outputTokens":
			a.output = m
		case "model":
			a.model = m.Str()
		case "apiCallId":
			if id := m.Str(); id != "" {
				a.request = id
			}
		case "messageId":
			if a.request == "" {
				a.request = m.Str()
			}
		}
	}
	return a
}

// assistant yields the reasoning, text and tool requests of one message, and its output tokens.
func (p *parser) assistant(l line) {
	a := readAssistantMessage(l.data)
	if l.agent == "" {
		p.setModel(a.model)
	}
	if a.model == "" {
		a.model = p.model
	}
	p.messagesSince = true
	emitted := false
	add := func(kind transcript.Kind, verdict transcript.Verdict, part transcript.Part) {
		e := p.event(l, kind, "assistant")
		e.Model, e.Verdict, emitted = a.model, verdict, true
		e.Parts = []transcript.Part{part}
		if part.Call != nil && part.Call.ID != "" {
			if p.requested[part.Call.ID] {
				// Without an id, since the index decides about those of the whole format.
				e.Verdict, e.ID, e.Global, e.Home = transcript.DuplicateOf, "", false, false
			}
			p.requested[part.Call.ID] = true
		}
		p.Emit(e)
	}
	if !isBlank(a.reasoning) {
		add(transcript.KindReasoning, transcript.Counted, part(l, a.reasoning))
	} else {
		for block := range a.blocks.Items() {
			if block.Get("data").Exists() { // encrypted
				continue
			}
			if c := part(l, block); strings.TrimSpace(c.Text) != "" {
				add(transcript.KindReasoning, transcript.Uncounted, c) // only reasoningText counts
			}
		}
	}
	if !isBlank(a.content) {
		add(transcript.KindMessage, transcript.Counted, part(l, a.content))
	}
	for r := range a.requests.Items() {
		if !r.IsObject() {
			continue
		}
		add(transcript.KindToolCall, transcript.Counted, p.call(l, r))
	}
	if !emitted {
		p.emptyMessage(l, a.model)
	}
	p.messageOutput(l, a.request, a.model, a.output)
}

// emptyMessage yields an uncounted row for a message without text or tool requests.
func (p *parser) emptyMessage(l line, model string) {
	e := p.event(l, transcript.KindNotice, "assistant")
	e.Model = model
	e.Parts = []transcript.Part{{Text: pieceText(l.value)}}
	p.Emit(e)
}

func (p *parser) call(l line, v jsontext.Value) transcript.Part {
	c := part(l, v)
	args := v.Get("arguments")
	c.Call = &transcript.Call{ID: v.Get("toolCallId").Str(), Name: v.Get("name").Str(), Input: int64(args.Len()), Paths: format.Paths(args, pathNames, nil)}
	if c.Call.ID != "" {
		p.toolNames[c.Call.ID] = c.Call.Name
	}
	return c
}

// toolStarted yields a tool.execution_start. It has text only if no message requested the tool; else the request has it.
func (p *parser) toolStarted(l line) {
	e := p.event(l, transcript.KindLifecycle, "tool")
	id := l.data.Get("toolCallId").Str()
	if p.requested[id] || !l.data.Exists() {
		e.Parts = []transcript.Part{{Text: pieceText(l.value)}}
	} else {
		e.Parts = []transcript.Part{part(l, l.data)}
		if name := l.data.Get("toolName").Str(); id != "" && name != "" {
			p.toolNames[id] = name
		}
	}
	p.Emit(e)
}

// toolCompleted yields the result of a tool.
func (p *parser) toolCompleted(l line) {
	e := p.event(l, transcript.KindToolResult, "tool")
	e.Verdict = transcript.Counted
	result := l.data.Get("result")
	if !result.Exists() {
		result = l.data.Get("error")
	}
	r := &transcript.Result{Call: l.data.Get("toolCallId").Str(), Output: int64(result.Len()), Failed: l.data.Get("success").Bool().Not()}
	r.Name = cmp.Or(p.toolNames[r.Call], l.data.Get("toolName").Str())
	e.Parts = []transcript.Part{{Text: pieceText(l.value), Result: r}}
	p.Emit(e)
}

// pathNames are the members of a call's input that name files.
var pathNames = []string{"path", "file_path", "filePath", "file"}
