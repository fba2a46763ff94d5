package crush

import (
	"cmp"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// message is one message while its events are made.
type message struct {
	*parser
	id      string
	role    string
	model   string
	at      transcript.Time
	summary bool // of what came before, for the model to go on from
	number  int  // of the part
	n       int  // events so far
	stop    string
}

// message yields the events of one message: one for each part, except the last one, which says why the message ended.
func (p *parser) message(v jsontext.Value) {
	m := &message{parser: p, id: v.Get("id").Text(), role: v.Get("role").Word(), at: parseTime(v.Get("created_at"))}
	m.model = cmp.Or(v.Get("prism_model_id").Str(), v.Get("model").Str()) // a router's model is not the one that answered
	if n, _ := v.Get("is_summary_message").Int(); n != 0 {
		m.summary = true
	}
	parts := v.Get("parts")
	if !parts.IsArray() {
		m.emit(m.Event(transcript.KindUnknown, m.role, "", p.Row.Value), transcript.Uncounted)
		return
	}
	for part := range parts.Items() {
		if part.Get("type").Is("finish") {
			m.stop = part.Get("data", "reason").Str()
		}
	}
	for part := range parts.Items() {
		m.part(part)
		m.number++
	}
	if m.n == 0 {
		m.emit(m.Event(transcript.KindNotice, m.role, "", p.Row.Value), transcript.Uncounted)
	}
}

func (m *message) emit(e *transcript.Event, verdict transcript.Verdict) {
	e.Conversation, e.Run, e.Verdict, e.Time, e.Model = conversation, m.Session, verdict, m.at, m.model
	if m.id != "" {
		e.ID = m.id + "/" + strconv.Itoa(m.number)
		if e.Type == typeShell && e.Kind == transcript.KindToolResult {
			e.ID += "/output"
		}
		e.Global, e.Home = format.IsUUID(m.id), true
	}
	if m.role == "assistant" {
		e.Attributes.Set("stop_reason", m.stop)
	}
	if m.summary {
		e.Attributes.Set("summary", true)
	}
	m.n++
	m.Emit(e)
}

// typeShell is a command that the user ran, with its output.
const typeShell = "shell_command"

func (m *message) part(v jsontext.Value) {
	typ, data := v.Get("type").Word(), v.Get("data")
	switch typ {
	case "text":
		m.text(typ, v)
	case "reasoning":
		e := m.Event(transcript.KindReasoning, m.role, typ, v)
		e.Role = "assistant"
		if data.Get("thinking").IsBlank() { // only a signature
			e.Kind = transcript.KindNotice
			m.emit(e, transcript.Uncounted)
			return
		}
		m.emit(e, transcript.Counted)
	case "tool_call":
		e := m.Event(transcript.KindToolCall, m.role, typ, v)
		e.Role = "assistant"
		input := data.Get("input")
		e.Parts[0].Call = &transcript.Call{ID: data.Get("id").Text(), Name: data.Get("name").Str(), Input: int64(input.Len()), Paths: format.Paths(input.Inside(), pathNames, nil)}
		m.emit(e, transcript.Counted)
	case "tool_result":
		e := m.Event(transcript.KindToolResult, m.role, typ, v)
		e.Role = "tool"
		e.Parts[0].Result = &transcript.Result{
			Call: data.Get("tool_call_id").Text(), Name: data.Get("name").Str(), Failed: data.Get("is_error").Bool(), Output: int64(data.Get("content").Len()),
		}
		m.emit(e, transcript.Counted)
	case typeShell:
		m.shell(v)
	case "finish":
		m.finish(v)
	case "image_url", "binary":
		m.emit(m.Event(transcript.KindNotice, m.role, typ, v), transcript.Uncounted)
	default:
		m.emit(m.Event(transcript.KindUnknown, m.role, typ, v), transcript.Uncounted)
	}
}

// pathNames are the members of a call's input that name files.
var pathNames = []string{"file_path", "path", "filePath"}

func (m *message) text(typ string, v jsontext.Value) {
	e := m.Event(transcript.KindMessage, m.role, typ, v)
	if v.Get("data", "text").IsBlank() {
		e.Kind = transcript.KindNotice
		m.emit(e, transcript.Uncounted)
		return
	}
	hidden := v.Get("data", "hidden").Bool() == transcript.Yes
	if hidden {
		e.Attributes.Set("hidden", true)
	}
	if hidden || m.summary || m.role != "user" && m.role != "assistant" {
		e.Kind, e.Role = transcript.KindSystem, "system"
	}
	m.emit(e, transcript.Counted)
	if e.Role == "user" {
		m.TitleFrom(v.Get("data", "text").Str(), format.PromptRank(m.at))
	}
}

// shell yields a command that the user ran as a call with its result.
func (m *message) shell(v jsontext.Value) {
	const name = "bash"
	data, call := v.Get("data"), m.id+"/"+strconv.Itoa(m.number)
	command, output := data.Get("command"), data.Get("output")
	if !command.Exists() || !output.Exists() {
		m.emit(m.Event(transcript.KindUnknown, m.role, typeShell, v), transcript.Uncounted)
		return
	}
	e := m.Event(transcript.KindToolCall, m.role, typeShell, command)
	e.Parts[0].Call = &transcript.Call{ID: call, Name: name, Input: int64(command.Len())}
	m.emit(e, transcript.Counted)
	e = m.Event(transcript.KindToolResult, m.role, typeShell, output)
	e.Role = "tool"
	res := &transcript.Result{Call: call, Name: name, Output: int64(output.Len())}
	if n, ok := data.Get("exit_code").Int(); ok {
		res.Failed = transcript.True(n != 0)
	}
	e.Parts[0].Result = res
	m.emit(e, transcript.Counted)
}

// finish yields why a message ended, if that says more than that it did.
func (m *message) finish(v jsontext.Value) {
	kind := transcript.KindNotice
	switch m.stop {
	case "error", "content_filter":
		kind = transcript.KindError
	case "canceled":
	default:
		if v.Get("data", "message").IsBlank() && v.Get("data", "details").IsBlank() {
			return
		}
	}
	m.emit(m.Event(kind, m.role, "finish", v), transcript.Uncounted)
}
