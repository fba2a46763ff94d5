package vibe

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// message is one message with its members, looked up once.
type message struct {
	value  jsontext.Value
	origin transcript.Origin
	at     transcript.Time

	role, id                                     string
	content, reasoning, calls, call, name        jsontext.Value
	injected, boundary, shell, result, resources jsontext.Value
	images, typed, model, usage, cost            jsontext.Value

	key       string // identity, the same in a fork; "" if only the place identifies the message
	duplicate bool   // this file already has the message
}

func readMessage(v jsontext.Value, at transcript.Origin) (m message) {
	m.value, m.origin = v, at
	for key, f := range v.Fields() {
		switch key {
		case "role":
			m.role = f.Word()
		case "message_id":
			m.id = f.Str()
		case "content":
			m.content = f
		case "reasoning_content":
			m.reasoning = f
		case "tool_calls":
			m.calls = f
		case "tool_call_id":
			m.call = f
		case "name":
			m.name = f
		case "injected":
			m.injected = f
		case "context_boundary":
			m.boundary = f
		default:
			m.later(key, f)
		}
	}
	return m
}

// later reads members that only newer versions write.
func (m *message) later(key string, f jsontext.Value) {
	switch key {
	case "manual_shell":
		m.shell = f
		m.at = parseTime(f.Get("created_at"))
	case "tool_result":
		m.result = f
	case "resources":
		m.resources = f
	case "images":
		m.images = f
	case "input_text":
		m.typed = f
	case "model":
		m.model = f
	case "usage":
		m.usage = f
	case "cost":
		m.cost = f
	case "timestamp":
		if at := parseTime(f); at.Valid {
			m.at = at
		}
	}
}

// parseTime reads a time as text, in milliseconds or in seconds.
func parseTime(v jsontext.Value) transcript.Time {
	if n, ok := v.Int(); ok {
		return timestamp.Epoch(n)
	}
	return v.Time()
}

// message yields the events of one message, and the usage that it states.
func (p *parser) message(m message) {
	p.lend.Reset()
	p.identify(&m)
	switch m.role {
	case "user":
		p.user(&m)
	case "assistant":
		p.assistant(&m)
	case "tool":
		p.result(&m)
	case "system":
		p.Emit(p.event(&m, m.content, transcript.KindSystem, "system"))
	default:
		p.uncounted(&m, transcript.KindUnknown)
	}
}

// identify sets the key of a message. The result of a tool has no id: it is identified by the answer that called the tool.
func (p *parser) identify(m *message) {
	m.key = m.id
	switch call := m.call.Str(); {
	case m.role == "tool" && m.id == "" && p.answer != "" && call != "":
		m.key = p.answer + "/" + call
	case m.role == "assistant":
		p.answer = m.id
	}
	if m.key != "" {
		m.duplicate = p.seen[m.key]
		p.seen[m.key] = true
	}
	if !p.started {
		p.started = true
		p.Hint(p.run, hintFirst, m.id, m.origin)
	}
}

// event returns an event for one value of a message. It is valid until the next message.
func (p *parser) event(m *message, v jsontext.Value, kind transcript.Kind, role string) *transcript.Event {
	e := p.lend.Event(transcript.Event{Conversation: p.loc.name, Kind: kind, Role: role, Type: m.role, Time: m.at, Origin: m.origin})
	switch {
	case m.duplicate:
		e.Verdict = transcript.DuplicateOf
	case m.key != "":
		e.ID, e.Global = m.key, true
	}
	e.Parts[0] = p.part(m, v)
	return e
}

// part returns the part for a value, or for the whole message if the value is absent.
func (p *parser) part(m *message, v jsontext.Value) transcript.Part {
	return p.lend.Part(m.value, v, appendText)
}

// uncounted yields a row that does not count for a message.
func (p *parser) uncounted(m *message, kind transcript.Kind) {
	e := p.event(m, m.value, kind, "")
	e.Verdict, e.ID, e.Global = transcript.Uncounted, "", false
	p.Emit(e)
}

// user yields a prompt, a command that the user ran, or what the program itself put into the user's role.
func (p *parser) user(m *message) {
	switch {
	case m.shell.IsObject():
		p.manualShell(m)
	case m.boundary.Is("compaction"), m.injected.Bool() == transcript.Yes && bytes.Contains(m.content.Raw(), []byte("<compaction_summary>")):
		p.Emit(p.event(m, m.content, transcript.KindCompaction, "system"))
	case m.injected.Bool() == transcript.Yes, isTagged(m.content, "<vibe_warning>"):
		p.Emit(p.event(m, m.content, transcript.KindSystem, "system"))
	default:
		e := p.event(m, m.content, transcript.KindMessage, "user")
		for _, more := range []jsontext.Value{m.resources, m.images} {
			if !more.IsArray() {
				continue
			}
			if part := p.part(m, more); part.Text != "" {
				e.Parts = append(e.Parts, part)
			}
		}
		p.Emit(e)
		if !m.duplicate {
			p.setTitleFrom(m)
		}
	}
}

// isTagged reports whether a string begins with a tag.
func isTagged(v jsontext.Value, tag string) bool {
	return v.IsString() && bytes.HasPrefix(bytes.TrimLeft(v.Body(), " "), []byte(tag))
}

// setTitleFrom sets the title from the first prompt, as it was typed.
func (p *parser) setTitleFrom(m *message) {
	if p.hasTitle {
		return
	}
	text := m.typed.Str()
	if text == "" {
		text = m.content.Str()
	}
	if title := format.Title(text); title != "" {
		p.hasTitle = true
		p.emitRun(transcript.Conversation{Title: strings.Clone(title)})
	}
}

// manualShell yields a command that the user ran, as a call and its result.
func (p *parser) manualShell(m *message) {
	const name = "bash"
	id := m.shell.Get("operation_id").Str()
	if id == "" {
		id = p.nextCall()
	}
	command := m.shell.Get("command")
	e := p.event(m, command, transcript.KindToolCall, "user")
	e.Parts[0].Call = &transcript.Call{ID: id, Name: name, Input: int64(command.Len())}
	p.Emit(e)
	output := m.shell
	for _, key := range []string{"output_text", "stdout", "stderr"} {
		if v := m.shell.Get(key); !v.IsBlank() {
			output = v
			break
		}
	}
	e = p.event(m, output, transcript.KindToolResult, "tool")
	res := &transcript.Result{Call: id, Name: name, Output: int64(output.Len())}
	if n, ok := m.shell.Get("exit_code").Int(); ok {
		res.Failed = transcript.True(n != 0)
	}
	if m.shell.Get("interrupted").Bool() == transcript.Yes || m.shell.Get("timed_out").Bool() == transcript.Yes {
		res.Failed, res.Status = transcript.Yes, "cancelled"
	}
	if ms, ok := m.shell.Get("duration_ms").Float(); ok {
		res.Duration = micros(ms * 1000)
	}
	e.Parts[0].Result = res
	p.Emit(e)
}

func (p *parser) nextCall() string {
	p.calls++
	return "#" + strconv.Itoa(p.calls)
}

// micros returns a duration in microseconds, unknown if it is out of range.
func micros(f float64) transcript.Count {
	if f < 0 || f >= 1<<50 {
		return transcript.Count{}
	}
	return transcript.Known(int64(f))
}

// assistant yields the reasoning, text and calls of an answer, each as an event.
func (p *parser) assistant(m *message) {
	emitted := false
	emit := func(e *transcript.Event) {
		e.Model, emitted = m.model.Str(), true
		p.Emit(e)
	}
	if !m.reasoning.IsBlank() {
		emit(p.event(m, m.reasoning, transcript.KindReasoning, "assistant"))
	}
	switch {
	case isTagged(m.content, "<vibe_stop_event>"): // a limit was reached; the program says so
		emit(p.event(m, m.content, transcript.KindSystem, "system"))
	case !m.content.IsBlank(), m.content.IsArray():
		emit(p.event(m, m.content, transcript.KindMessage, "assistant"))
	}
	for v := range m.calls.Items() {
		e := p.event(m, v, transcript.KindToolCall, "assistant")
		e.Parts[0].Call = p.call(v)
		emit(e)
	}
	if !emitted {
		p.uncounted(m, transcript.KindNotice)
	}
	p.answerUsage(m)
}

func (p *parser) call(v jsontext.Value) *transcript.Call {
	args := v.Get("function", "arguments")
	c := &transcript.Call{
		ID: v.Get("id").Str(), Name: v.Get("function", "name").Word(), Input: int64(args.Len()), Paths: format.Paths(args.Unwrap(), pathNames, nil),
	}
	if c.ID == "" {
		c.ID = p.nextCall()
	}
	p.toolNames[c.ID] = c.Name
	return c
}

// pathNames are the members of a call's input that name files.
var pathNames = []string{"path", "file_path", "filepath", "filePath"}

// result yields the result of a tool. Errors and cancelled calls are told only by a tag in the text in most versions.
func (p *parser) result(m *message) {
	e := p.event(m, m.content, transcript.KindToolResult, "tool")
	res := &transcript.Result{Call: m.call.Str(), Name: m.name.Word(), Output: int64(m.content.Len())}
	if res.Name == "" {
		res.Name = p.toolNames[res.Call]
	}
	switch {
	case m.result.Get("cancelled").Bool() == transcript.Yes, isTagged(m.content, "<user_cancellation>"):
		res.Failed, res.Status = transcript.Yes, "cancelled"
	case isTagged(m.content, "<tool_error>"):
		res.Failed, res.Status = transcript.Yes, "error"
	case m.content.Exists():
		res.Failed = transcript.No
	}
	if seconds, ok := m.result.Get("duration").Float(); ok {
		res.Duration = micros(seconds * 1e6)
	}
	e.Parts[0].Result = res
	p.Emit(e)
}
