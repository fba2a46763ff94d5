package autohand

import (
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// conversation is the id of the only conversation in a run.
const conversation = "main"

// message is one line while its events are made.
type message struct {
	*parser
	v    jsontext.Value
	role string
	id   string
	home bool // it was written in this session
	at   transcript.Time
}

// message yields the run, the conversation, and the events of one line.
func (p *parser) message(v jsontext.Value) {
	if !p.Begun {
		p.Begun = true
		p.Emit(&transcript.Run{ID: p.Session, Started: p.created})
		p.Emit(&transcript.Conversation{ID: conversation, Run: p.Session})
	}
	m := &message{parser: p, v: v, role: v.Get("role").Word(), id: format.HashUUID(string(v.Raw())), at: v.Get("timestamp").TimeOrUnix()}
	m.home = !m.at.Valid || !p.created.Valid || m.at.UnixMicro >= p.created.UnixMicro
	content := v.Get("content")
	switch m.role {
	case "user":
		m.text(transcript.KindMessage, content)
		m.TitleFrom(content.Str(), format.PromptRank(m.at))
	case "assistant":
		calls := v.First("toolCalls", "tool_calls")
		if !content.IsBlank() || !calls.HasItems() {
			m.text(transcript.KindMessage, content)
		}
		for n, call := range calls.Numbered() {
			m.call(call, "/"+strconv.Itoa(n))
		}
	case "tool":
		m.result()
	case "system":
		m.text(transcript.KindSystem, content)
	default:
		m.emit(m.Event(transcript.KindUnknown, "", m.role, v), "", transcript.Uncounted)
	}
}

func (m *message) emit(e *transcript.Event, piece string, verdict transcript.Verdict) {
	e.Conversation, e.Run, e.Verdict, e.Time = conversation, m.Session, verdict, m.at
	e.ID, e.Global, e.Home = m.id+piece, true, m.home
	m.Emit(e)
}

// text yields what was said, which the line stands for if it has no content.
func (m *message) text(kind transcript.Kind, content jsontext.Value) {
	verdict := transcript.Counted
	if content.IsNull() || content.IsString() && content.IsBlank() {
		content, kind, verdict = m.v, transcript.KindNotice, transcript.Uncounted
	}
	m.emit(m.Event(kind, m.role, m.role, content), "", verdict)
}

// pathNames are the members of a call's input that name files.
var pathNames = []string{"path", "file_path", "file", "source", "destination"}

// call yields a call of a tool, in the program's form or in that of a provider.
func (m *message) call(v jsontext.Value, piece string) {
	name, input := named(v)
	e := m.Event(transcript.KindToolCall, "assistant", "tool_call", v)
	e.Parts[0].Call = &transcript.Call{
		ID: v.Get("id").Text(), Name: name.Str(), Input: int64(input.Len()), Paths: format.Paths(input.Unwrap(), pathNames, nil),
	}
	m.emit(e, piece, transcript.Counted)
}

// named returns the name of the tool that is called, and its input.
func named(v jsontext.Value) (name, input jsontext.Value) {
	if function := v.Get("function"); function.IsObject() {
		v = function
	}
	return v.First("tool", "name"), v.First("args", "arguments", "input")
}

// result yields what came out of a tool: as a whole, or a piece of it while the tool runs, which comes again then. The program does not say whether it
// failed.
func (m *message) result() {
	if m.v.Get("_meta", "stream").Exists() {
		m.emit(m.Event(transcript.KindNotice, "tool", m.role, m.v), "", transcript.Uncounted)
		return
	}
	e := m.Event(transcript.KindToolResult, "tool", m.role, m.v)
	e.Parts[0].Result = &transcript.Result{
		Call: m.v.Get("tool_call_id").Text(), Name: m.v.Get("name").Str(), Output: int64(m.v.Get("content").Len()),
	}
	m.emit(e, "", transcript.Counted)
}

// textOf returns the text of a piece of a message, or of what is known of a session.
func textOf(v jsontext.Value) string { return jsontext.Appended(appendValue)(v) }

// appendValue appends the text of a piece of a message, from its own bytes: of a call the tool and its input, of a line what it says.
func appendValue(dst []byte, v jsontext.Value) []byte {
	switch name, input := named(v); {
	case v.Get("role").Is("tool"):
		return jsontext.AppendTextAndNumbers(dst, v.Get("content").UnwrapContainer(), visit)
	case v.Get("role").IsString():
		return jsontext.AppendText(dst, v.Get("content"), visit)
	case name.IsString():
		return jsontext.AppendScalars(jsontext.AppendStrings(dst, name), input.UnwrapContainer())
	}
	return jsontext.AppendText(dst, v, visit)
}

func visit(dst []byte, _ int, key string, v jsontext.Value) ([]byte, bool) {
	return dst, key == "type" || key == "mime_type" || v.IsDataURL() || v.IsBase64()
}

// statusOf returns how a session ended.
func statusOf(status string) transcript.Outcome {
	switch status {
	case "active":
		return transcript.Running
	case "completed":
		return transcript.Succeeded
	case "crashed":
		return transcript.Failed
	case "":
		return ""
	}
	return transcript.Other
}
