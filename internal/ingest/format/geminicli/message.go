package geminicli

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// message is one version of a message.
type message struct {
	value                   format.Value
	id, typ                 string
	at                      transcript.Time
	origin                  transcript.Origin
	content, display        format.Value
	thoughts, calls, tokens format.Value
	model                   string
	told                    bool     // any event so far
	pieces                  []string // suffixes of the ids of its events
	named                   format.Value
}

// readMessage reads a message; without an id it is known by the name given.
func (p *parser) readMessage(v format.Value, name string) message {
	m := message{value: v, id: name, origin: p.origin(v)}
	for key, f := range v.Fields() {
		switch key {
		case "id":
			if id := f.Text(); id != "" {
				m.id, m.named = id, f
			}
		case "type":
			m.typ = f.Str()
		case "timestamp":
			m.at = f.Time()
		case "content":
			m.content = f
		case "displayContent":
			m.display = f
		case "thoughts":
			m.thoughts = f
		case "toolCalls":
			m.calls = f
		case "tokens":
			m.tokens = f
		case "model":
			m.model = f.Str()
		}
	}
	return m
}

// message yields the events of a message: one for what was said, one for each thought, call and result. All lie in the
// message's bytes; their ids tell them from one another and from those of other versions of it.
func (p *parser) message(v format.Value, name string) {
	m := p.readMessage(v, name)
	p.begin()
	patched := name == ""
	if patched {
		if m.typ == "message_update" {
			m.typ = ""
		}
		m.complete(p.answers[m.id])
	}
	switch {
	case m.typ == "user":
		words := cmp.Or(textOf(m.display), textOf(m.content))
		p.said(&m, transcript.KindMessage, "user", words)
		p.prompted(words)
	case m.typ == "info", m.typ == "error", m.typ == "warning":
		p.said(&m, transcript.KindSystem, "system", "")
	case m.typ == "gemini" || patched && m.typ == "":
		p.answer(&m)
		if m.told || patched {
			break
		}
		fallthrough
	default:
		e := p.event(&m, "", transcript.KindUnknown, "")
		if e.Verdict = transcript.Uncounted; m.typ == "gemini" {
			e.Kind = transcript.KindNotice // a request without any words
		}
		e.Parts = []transcript.Part{{Text: pieceText(v)}}
		p.Emit(e)
	}
	if !patched || m.tokens.Exists() {
		p.usage(&m)
	}
	if !patched {
		p.replace(&m)
	}
}

// replace takes back the events of an earlier version of a message that this one has no longer.
func (p *parser) replace(m *message) {
	if !m.named.Exists() {
		return
	}
	if p.pieces == nil {
		p.pieces = map[string][]string{}
	}
	before, now := p.pieces[m.id], m.pieces
	p.pieces[m.id] = now
	for _, suffix := range before {
		if !slices.Contains(now, suffix) {
			e := p.event(m, suffix, transcript.KindNotice, "")
			e.Verdict, e.Type, e.Parts = transcript.Uncounted, "replaced", []transcript.Part{p.part(m, m.named)}
			p.Emit(e)
		}
	}
}

func (p *parser) event(m *message, suffix string, kind transcript.Kind, role string) *transcript.Event {
	m.pieces = append(m.pieces, suffix)
	return &transcript.Event{
		Conversation: p.session, ID: m.id + suffix, Kind: kind, Role: role, Type: m.typ, Time: m.at, Origin: m.origin,
		Verdict: transcript.Counted,
	}
}

func (p *parser) said(m *message, kind transcript.Kind, role, prompt string) {
	e := p.event(m, "", kind, role)
	e.Retold, e.Parts = prompt, []transcript.Part{{Text: pieceText(m.value)}}
	m.told = true
	p.Emit(e)
}

// answered is what a $patch of a message does not repeat.
type answered struct {
	model string
	at    transcript.Time
}

func (m *message) complete(a answered) {
	if m.model == "" {
		m.model = a.model
	}
	if !m.at.Valid {
		m.at = a.at
	}
}

// answer yields thoughts, words and calls of the model.
func (p *parser) answer(m *message) {
	if p.answers == nil {
		p.answers = map[string]answered{}
	}
	p.answers[m.id] = answered{m.model, m.at}
	if m.model != "" && m.model != p.model {
		p.model = m.model
		p.Emit(&transcript.Run{ID: p.session, Model: m.model})
		p.Emit(&transcript.Conversation{ID: p.session, Run: p.session, Shared: true, Model: m.model})
	}
	n := 0
	for t := range m.thoughts.Items() {
		e := p.event(m, "/thought/"+strconv.Itoa(n), transcript.KindReasoning, "assistant")
		e.Type = "thought"
		if at := t.Get("timestamp").Time(); at.Valid {
			e.Time = at
		}
		e.Parts = []transcript.Part{p.part(m, t)}
		m.told = true
		p.Emit(e)
		n++
	}
	if textOf(m.content) != "" || hasMedia(m.content) {
		p.said(m, transcript.KindMessage, "assistant", "")
	}
	n = 0
	for c := range m.calls.Items() {
		p.call(m, c, strconv.Itoa(n))
		n++
	}
}

// hasMedia says that content has a part that is no text, such as an image that the model made.
func hasMedia(content format.Value) bool {
	for item := range content.Items() {
		for key, f := range item.Fields() {
			if key != "text" && key != "thought" && key != "thoughtSignature" && filled(f) {
				return true
			}
		}
	}
	return false
}

// part is a piece of a message that has its own bytes.
func (p *parser) part(m *message, v format.Value) transcript.Part {
	return transcript.Part{Text: pieceText(v), Offset: format.OffsetIn(m.value, v), Length: int64(v.Len())}
}

// toolCall is an entry of toolCalls: a call and, later, its result.
type toolCall struct {
	id, name, status, agent string
	at                      transcript.Time
	args, result, display   format.Value
}

func readCall(v format.Value) (c toolCall) {
	for key, f := range v.Fields() {
		switch key {
		case "id":
			c.id = f.Str()
		case "name":
			c.name = f.Str()
		case "status":
			c.status = f.Str()
		case "agentId":
			c.agent = f.Str()
		case "timestamp":
			c.at = f.Time()
		case "args":
			c.args = f
		case "result":
			c.result = f
		case "resultDisplay":
			c.display = f
		}
	}
	return c
}

// call yields a call and its result, if it has any.
func (p *parser) call(m *message, v format.Value, index string) {
	c := readCall(v)
	if c.id == "" {
		c.id = m.id + "/" + index
	}
	m.told = true
	e := p.event(m, "/call/"+index, transcript.KindToolCall, "assistant")
	e.Type = "tool_call"
	part := p.part(m, v)
	part.Call = &transcript.Call{ID: c.id, Name: c.name, Input: int64(c.args.Len()), Paths: format.Paths(c.args, pathNames, pathLists)}
	e.Parts = []transcript.Part{part}
	p.Emit(e)
	if c.agent != "" && c.agent != p.session {
		p.link(p.session, c.agent, true)
	}
	p.result(m, c, index)
}

func (p *parser) result(m *message, c toolCall, index string) {
	shown, also := c.result, c.display
	if !filled(shown) {
		shown, also = also, format.Value{}
	}
	if !filled(shown) {
		return
	}
	e := p.event(m, "/result/"+index, transcript.KindToolResult, "tool")
	e.Type = "tool_result"
	if c.at.Valid {
		e.Time = c.at
	}
	part := p.part(m, shown)
	part.Result = &transcript.Result{Call: c.id, Name: c.name, Status: c.status, Output: int64(shown.Len())}
	switch c.status {
	case "error":
		part.Result.Failed = transcript.Yes
	case "success":
		part.Result.Failed = transcript.No
	}
	e.Parts = []transcript.Part{part}
	// What the screen showed is mostly a part of what the model got.
	if filled(also) {
		if other := p.part(m, also); !strings.Contains(part.Text, other.Text) {
			e.Parts = append(e.Parts, other)
		}
	}
	p.Emit(e)
}

// filled says that a value is there and holds anything.
func filled(v format.Value) bool {
	switch string(v.Raw()) {
	case "", "null", `""`, "[]", "{}", "false":
		return false
	}
	return true
}

// The members of an input that name files.
var (
	pathNames = []string{"file_path", "absolute_path", "path", "dir_path"}
	pathLists = []string{"paths", "file_paths"}
)
