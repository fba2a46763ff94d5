package codewhale

import (
	"cmp"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// message is one item while its events are made.
type message struct {
	*parser
	item
	role      string
	duplicate bool
	n         int // events so far
}

// item yields the events of one item. duplicate says that the session has said it before, on another branch.
func (p *parser) item(i item, duplicate bool) {
	m := &message{parser: p, item: i, duplicate: duplicate}
	switch i.kind {
	case "message":
		m.said()
	case "user", "assistant":
		m.words(transcript.KindMessage, i.kind, i.kind, i.value.Get("text"))
	case "system":
		m.words(transcript.KindSystem, "system", i.kind, i.value.Get("content"))
	case "compaction":
		m.words(transcript.KindCompaction, "system", i.kind, i.value.Get("summary"))
	case "branch_summary":
		m.words(transcript.KindSystem, "system", i.kind, i.value.Get("summary"))
	}
	if m.n == 0 {
		m.emit(m.Event(transcript.KindUnknown, "", cmp.Or(m.role, i.kind), i.value), transcript.Uncounted)
	}
}

// words yields an event for a text, or a list of them, if there is one.
func (m *message) words(kind transcript.Kind, role, typ string, v jsontext.Value) {
	if !v.IsNull() {
		m.emit(m.Event(kind, role, typ, v), transcript.Counted)
	}
}

func (m *message) emit(e *transcript.Event, verdict transcript.Verdict) {
	if m.duplicate && verdict == transcript.Counted {
		verdict = transcript.DuplicateOf
	}
	e.Conversation, e.Run, e.Time, e.Verdict = conversation, m.Session, m.at, verdict
	m.n++
	m.Emit(e)
}

// said yields what a message says.
func (m *message) said() {
	m.role = m.message.Get("role").Word()
	content := m.message.Get("content")
	switch m.role {
	case "user":
		m.user(content)
	case "assistant", "assistant_interrupted":
		m.answer(content)
	case "system", "developer":
		m.words(transcript.KindSystem, "system", m.role, content)
	}
}

// user yields what the user said, with a part for each text, what the program put beside it, and the results of tools.
func (m *message) user(content jsontext.Value) {
	if content.IsString() {
		m.prompt(content)
		return
	}
	var parts []transcript.Part
	ask := func() {
		if len(parts) > 0 {
			e := m.Lend.Event(transcript.Event{Kind: transcript.KindMessage, Role: "user", Type: "user", Origin: m.Row.Origin})
			e.Parts, parts = parts, nil
			m.emit(e, transcript.Counted)
		}
	}
	for block := range content.Items() {
		switch text := block.Get("text"); {
		case block.Get("type").Is("image_url"):
			m.block(block)
		case !block.Get("type").Is("text"):
			ask()
			m.block(block)
		case isProgram(text.Str()):
			ask()
			m.emit(m.Event(transcript.KindSystem, "system", "text", block), transcript.Counted)
		case !text.IsBlank():
			parts = append(parts, m.Part(block))
		}
	}
	ask()
}

func (m *message) prompt(text jsontext.Value) {
	kind, role := transcript.KindMessage, "user"
	if isProgram(text.Str()) {
		kind, role = transcript.KindSystem, "system"
	}
	m.emit(m.Event(kind, role, m.role, text), transcript.Counted)
}

// The frame of what the program tells the model about the state of things beside a prompt.
const (
	metaOpen  = "<turn_meta>"
	metaClose = "</turn_meta>"
)

// isProgram reports whether the program itself has put a text into the user's role. Early versions put their frame before the user's own words, in one text.
func isProgram(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "<codewhale:") || strings.HasPrefix(text, "<deepseek:") || strings.HasPrefix(text, metaOpen) && promptOf(text) == ""
}

// answer yields what the agent thought, said and called.
func (m *message) answer(content jsontext.Value) {
	if content.IsString() {
		m.emit(m.spoken(content), transcript.Counted)
		return
	}
	for block := range content.Items() {
		m.block(block)
	}
}

func (m *message) spoken(v jsontext.Value) *transcript.Event {
	e := m.Event(transcript.KindMessage, "assistant", "text", v)
	if m.role == "assistant_interrupted" {
		e.Attributes.Set("interrupted", true)
	}
	return e
}

func (m *message) block(v jsontext.Value) {
	switch typ := v.Get("type").Word(); typ {
	case "text":
		if !v.Get("text").IsBlank() {
			m.emit(m.spoken(v), transcript.Counted)
		}
	case "thinking":
		if !v.Get("thinking").IsBlank() {
			m.emit(m.Event(transcript.KindReasoning, "assistant", typ, v), transcript.Counted)
		}
	case "tool_use", "server_tool_use":
		m.call(v, typ)
	case "tool_result", "tool_search_tool_result", "code_execution_tool_result":
		m.result(v, typ)
	case "image_url":
		m.emit(m.Event(transcript.KindNotice, m.role, typ, v), transcript.Uncounted)
	default:
		m.emit(m.Event(transcript.KindUnknown, m.role, typ, v), transcript.Uncounted)
	}
}

// pathNames and pathLists are the members of a call's input that name files.
var (
	pathNames = []string{"path", "file_path", "target_file", "file", "cwd"}
	pathLists = []string{"paths", "files"}
)

func (m *message) call(v jsontext.Value, typ string) {
	input := v.Get("input")
	c := &transcript.Call{
		ID: callOf(v, "id"), Name: v.Get("name").Word(), Input: int64(input.Len()), Paths: format.Paths(input, pathNames, pathLists),
	}
	if patch, ok := format.PatchPaths(input.Get("patch").Str()); ok {
		c.Paths = append(c.Paths, patch...)
	}
	m.tools[c.ID] = c.Name
	e := m.Event(transcript.KindToolCall, "assistant", typ, v)
	e.Parts[0].Call = c
	m.emit(e, transcript.Counted)
}

func (m *message) result(v jsontext.Value, typ string) {
	res := &transcript.Result{Call: callOf(v, "tool_use_id"), Failed: v.Get("is_error").Bool(), Output: int64(v.Get("content").Len())}
	res.Name = m.tools[res.Call]
	e := m.Event(transcript.KindToolResult, "tool", typ, v)
	e.Parts[0].Result = res
	m.emit(e, transcript.Counted)
}

// callOf returns the id of a call: the program's own where there is one, since some models use theirs again.
func callOf(v jsontext.Value, name string) string {
	return v.First("execution_id", name).Str()
}
