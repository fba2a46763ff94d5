package cursor

import (
	"fmt"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// lines yields the records of a JSON lines transcript.
func (p *parser) lines() {
	p.session, p.rank = p.loc.session, rankTranscript
	p.begin()
	for o := range p.Each(jsontext.Objects(p.in.Reader, "", p.problem)) {
		p.baseOrigin, p.base = o.Origin, o.Value
		p.lend.Reset()
		p.line(o.Value)
	}
}

// begin links the session to its parent.
func (p *parser) begin() {
	p.conv.Child = p.loc.parent != ""
	p.link(p.loc.parent, p.session)
}

// link yields a link from a session to one that it started. Both ends are runs that this file names.
func (p *parser) link(parent, child string) {
	if parent == "" || child == "" || parent == child {
		return
	}
	p.Emit(&transcript.Link{
		Kind: "parent", From: transcript.RunEnd(parent), To: transcript.RunEnd(child), Origin: p.baseOrigin,
	})
	for _, id := range []string{parent, child} {
		if id != p.session {
			p.Emit(&transcript.Run{ID: id, Named: true, Child: id == child})
		}
	}
}

// line yields the records of a line: a message, or a line without a role.
func (p *parser) line(v jsontext.Value) {
	role := v.Get("role")
	if !role.IsString() {
		p.noteLine(v)
		return
	}
	content := v.Get("message", "content")
	if !content.Exists() {
		content = v.Get("content")
	}
	p.emitConversation()
	p.message(role.Word(), content)
}

// noteLine yields an event for a line without a role, such as turn_ended.
func (p *parser) noteLine(v jsontext.Value) {
	typ := v.Get("type").Word()
	e := p.event(transcript.KindUnknown, "", typ)
	switch {
	case typ == "turn_ended" && v.Get("error").Exists():
		e.Kind = transcript.KindError
	case typ == "turn_ended":
		e.Kind = transcript.KindLifecycle
	}
	if s := v.Get("status").Str(); s != "" {
		e.Attributes = transcript.Attributes{"status": s}
	}
	e.Parts = []transcript.Part{p.part(v)}
	p.Emit(e)
}

// message yields the events of one message: one event for all user content, else one for each block.
func (p *parser) message(role string, content jsontext.Value) {
	m := &message{parser: p, role: role}
	m.events(content)
}

// message is one message while its events are made.
type message struct {
	*parser
	role      string
	id        string // its own id, "" in transcripts
	model     string // of an answer, "" in transcripts
	n         int
	emitted   bool
	pending   *transcript.Event // the user's event, not yet emitted
	abandoned bool              // not in the newest list
	injected  bool              // all of the user content so far was injected by Cursor
	query     string            // first text of the user
}

// events yields the events of a message. User content has the place of its first block.
func (m *message) events(content jsontext.Value) {
	if content.IsString() {
		m.text(content, content)
	}
	for b := range content.Items() {
		if m.isUserContent(b) {
			m.block(b)
		}
	}
	for b := range content.Items() {
		if m.isUserContent(b) {
			m.emitUser()
		} else {
			m.block(b)
		}
	}
	m.emitUser()
	if !m.emitted { // nothing in it counts
		e := m.event(transcript.KindNotice, m.role, "")
		e.Parts = []transcript.Part{m.part(m.base)}
		m.Emit(e)
	}
}

// isUserContent reports whether a block is content of a user message.
func (m *message) isUserContent(b jsontext.Value) bool {
	if m.role != "user" {
		return false
	}
	switch b.Get("type").Word() {
	case "text", "image", "file":
		return true
	}
	return b.IsString()
}

// block reads one block of a message. The editor writes Anthropic's blocks, the command line's database those of the AI SDK.
func (m *message) block(b jsontext.Value) {
	switch typ := b.Get("type").Word(); {
	case b.IsString():
		m.text(b, b)
	case !b.IsObject():
	case typ == "text":
		m.text(b, b.Get("text"))
	case m.isUserContent(b):
		m.addUser(b, jsontext.Value{})
	default:
		m.typedBlock(b, typ)
	}
}

func (m *message) typedBlock(b jsontext.Value, typ string) {
	switch typ {
	case "thinking", "redacted_thinking", "reasoning", "redacted-reasoning":
		m.emitBlock(b, transcript.KindReasoning, "assistant", typ)
	case "tool_use", "tool-call":
		m.call(b, typ)
	case "tool_result", "tool-result":
		m.result(b, typ)
	default:
		m.uncountedBlock(b, typ)
	}
}

// text reads a text, in a block or as the whole message.
func (m *message) text(b, text jsontext.Value) {
	switch {
	case text.IsBlank():
	case m.role == "user":
		m.addUser(b, text)
	case m.role == "assistant":
		m.emitBlock(b, transcript.KindMessage, "assistant", "text")
	default:
		m.emitBlock(b, transcript.KindSystem, "system", "text")
	}
}

// addUser adds a block to the user's event.
func (m *message) addUser(b, text jsontext.Value) {
	if m.pending == nil {
		m.pending, m.injected, m.query = m.event(transcript.KindMessage, "user", "user"), true, ""
		m.pending.Verdict = transcript.Counted
	}
	m.pending.Parts = append(m.pending.Parts, m.part(b))
	if !text.Exists() {
		m.injected = false
		return
	}
	t := readTags(text.Str())
	if t.at.Valid && !m.pending.Time.Valid {
		m.pending.Time = t.at
	}
	if !t.injected {
		m.injected = false
		if m.query == "" {
			m.query = t.query
		}
	}
}

// emitUser yields the user's event, if any. Injected text is told from a prompt only where messages have ids; in a transcript
// everything is the user's.
func (m *message) emitUser() {
	e := m.pending
	if e == nil {
		return
	}
	m.pending, e.ID = nil, m.eventID()
	if m.injected && m.id != "" {
		e.Kind, e.Role = transcript.KindSystem, "system"
	}
	m.emitCounted(e)
	m.setTitleFrom(m.query)
}

// setTitleFrom sets the title from the first prompt.
func (p *parser) setTitleFrom(text string) {
	if p.conv.Title == "" {
		p.conv.Title = format.Title(text)
	}
}

// eventID returns the id of the next event of a message, "" where messages have none.
func (m *message) eventID() string {
	if m.id == "" {
		return ""
	}
	m.n++
	return fmt.Sprintf("%s/%d", m.id, m.n)
}

// emitBlock yields the event of one block.
func (m *message) emitBlock(b jsontext.Value, kind transcript.Kind, role, typ string) {
	m.emitCounted(m.newEvent(b, kind, role, typ))
}

func (m *message) newEvent(b jsontext.Value, kind transcript.Kind, role, typ string) *transcript.Event {
	e := m.event(kind, role, typ)
	e.Verdict, e.ID, e.Model = transcript.Counted, m.eventID(), m.model
	e.Parts = []transcript.Part{m.part(b)}
	return e
}

// emitCounted yields a counted event, after the conversation if it is the first.
func (m *message) emitCounted(e *transcript.Event) {
	m.emitted = true
	m.emitConversation()
	e.Conversation, e.Run = m.session, ""
	if m.abandoned {
		e.Attributes = transcript.Attributes{"abandoned": true}
	}
	m.Emit(e)
}

// uncountedBlock yields an uncounted event for a block of another kind.
func (m *message) uncountedBlock(b jsontext.Value, typ string) {
	e := m.event(transcript.KindUnknown, m.role, typ)
	e.Parts = []transcript.Part{m.part(b)}
	m.emitted = true
	m.Emit(e)
}

func (m *message) call(b jsontext.Value, typ string) {
	e := m.newEvent(b, transcript.KindToolCall, "assistant", typ)
	input := firstOf(b, "input", "args")
	id := firstOf(b, "id", "toolCallId").Str()
	if id == "" {
		m.calls++
		id = fmt.Sprintf("#%d", m.calls)
	}
	call := &transcript.Call{ID: id, Name: firstOf(b, "name", "toolName").Str(), Input: int64(input.Len()), Paths: format.Paths(input, pathNames, nil)}
	m.setToolName(id, call.Name)
	e.Parts[0].Call = call
	m.emitCounted(e)
	m.setProjectFrom(call.Paths)
}

func (p *parser) setToolName(id, name string) {
	if p.toolNames == nil {
		p.toolNames = map[string]string{}
	}
	p.toolNames[id] = name
}

// setProjectFrom derives the working directory from the paths of a call: the slug alone is ambiguous.
func (p *parser) setProjectFrom(paths []string) {
	for _, file := range paths {
		if p.conv.Project != "" || p.loc.project == "" {
			return
		}
		p.conv.Project = projectOf(file, p.loc.project)
	}
}

func (m *message) result(b jsontext.Value, typ string) {
	e := m.newEvent(b, transcript.KindToolResult, "tool", typ)
	r := &transcript.Result{Call: firstOf(b, "tool_use_id", "toolCallId").Str(), Name: b.Get("toolName").Str(), Output: int64(firstOf(b, "content", "result", "output").Len())}
	if r.Name == "" {
		r.Name = m.toolNames[r.Call]
	}
	if failed := firstOf(b, "is_error", "isError"); failed.Exists() {
		r.Failed = failed.Bool()
	}
	e.Parts[0].Result = r
	m.emitCounted(e)
}

// firstOf returns the first of several members that exists.
func firstOf(v jsontext.Value, keys ...string) jsontext.Value {
	for _, k := range keys {
		if m := v.Get(k); m.Exists() {
			return m
		}
	}
	return jsontext.Value{}
}

// event returns an uncounted event for a line. Before the first message it belongs to the run alone.
func (p *parser) event(kind transcript.Kind, role, typ string) *transcript.Event {
	e := &transcript.Event{Conversation: p.session, Verdict: transcript.Uncounted, Kind: kind, Role: role, Type: typ, Time: p.at, Origin: p.baseOrigin}
	if !p.hasMessages {
		e.Conversation, e.Run = "", p.session
	}
	return e
}

// part returns the part for a value that has its own bytes in the line.
func (p *parser) part(v jsontext.Value) transcript.Part {
	return jsontext.PartIn(p.base, v, p.lend.Text(func(b []byte) []byte { return appendValue(b, p.in.Role, v) }))
}

// pathNames are the members of a call's input that name files.
var pathNames = []string{"path", "file_path", "filePath", "target_file", "targetFile", "relativeWorkspacePath", "effectiveUri", "target_notebook", "target_directory", "working_directory"}
