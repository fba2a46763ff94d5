package cursor

import (
	"fmt"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// lines yields the records of a transcript that is lines of JSON.
func (p *parser) lines() {
	p.session, p.rank = p.where.session, rankTranscript
	p.begin()
	for o := range p.Each(format.Objects(p.in.Reader, "", p.problem)) {
		p.at, p.whole = o.Origin, o.Value
		p.lend.Reset()
		p.line(o.Value)
	}
}

// begin says whose child the session is.
func (p *parser) begin() {
	p.is.Child = p.where.parent != ""
	p.link(p.where.parent, p.session)
}

// link states that a session was started by another. Both ends are runs that this file names.
func (p *parser) link(parent, child string) {
	if parent == "" || child == "" || parent == child {
		return
	}
	p.Emit(&transcript.Link{
		Kind: "parent", From: transcript.RunEnd(parent), To: transcript.RunEnd(child), Origin: p.at,
	})
	for _, id := range []string{parent, child} {
		if id != p.session {
			p.Emit(&transcript.Run{ID: id, Named: true, Child: id == child})
		}
	}
}

// line is a message, or a note of the program.
func (p *parser) line(v format.Value) {
	role := v.Get("role")
	if !role.IsString() {
		p.note(v)
		return
	}
	content := v.Get("message", "content")
	if !content.Exists() {
		content = v.Get("content")
	}
	p.speak()
	p.message(role.Word(), content)
}

// note is a line without a role: the end of a turn, and what comes next.
func (p *parser) note(v format.Value) {
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

// message yields the events of one message: one for all that a person says in it, one for each block of everything else.
func (p *parser) message(role string, content format.Value) {
	m := &message{parser: p, role: role}
	m.all(content)
}

// message is one message while its events are made.
type message struct {
	*parser
	role    string
	id      string // its own, "" in transcripts
	n       int
	told    bool
	user    *transcript.Event // what the person said
	left    bool              // the newest list does not have it
	foreign bool              // all of that was put there by the program
	query   string            // its first words
}

// all yields the events. What a person says stands where the first piece of it does.
func (m *message) all(content format.Value) {
	if content.IsString() {
		m.text(content, content)
	}
	for b := range content.Items() {
		if m.isSaid(b) {
			m.block(b)
		}
	}
	for b := range content.Items() {
		if m.isSaid(b) {
			m.spoken()
		} else {
			m.block(b)
		}
	}
	m.spoken()
	if !m.told { // nothing in it that counts
		e := m.event(transcript.KindNotice, m.role, "")
		e.Parts = []transcript.Part{m.part(m.whole)}
		m.Emit(e)
	}
}

// isSaid reports whether a block is of what a person says.
func (m *message) isSaid(b format.Value) bool {
	if m.role != "user" {
		return false
	}
	switch b.Get("type").Word() {
	case "text", "image", "file":
		return true
	}
	return b.IsString()
}

// block is one piece of a message. The editor writes those of Anthropic, the command line's database those of the AI SDK.
func (m *message) block(b format.Value) {
	switch typ := b.Get("type").Word(); {
	case b.IsString():
		m.text(b, b)
	case !b.IsObject():
	case typ == "text":
		m.text(b, b.Get("text"))
	case m.isSaid(b):
		m.say(b, format.Value{})
	default:
		m.piece(b, typ)
	}
}

func (m *message) piece(b format.Value, typ string) {
	switch typ {
	case "thinking", "redacted_thinking", "reasoning", "redacted-reasoning":
		m.give(b, transcript.KindReasoning, "assistant", typ)
	case "tool_use", "tool-call":
		m.call(b, typ)
	case "tool_result", "tool-result":
		m.result(b, typ)
	default:
		m.other(b, typ)
	}
}

// text is what somebody says, in a block or as the whole message.
func (m *message) text(b, text format.Value) {
	switch {
	case text.IsBlank():
	case m.role == "user":
		m.say(b, text)
	case m.role == "assistant":
		m.give(b, transcript.KindMessage, "assistant", "text")
	default:
		m.give(b, transcript.KindSystem, "system", "text")
	}
}

// say adds to what the person says, which is one event.
func (m *message) say(b, text format.Value) {
	if m.user == nil {
		m.user, m.foreign, m.query = m.event(transcript.KindMessage, "user", "user"), true, ""
		m.user.Verdict = transcript.Counted
	}
	m.user.Parts = append(m.user.Parts, m.part(b))
	if !text.Exists() {
		m.foreign = false
		return
	}
	t := readTags(text.Str())
	if t.at.Valid && !m.user.Time.Valid {
		m.user.Time = t.at
	}
	if !t.foreign {
		m.foreign = false
		if m.query == "" {
			m.query = t.query
		}
	}
}

// spoken yields what the person said, if anything. What the program put in the person's place is told apart where messages have ids;
// in a transcript everything is the person's.
func (m *message) spoken() {
	e := m.user
	if e == nil {
		return
	}
	m.user, e.ID = nil, m.eventID()
	if m.foreign && m.id != "" {
		e.Kind, e.Role = transcript.KindSystem, "system"
	}
	m.out(e)
	m.prompted(m.query)
}

// prompted names the session after its first prompt.
func (p *parser) prompted(text string) {
	if p.is.Title == "" {
		p.is.Title = format.Title(text)
	}
}

// eventID is the id of the next event of a message; "" where messages have none.
func (m *message) eventID() string {
	if m.id == "" {
		return ""
	}
	m.n++
	return fmt.Sprintf("%s/%d", m.id, m.n)
}

// give yields an event of one block.
func (m *message) give(b format.Value, kind transcript.Kind, role, typ string) {
	m.out(m.made(b, kind, role, typ))
}

func (m *message) made(b format.Value, kind transcript.Kind, role, typ string) *transcript.Event {
	e := m.event(kind, role, typ)
	e.Verdict, e.ID = transcript.Counted, m.eventID()
	e.Parts = []transcript.Part{m.part(b)}
	return e
}

// out yields an event that counts. The first makes the session one that does.
func (m *message) out(e *transcript.Event) {
	m.told = true
	m.speak()
	e.Conversation, e.Run = m.session, ""
	if m.left {
		e.Attributes = transcript.Attributes{"abandoned": true}
	}
	m.Emit(e)
}

// other is a block of a kind that does not count.
func (m *message) other(b format.Value, typ string) {
	e := m.event(transcript.KindUnknown, m.role, typ)
	e.Parts = []transcript.Part{m.part(b)}
	m.told = true
	m.Emit(e)
}

func (m *message) call(b format.Value, typ string) {
	e := m.made(b, transcript.KindToolCall, "assistant", typ)
	input := first(b, "input", "args")
	id := first(b, "id", "toolCallId").Str()
	if id == "" {
		m.calls++
		id = fmt.Sprintf("#%d", m.calls)
	}
	call := &transcript.Call{ID: id, Name: first(b, "name", "toolName").Str(), Input: int64(input.Len()), Paths: format.Paths(input, pathNames, nil)}
	m.named(id, call.Name)
	e.Parts[0].Call = call
	m.out(e)
	m.worked(call.Paths)
}

func (p *parser) named(id, name string) {
	if p.names == nil {
		p.names = map[string]string{}
	}
	p.names[id] = name
}

// worked takes the directory that was worked in from the files that a call names: the slug alone does not tell it.
func (p *parser) worked(paths []string) {
	for _, file := range paths {
		if p.is.Project != "" || p.where.project == "" {
			return
		}
		p.is.Project = projectOf(file, p.where.project)
	}
}

func (m *message) result(b format.Value, typ string) {
	e := m.made(b, transcript.KindToolResult, "tool", typ)
	r := &transcript.Result{Call: first(b, "tool_use_id", "toolCallId").Str(), Name: b.Get("toolName").Str(), Output: int64(first(b, "content", "result", "output").Len())}
	if r.Name == "" {
		r.Name = m.names[r.Call]
	}
	if failed := first(b, "is_error", "isError"); failed.Exists() {
		r.Failed = failed.Bool()
	}
	e.Parts[0].Result = r
	m.out(e)
}

// first is the first of some members that is there.
func first(v format.Value, keys ...string) format.Value {
	for _, k := range keys {
		if m := v.Get(k); m.Exists() {
			return m
		}
	}
	return format.Value{}
}

// event is one row of a line, uncounted until told otherwise. Before anybody speaks it belongs to the run alone.
func (p *parser) event(kind transcript.Kind, role, typ string) *transcript.Event {
	e := &transcript.Event{Conversation: p.session, Verdict: transcript.Uncounted, Kind: kind, Role: role, Type: typ, Origin: p.at}
	if !p.said {
		e.Conversation, e.Run = "", p.session
	}
	return e
}

// part is a piece of the line that has its own bytes.
func (p *parser) part(v format.Value) transcript.Part {
	return transcript.Part{
		Text:   p.lend.Text(func(b []byte) []byte { return appendPiece(b, p.in.Role, v) }),
		Offset: format.OffsetIn(p.whole, v), Length: int64(v.Len()),
	}
}

// pathNames are the members of an input that name files.
var pathNames = []string{"path", "file_path", "filePath", "target_file", "targetFile", "relativeWorkspacePath", "effectiveUri", "target_notebook", "target_directory", "working_directory"}
