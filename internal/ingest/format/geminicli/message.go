package geminicli

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// message is one version of a message.
type message struct {
	value                   jsontext.Value
	id, typ                 string
	at                      transcript.Time
	origin                  transcript.Origin
	content, display        jsontext.Value
	thoughts, calls, tokens jsontext.Value
	model                   string
	hasEvents               bool     // an event was yielded
	suffixes                []string // suffixes of the ids of its events
	idValue                 jsontext.Value
}

// readMessage reads a message. name is its id if it has none.
func (p *parser) readMessage(v jsontext.Value, name string) message {
	m := message{value: v, id: name, origin: p.origin(v)}
	for key, f := range v.Fields() {
		switch key {
		case "id":
			if id := f.Text(); id != "" {
				m.id, m.idValue = id, f
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

// message yields the events of a message: one for its text, one for each thought, call and result. All lie in the message's
// bytes; their ids distinguish them from one another and match those of other versions of the message.
func (p *parser) message(v jsontext.Value, name string) {
	m := p.readMessage(v, name)
	p.begin()
	patched := name == ""
	if patched {
		if m.typ == "message_update" {
			m.typ = ""
		}
		m.fillFrom(p.answers[m.id])
	}
	switch {
	case m.typ == "user":
		p.user(&m)
	case m.typ == "info", m.typ == "error", m.typ == "warning":
		p.emitMessage(&m, transcript.KindSystem, "system", "")
	case isAnswer(m.typ) || patched && m.typ == "":
		p.answer(&m)
		if m.hasEvents || patched {
			break
		}
		fallthrough
	default:
		e := p.event(&m, "", transcript.KindUnknown, "")
		if e.Verdict = transcript.Uncounted; isAnswer(m.typ) {
			e.Kind = transcript.KindNotice // a request without text
		}
		e.Parts = []transcript.Part{{Text: pieceText(v)}}
		p.Emit(e)
	}
	if !patched || m.tokens.Exists() {
		p.usage(&m)
	}
	if !patched {
		p.retractReplaced(&m)
	}
}

// isAnswer reports whether a message of this type is the model's. Tabnine CLI, which is built from this program, names them after itself.
func isAnswer(typ string) bool { return typ == "gemini" || typ == "tabnine" }

// user yields a prompt, or what the program wrote in the user's role: the session's context, the summary that stands for
// what was said before, and results of tools once more.
func (p *parser) user(m *message) {
	words := cmp.Or(textOf(m.display), textOf(m.content))
	switch {
	case hasPart(m.content, "functionResponse"):
		p.emitMessage(m, transcript.KindSystem, "system", "")
	case strings.HasPrefix(words, "<session_context>"):
		p.emitMessage(m, transcript.KindSystem, "system", "")
		p.projectFromContext(words)
	case strings.HasPrefix(words, "<hook_context>"):
		p.emitMessage(m, transcript.KindSystem, "system", "")
	case strings.HasPrefix(words, "<state_snapshot>"):
		p.emitMessage(m, transcript.KindCompaction, "system", "")
	default:
		p.emitMessage(m, transcript.KindMessage, "user", words)
		p.titleFromPrompt(words)
	}
}

// retractReplaced makes those events of an earlier version uncounted that this version of a message no longer has.
func (p *parser) retractReplaced(m *message) {
	if !m.idValue.Exists() {
		return
	}
	if p.suffixes == nil {
		p.suffixes = map[string][]string{}
	}
	before, now := p.suffixes[m.id], m.suffixes
	p.suffixes[m.id] = now
	for _, suffix := range before {
		if !slices.Contains(now, suffix) {
			e := p.event(m, suffix, transcript.KindNotice, "")
			e.Verdict, e.Type, e.Parts = transcript.Uncounted, "replaced", []transcript.Part{p.part(m, m.idValue)}
			p.Emit(e)
		}
	}
}

func (p *parser) event(m *message, suffix string, kind transcript.Kind, role string) *transcript.Event {
	m.suffixes = append(m.suffixes, suffix)
	return &transcript.Event{
		Conversation: p.session, ID: m.id + suffix, Kind: kind, Role: role, Type: m.typ, Time: m.at, Origin: m.origin,
		Verdict: transcript.Counted,
	}
}

func (p *parser) emitMessage(m *message, kind transcript.Kind, role, prompt string) {
	e := p.event(m, "", kind, role)
	e.Retold, e.Parts = prompt, []transcript.Part{{Text: pieceText(m.value)}}
	m.hasEvents = true
	p.Emit(e)
}

// answerMeta holds the members that a $patch of a message does not repeat.
type answerMeta struct {
	model string
	at    transcript.Time
}

func (m *message) fillFrom(a answerMeta) {
	if m.model == "" {
		m.model = a.model
	}
	if !m.at.Valid {
		m.at = a.at
	}
}

// answer yields the thoughts, text and calls of the model.
func (p *parser) answer(m *message) {
	if p.answers == nil {
		p.answers = map[string]answerMeta{}
	}
	p.answers[m.id] = answerMeta{m.model, m.at}
	if m.model != "" && m.model != p.model {
		p.model = m.model
		p.Emit(&transcript.Run{ID: p.session, Model: m.model})
		p.Emit(&transcript.Conversation{ID: p.session, Run: p.session, Shared: true, Model: m.model})
	}
	for n, t := range m.thoughts.Numbered() {
		e := p.event(m, "/thought/"+strconv.Itoa(n), transcript.KindReasoning, "assistant")
		e.Type = "thought"
		if at := t.Get("timestamp").Time(); at.Valid {
			e.Time = at
		}
		e.Parts = []transcript.Part{p.part(m, t)}
		m.hasEvents = true
		p.Emit(e)
	}
	switch spoken, thought := m.says(); {
	case spoken:
		p.emitMessage(m, transcript.KindMessage, "assistant", "")
	case thought:
		p.emitMessage(m, transcript.KindReasoning, "assistant", "")
	}
	for n, c := range m.calls.Numbered() {
		p.call(m, c, strconv.Itoa(n))
	}
}

// says reports whether the content has anything besides thoughts and the calls that toolCalls has as well, such as text or
// an image made by the model, and whether it has thoughts. Newer versions write what the model returned, part by part.
func (m *message) says() (spoken, thought bool) {
	if !m.content.IsArray() {
		return textOf(m.content) != "", false
	}
	for item := range m.content.Items() {
		switch {
		case isThought(item):
			thought = thought || textOf(item) != ""
		case item.Get("functionCall").Exists() && hasValue(m.calls):
		default:
			spoken = spoken || textOf(item) != "" || hasMedia(item)
		}
	}
	return spoken, thought
}

// isThought reports whether a part of content is reasoning.
func isThought(part jsontext.Value) bool { return part.Get("thought").Bool() == transcript.Yes }

// hasPart reports whether content has a part with a member.
func hasPart(content jsontext.Value, name string) bool {
	for item := range content.Items() {
		if item.Get(name).Exists() {
			return true
		}
	}
	return false
}

// hasMedia reports whether a part is more than text.
func hasMedia(part jsontext.Value) bool {
	for key, f := range part.Fields() {
		if key != "text" && key != "thought" && key != "thoughtSignature" && hasValue(f) {
			return true
		}
	}
	return false
}

// part returns a part of a message that has a range of its own.
func (p *parser) part(m *message, v jsontext.Value) transcript.Part {
	return jsontext.PartIn(m.value, v, pieceText(v))
}

// toolCall is an entry of toolCalls: a call and, later, its result.
type toolCall struct {
	id, name, status, agent string
	at                      transcript.Time
	args, result, display   jsontext.Value
}

func readCall(v jsontext.Value) (c toolCall) {
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

// call yields a call and its result, if any.
func (p *parser) call(m *message, v jsontext.Value, index string) {
	c := readCall(v)
	if c.id == "" {
		c.id = m.id + "/" + index
	}
	m.hasEvents = true
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
	shown, also := ownResponse(c), c.display
	if !hasValue(shown) {
		shown, also = also, jsontext.Value{}
	}
	if !hasValue(shown) {
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
	// What the screen showed is usually part of what the model got.
	if hasValue(also) {
		if other := p.part(m, also); !strings.Contains(part.Text, other.Text) {
			e.Parts = append(e.Parts, other)
		}
	}
	p.Emit(e)
}

// ownResponse returns the result of a call. When the program has shortened the results of calls that were made together,
// it writes all of them into the result of each.
func ownResponse(c toolCall) jsontext.Value {
	if c.id == "" || !c.others() {
		return c.result
	}
	for item := range c.result.Items() {
		if item.Get("functionResponse", "id").Is(c.id) {
			return item
		}
	}
	return c.result
}

// others reports whether the result of a call has that of another one.
func (c *toolCall) others() bool {
	for item := range c.result.Items() {
		if id := item.Get("functionResponse", "id"); id.IsString() && !id.Is(c.id) {
			return true
		}
	}
	return false
}

// hasValue reports whether a value is present and not empty.
func hasValue(v jsontext.Value) bool {
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
