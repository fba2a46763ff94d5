package copilotcli

import (
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// part is a piece of a line that has its own bytes.
func part(l line, v format.Value) transcript.Part {
	return transcript.Part{Text: pieceText(v), Offset: format.OffsetIn(l.value, v), Length: int64(v.Len())}
}

// blank says that a value has no words. A number is one.
func blank(v format.Value) bool {
	text := v.Text()
	if v.IsObject() || v.IsArray() {
		text = format.AllStrings(v)
	}
	return strings.TrimSpace(text) == ""
}

// user yields a prompt. What skills put in the user's place is marked by its source.
func (p *parser) user(l line) {
	p.asks = true
	e := p.event(l, transcript.KindMessage, "user")
	e.Verdict = transcript.Counted
	e.Parts = []transcript.Part{{Text: pieceText(l.value)}}
	content, source := l.data.Get("content").Str(), l.data.Get("source").Str()
	e.Attributes.Set("source", source)
	if !strings.HasPrefix(source, "skill") && !strings.HasPrefix(strings.TrimSpace(content), "<skill-context") {
		p.prompted(content)
	}
	p.Emit(e)
}

// answer is what an assistant.message says.
type answer struct {
	content, requests, output format.Value
	reasoning, blocks         format.Value // the same words, mostly; blocks as the provider gave them
	request, model            string       // request is the id of what is paid for
}

func readAnswer(data format.Value) (a answer) {
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

// assistant yields reasoning, words and calls of one message, and what it cost.
func (p *parser) assistant(l line) {
	a := readAnswer(l.data)
	if l.agent == "" {
		p.switched(a.model)
	}
	if a.model == "" {
		a.model = p.model
	}
	p.asks = true
	told := false
	say := func(kind transcript.Kind, verdict transcript.Verdict, part transcript.Part) {
		e := p.event(l, kind, "assistant")
		e.Model, e.Verdict, told = a.model, verdict, true
		e.Parts = []transcript.Part{part}
		if part.Call != nil && part.Call.ID != "" {
			if p.asked[part.Call.ID] {
				e.Verdict = transcript.DuplicateOf
			}
			p.asked[part.Call.ID] = true
		}
		p.Emit(e)
	}
	if !blank(a.reasoning) {
		say(transcript.KindReasoning, transcript.Counted, part(l, a.reasoning))
	} else {
		for block := range a.blocks.Items() {
			if block.Get("data").Exists() { // encrypted
				continue
			}
			if c := part(l, block); strings.TrimSpace(c.Text) != "" {
				say(transcript.KindReasoning, transcript.Uncounted, c) // only reasoningText is an event
			}
		}
	}
	if !blank(a.content) {
		say(transcript.KindMessage, transcript.Counted, part(l, a.content))
	}
	for r := range a.requests.Items() {
		if !r.IsObject() {
			continue
		}
		say(transcript.KindToolCall, transcript.Counted, p.call(l, r))
	}
	if !told {
		p.silent(l, a.model)
	}
	p.spend(l, a.request, a.model, a.output)
}

// silent keeps a message that says nothing.
func (p *parser) silent(l line, model string) {
	e := p.event(l, transcript.KindNotice, "assistant")
	e.Model = model
	e.Parts = []transcript.Part{{Text: pieceText(l.value)}}
	p.Emit(e)
}

func (p *parser) call(l line, v format.Value) transcript.Part {
	c := part(l, v)
	args := v.Get("arguments")
	c.Call = &transcript.Call{ID: v.Get("toolCallId").Str(), Name: v.Get("name").Str(), Input: int64(args.Len()), Paths: format.Paths(args, pathNames, nil)}
	if c.Call.ID != "" {
		p.names[c.Call.ID] = c.Call.Name
	}
	return c
}

// started is a tool at work. Its words stand in the request already, but for tools that no message asked for.
func (p *parser) started(l line) {
	e := p.event(l, transcript.KindLifecycle, "tool")
	id := l.data.Get("toolCallId").Str()
	if p.asked[id] || !l.data.Exists() {
		e.Parts = []transcript.Part{{Text: pieceText(l.value)}}
	} else {
		e.Parts = []transcript.Part{part(l, l.data)}
		if name := l.data.Get("toolName").Str(); id != "" && name != "" {
			p.names[id] = name
		}
	}
	p.Emit(e)
}

// completed yields what a tool gave.
func (p *parser) completed(l line) {
	e := p.event(l, transcript.KindToolResult, "tool")
	e.Verdict = transcript.Counted
	result, success := l.data.Get("result"), l.data.Get("success").Bool()
	if !result.Exists() {
		result = l.data.Get("error")
	}
	r := &transcript.Result{Call: l.data.Get("toolCallId").Str(), Output: int64(result.Len())}
	r.Name = p.names[r.Call]
	switch success {
	case transcript.Yes:
		r.Failed = transcript.No
	case transcript.No:
		r.Failed = transcript.Yes
	}
	e.Parts = []transcript.Part{{Text: pieceText(l.value), Result: r}}
	p.Emit(e)
}

// pathNames are the members of an input that name files.
var pathNames = []string{"path", "file_path", "filePath", "file"}
