package codebuff

import (
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// blocks yields the events of blocks, and of those that a sub-agent has in its own.
func (m *message) blocks(all jsontext.Value, place string) {
	for n, v := range all.Numbered() {
		m.block(v, place+"/"+strconv.Itoa(n))
	}
}

func (m *message) block(v jsontext.Value, place string) {
	typ := v.Get("type").Word()
	switch typ {
	case "text":
		m.text(v, place)
	case "plan":
		m.emit(m.Event(transcript.KindMessage, m.role, typ, v), place, transcript.Counted)
	case "tool":
		m.call(v, v.Get("toolCallId").Text(), v.Get("toolName").Str(), v.Get("input"), place)
		m.result(v.First("output", "outputRaw"), v.Get("toolCallId").Text(), v.Get("toolName").Str(), "", place)
	case "ask-user":
		m.call(v, v.Get("toolCallId").Text(), "ask_user", v.Get("questions"), place)
		m.result(v.Get("answers"), v.Get("toolCallId").Text(), "ask_user", "", place)
	case "agent":
		id, name := v.Get("agentId").Text(), v.Get("agentType").Str()
		m.call(v, id, name, v.First("initialPrompt", "params"), place)
		outer := m.agent
		m.agent = name
		m.blocks(v.Get("blocks"), place)
		m.agent = outer
		m.result(v.Get("content"), id, name, v.Get("status").Word(), place)
	case "image", "mode-divider", "agent-list", "gate-state":
		m.emit(m.Event(transcript.KindNotice, m.role, typ, v), place, transcript.Uncounted)
	default:
		m.emit(m.Event(transcript.KindUnknown, m.role, typ, v), place, transcript.Uncounted)
	}
}

func (m *message) text(v jsontext.Value, place string) {
	kind, verdict := transcript.KindMessage, transcript.Counted
	switch {
	case v.Get("content").IsBlank():
		kind, verdict = transcript.KindNotice, transcript.Uncounted
	case v.Get("textType").Is("reasoning"):
		kind = transcript.KindReasoning
	}
	m.emit(m.Event(kind, m.role, "text", v), place, verdict)
}

// pathNames and pathLists are the members of a call's input that name files.
var (
	pathNames = []string{"path", "cwd"}
	pathLists = []string{"paths"}
)

func (m *message) call(v jsontext.Value, id, name string, input jsontext.Value, place string) {
	e := m.Event(transcript.KindToolCall, m.role, v.Get("type").Word(), v)
	e.Role = "assistant"
	e.Parts[0].Call = &transcript.Call{ID: id, Name: name, Paths: format.Paths(input, pathNames, pathLists)}
	if input.Exists() {
		e.Parts[0].Call.Input = int64(input.Len())
	}
	m.emit(e, place, transcript.Counted)
}

// result yields the result of a call, if there is one.
func (m *message) result(v jsontext.Value, id, name, status, place string) {
	if v.IsNull() || v.IsString() && v.IsBlank() {
		return
	}
	e := m.Event(transcript.KindToolResult, m.role, "output", v)
	e.Role = "tool"
	res := &transcript.Result{Call: id, Name: name, Status: status, Output: int64(v.Len())}
	if status != "" {
		res.Failed = transcript.True(status == "failed")
	}
	e.Parts[0].Result = res
	m.emit(e, place+"/output", transcript.Counted)
}
