package lmstudio

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// version is one version of a message while its events are made.
type version struct {
	*parser
	n, k   int  // numbers of the message and the version
	off    bool // it is not the one that is shown
	role   string
	model  string // of the answer
	calls  map[string]call
	order  order
	step   string // identifier of the current step
	number int    // of the step
	count  int    // events so far
}

func roleOf(version, message jsontext.Value) string {
	return cmp.Or(version.Get("role").Word(), message.Get("role").Word())
}

// kinds are those of what is said in a role.
var kinds = map[string]transcript.Kind{
	"user": transcript.KindMessage, "assistant": transcript.KindMessage,
	"system": transcript.KindSystem, "tool": transcript.KindToolResult,
}

// read yields the events of a version, and what its predictions used.
func (m *version) read(v jsontext.Value) {
	m.model = v.Get("senderInfo", "senderName").Str()
	m.noteCalls(v)
	typ := cmp.Or(v.Get("type").Word(), m.role)
	m.content(v.Get("content"), kinds[m.role], m.role, typ, false)
	if sent := v.Get("preprocessed", "content"); sent.Exists() && textOf(sent) != textOf(v.Get("content")) {
		m.emit(m.Event(transcript.KindNotice, m.role, "preprocessed", sent), transcript.Uncounted)
	}
	for n, step := range v.Get("steps").Numbered() {
		if m.Done() {
			return
		}
		m.Within(step, func(step jsontext.Value) {
			m.step, m.number = step.Get("stepIdentifier").Str(), n+1
			m.stepOf(step)
			m.usage(step)
		})
	}
	if m.step, m.number = "", 0; m.count == 0 { // an answer that was stopped before it began, or one of another layout
		kind := transcript.KindNotice
		if !v.Get("content").IsArray() && !v.Get("steps").IsArray() {
			kind = transcript.KindUnknown
		}
		m.emit(m.Event(kind, m.role, typ, v), transcript.Uncounted)
	}
}

// stepOf yields the events of a step.
func (m *version) stepOf(v jsontext.Value) {
	switch typ := v.Get("type").Word(); {
	case typ == "toolStatus":
		m.toolStatus(v)
	case typ == "status" || typ == "debugInfoBlock" || typ == "citationBlock" || typ == "requestConfirmToolCall":
		m.beside(v, typ)
	case typ == "contentBlock" || v.Get("content").IsArray():
		kind, role := kinds[m.role], m.role
		if by := v.Get("roleOverride").Word(); by != "" {
			kind, role = kinds[by], by
		}
		if v.Get("style", "type").Is("thinking") {
			kind = transcript.KindReasoning
		}
		m.content(v.Get("content"), kind, role, "contentBlock", v.Get("shouldIncludeInContext").Bool() == transcript.No)
	case v.Get("genInfo").IsObject(): // nothing was said
	default:
		m.emit(m.Event(transcript.KindUnknown, m.role, typ, v), transcript.Uncounted)
	}
}

// beside yields a step that nobody said.
func (m *version) beside(v jsontext.Value, typ string) {
	if e := m.Event(transcript.KindNotice, "system", typ, v); e.Parts[0].Text != "" {
		m.emit(e, transcript.Uncounted)
	}
}

// content yields what was said, and the calls and results beside it. apart says that the model is no longer shown it.
func (m *version) content(content jsontext.Value, kind transcript.Kind, role, typ string, apart bool) {
	if hasText(content) {
		verdict := transcript.Counted
		if kind == "" {
			kind, verdict = transcript.KindUnknown, transcript.Uncounted
		}
		e := m.Event(kind, role, typ, content)
		if kind == transcript.KindToolResult {
			e.Parts[0].Result = &transcript.Result{Output: int64(content.Len())}
		}
		if apart {
			e.Attributes.Set("out_of_context", true)
		}
		m.emit(e, verdict)
	}
	for piece := range content.Items() {
		switch piece.Get("type").Word() {
		case request:
			m.call(piece)
		case result:
			m.result(piece)
		}
	}
}

// emit yields an event of the version.
func (m *version) emit(e *transcript.Event, verdict transcript.Verdict) {
	e.Conversation, e.Run, e.Verdict, e.Time = conversation, m.Session, verdict, timeOf(m.step)
	if e.Role == "assistant" {
		e.Model = cmp.Or(modelOf(m.Row.Value), m.model)
	}
	if m.off {
		e.Attributes.Set("off_path", true)
	}
	m.identify(e)
	m.count++
	m.Emit(e)
}

// identify gives an event its id: of what it is made of if its step tells it apart from all others, or the step that follows its
// message, and else of its place in the chat.
func (m *version) identify(e *transcript.Event) {
	step, before := m.step, ""
	if !isUnique(step) {
		step, before = m.anchors[m.n], "before"
	}
	if step == "" {
		e.ID = fmt.Sprintf("%d.%d.%d.%d", m.n, m.k, m.number, m.count)
		return
	}
	e.ID, e.Global = format.HashUUID(step, before, string(e.Kind), e.Role, e.Type, e.Parts[0].Text), true
	if m.seen[e.ID]++; m.seen[e.ID] > 1 {
		e.ID = format.HashUUID(e.ID, strconv.Itoa(m.seen[e.ID]))
	}
	e.Home = m.isHome(step)
}
