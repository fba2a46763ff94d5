package cline

import (
	"fmt"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// message is one entry of ui_messages.json.
type message struct {
	value, text jsontext.Value
	ask         bool
	name        string // value of say or ask
	stamp       string // ts, as written
	at          transcript.Time
	partial     bool
	model       string
	provider    string
}

func readMessage(v jsontext.Value) message {
	m := message{value: v}
	typ, say, ask := "", "", ""
	for key, f := range v.Fields() {
		switch key {
		case "ts":
			if n, ok := f.Int(); ok {
				m.at, m.stamp = timestamp.UnixMilli(n), string(f.Raw())
			}
		case "type":
			typ = f.Str()
		case "say":
			say = f.Str()
		case "ask":
			ask = f.Str()
		case "text":
			m.text = f
		case "partial":
			m.partial = f.Bool() == transcript.Yes
		case "modelInfo":
			m.model, m.provider = f.Get("modelId").Str(), f.Get("providerId").Str()
		}
	}
	m.name = say
	if typ == "ask" || say == "" {
		m.ask, m.name = true, ask
	}
	return m
}

// ui yields the records of ui_messages.json.
func (p *parser) ui() {
	p.emitTask(transcript.Conversation{Rank: 1})
	if !p.document() {
		return
	}
	if !p.doc.IsArray() {
		p.noMessages("not a task")
		return
	}
	inclusive := p.inputIncludesCache()
	first := true
	for v := range p.doc.Items() {
		m := readMessage(v)
		switch {
		case !v.IsObject():
			p.uncountedRow(m, transcript.KindUnknown, "")
		case m.partial:
			p.uncountedRow(m, transcript.KindNotice, "")
		default:
			if p.message(m, first); m.model != "" {
				p.setModel(m.model)
			}
			p.request(m, inclusive)
			first = false
		}
		if p.out.Done() {
			return
		}
	}
}

// uncountedRow yields an uncounted event for a message.
func (p *parser) uncountedRow(m message, kind transcript.Kind, role string) {
	e := p.event(m.value, kind, role, m.name, m.at)
	e.Model = m.model
	e.Parts = []transcript.Part{{Text: uiText(m.value)}}
	p.emit(e)
}

// countedRow yields a counted event for a message.
func (p *parser) countedRow(m message, kind transcript.Kind, role string, part transcript.Part) {
	e := p.event(m.value, kind, role, m.name, m.at)
	e.Verdict, e.Model = transcript.Counted, m.model
	part.Text = uiText(m.value)
	e.Parts = []transcript.Part{part}
	p.emit(e)
}

// message yields the event of a message.
func (p *parser) message(m message, first bool) {
	none := transcript.Part{}
	switch {
	case !m.ask && (m.name == "task" || m.name == "user_feedback" || first && m.name == "text"):
		p.setTitle(m.text.Text(), m.at)
		p.countedRow(m, transcript.KindMessage, "user", none)
		return
	case !m.ask && (m.name == "text" || m.name == "completion_result"):
		if strings.TrimSpace(m.text.Text()) == "" {
			p.uncountedRow(m, transcript.KindNotice, "assistant")
			return
		}
		p.countedRow(m, transcript.KindMessage, "assistant", none)
		return
	case !m.ask && m.name == "reasoning":
		p.countedRow(m, transcript.KindReasoning, "assistant", none)
		return
	}
	switch m.name {
	case "tool", "command", "use_mcp_server":
		p.countedRow(m, transcript.KindToolCall, "assistant", transcript.Part{Call: p.call(m)})
	case "command_output", "mcp_server_response":
		p.countedRow(m, transcript.KindToolResult, "tool", transcript.Part{Result: p.result(m)})
	case "api_req_started", "deleted_api_reqs":
		p.uncountedRow(m, transcript.KindLifecycle, "")
	case "condense_context":
		p.countedRow(m, transcript.KindCompaction, "system", none)
	default:
		kind := transcript.KindSystem
		if !knownNames()[m.name] {
			kind = transcript.KindUnknown
		}
		p.countedRow(m, kind, "system", none)
	}
}

// resultOf maps a kind of call to the kind of message that brings its result.
var resultOf = map[string]string{"command": "command_output", "use_mcp_server": "mcp_server_response"}

// call reads a call and numbers it: messages have no call ids.
func (p *parser) call(m message) *transcript.Call {
	p.count++
	c := transcript.Call{ID: fmt.Sprintf("#%d", p.count), Name: m.name, Input: int64(len(m.text.Text()))}
	inside := insideJSON(m.text)
	switch m.name {
	case "tool":
		if name := inside.Get("tool").Str(); name != "" {
			c.Name = name
		}
		for _, key := range []string{"path", "file"} {
			if s := inside.Get(key).Str(); s != "" && len(s) < 4096 && !strings.ContainsAny(s, "\n\x00") {
				c.Paths = append(c.Paths, s)
			}
		}
	case "use_mcp_server":
		c.Name = "mcp__" + inside.Get("serverName").Str() + "__" + inside.Get("toolName").Str()
	}
	if by := resultOf[m.name]; by != "" {
		p.calls[by] = append(p.calls[by], c)
	}
	return &c
}

// result pairs an output with the last call that brings such output; one call may have several.
func (p *parser) result(m message) *transcript.Result {
	r := &transcript.Result{Output: int64(len(m.text.Text()))}
	if open := p.calls[m.name]; len(open) > 0 {
		r.Call, r.Name = open[len(open)-1].ID, open[len(open)-1].Name
	}
	return r
}

// setTitle sets the title from the first prompt.
func (p *parser) setTitle(prompt string, at transcript.Time) {
	if p.hasTitle {
		return
	}
	if title := format.Title(prompt); title != "" {
		p.hasTitle = true
		p.emitTask(transcript.Conversation{Title: title, Started: at})
	}
}

// setModel records the model that answers from here on.
func (p *parser) setModel(model string) {
	if model != p.model {
		p.model = model
		p.emitTask(transcript.Conversation{Model: model})
	}
}
