package ollama

import (
	"bytes"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// row yields the records of one row of a database.
func (p *parser) row(v jsontext.Value) {
	table, id := v.Get("table").Word(), v.Get("chat_id").Text()
	if table == tableChat {
		id = v.Get("id").Text()
	}
	if id == "" {
		p.NoSession()
		return
	}
	if id != p.Session {
		p.emitModel()
	}
	p.Begin(id)
	switch table {
	case tableChat:
		p.chat(v)
	case tableMessage:
		p.emitConversation()
		p.message(v)
	case tableAttachment:
		p.NameRun()
		p.Uncounted(transcript.KindNotice, "attachment", v.Get("created_at").Time())
	default:
		p.NameRun()
		p.Uncounted(transcript.KindUnknown, table, transcript.Time{})
	}
}

// chat yields what is known of a chat. It does not by itself make a run that counts: messages are another original. The title is the user's: the
// app shows the first prompt of chats that have none.
func (p *parser) chat(v jsontext.Value) {
	title, started := format.Title(v.Get("title").Str()), v.Get("created_at").Time()
	p.Emit(&transcript.Run{ID: p.Session, Named: !p.Begun, Title: title, Started: started})
	p.Titled, p.Named = title != "", true
	p.Uncounted(transcript.KindLifecycle, "chat", started)
}

// message is one message while its events are made.
type message struct {
	*parser
	v     jsontext.Value
	role  string
	at    transcript.Time
	id    string
	model string
	n     int // events so far
}

// message yields the events of one message: the reasoning, the text and each call.
func (p *parser) message(v jsontext.Value) {
	m := &message{parser: p, v: v, role: v.Get("role").Word(), at: v.Get("created_at").Time()}
	m.identify()
	if m.role == "assistant" {
		m.model = v.Get("model_name").Str()
	}
	if m.role == "tool" {
		m.result()
		return
	}
	calls := v.Get("calls")
	if m.role == "user" || calls.HasItems() {
		p.open = nil
	}
	m.reasoning()
	m.text()
	for n, item := range calls.Numbered() {
		m.call(n+1, item)
	}
	switch {
	case m.n == 0: // an answer that never began
		m.emit(m.Event(transcript.KindNotice, m.role, "", p.Row.Value), "", transcript.Uncounted)
	case m.model != "":
		p.models[m.model] = true
	}
}

// identify gives a message its id.
func (m *message) identify() {
	if !m.at.Valid {
		return
	}
	m.id = m.Session + "/" + strconv.FormatInt(m.at.UnixMicro, 10) + "/" + m.role
	if m.seen[m.id]++; m.seen[m.id] > 1 {
		m.id += "#" + strconv.Itoa(m.seen[m.id])
	}
}

// emit yields an event of the message; piece says which, whatever other pieces the message gets while it is received.
func (m *message) emit(e *transcript.Event, piece string, verdict transcript.Verdict) {
	e.Conversation, e.Run, e.Verdict, e.Time, e.Model = conversation, m.Session, verdict, m.at, m.model
	if m.id != "" {
		e.ID, e.Global, e.Home = m.id+piece, true, true
	}
	m.n++
	m.Emit(e)
}

func (m *message) reasoning() {
	thinking := m.v.Get("thinking")
	if thinking.IsBlank() {
		return
	}
	e := m.Event(transcript.KindReasoning, m.role, "thinking", thinking)
	begin, end := m.v.Get("thinking_time_start").Time(), m.v.Get("thinking_time_end").Time()
	if begin.Valid && end.Valid && end.UnixMicro >= begin.UnixMicro {
		e.Attributes.Set("thinking_ms", (end.UnixMicro-begin.UnixMicro)/1000)
	}
	m.emit(e, "/thinking", transcript.Counted)
}

func (m *message) text() {
	content := m.v.Get("content")
	if content.IsBlank() {
		return
	}
	e := m.Event(transcript.KindMessage, m.role, "", content)
	if m.role != "user" && m.role != "assistant" {
		e.Kind, e.Role = transcript.KindSystem, "system"
	}
	m.emit(e, "", transcript.Counted)
	if m.role == "user" {
		m.TitleFrom(content.Str(), format.PromptRank(m.at))
	}
}

// call is a call of a tool. Calls have no ids, so that they get numbers.
type call struct{ id, name string }

// pathNames are the members of a call's input that name files.
var pathNames = []string{"path", "file_path"}

func (m *message) call(n int, v jsontext.Value) {
	piece := "/" + strconv.Itoa(n)
	if !v.Get("function_name").IsString() {
		m.emit(m.Event(transcript.KindUnknown, m.role, "", v), piece, transcript.Uncounted)
		return
	}
	m.calls++
	c := call{id: "#" + strconv.Itoa(m.calls), name: v.Get("function_name").Str()}
	input := v.Get("function_arguments")
	e := m.Event(transcript.KindToolCall, m.role, v.Get("type").Str(), v)
	e.Parts[0].Call = &transcript.Call{ID: c.id, Name: c.name, Input: int64(input.Len()), Paths: format.Paths(input.Unwrap(), pathNames, nil)}
	m.emit(e, piece, transcript.Counted)
	output := v.Get("function_result")
	if output.IsNull() {
		m.open = append(m.open, c)
		return
	}
	e = m.Event(transcript.KindToolResult, m.role, "", output)
	e.Role = "tool"
	e.Parts[0].Result = &transcript.Result{Call: c.id, Name: c.name, Output: int64(output.Len())}
	m.emit(e, piece+"/result", transcript.Counted)
}

// result yields a message of a tool: the result of the first call of the last answer with calls that has none yet. Of more results than calls, the
// app has recorded only what they returned.
func (m *message) result() {
	content, data := m.v.Get("content"), m.v.Get("tool_result")
	output := content
	if content.IsBlank() && !data.IsNull() {
		output = data
	}
	if !output.Exists() {
		m.emit(m.Event(transcript.KindNotice, m.role, "", m.Row.Value), "", transcript.Uncounted)
		return
	}
	e := m.Event(transcript.KindToolResult, m.role, "", output)
	res := &transcript.Result{Name: m.v.Get("tool_name").Str(), Failed: m.failed(content), Output: int64(output.Len())}
	if len(m.open) > 0 {
		res.Call, res.Name = m.open[0].id, m.open[0].name
		m.open = m.open[1:]
	}
	e.Parts[0].Result = res
	m.emit(e, "", transcript.Counted)
	if (data.IsObject() || data.IsArray()) && !content.IsBlank() { // what the app shows of it
		m.emit(m.Event(transcript.KindNotice, m.role, "tool_result", data), "/data", transcript.Uncounted)
	}
}

// failed reports whether a tool failed: then there is a message that says so, and no data.
func (m *message) failed(content jsontext.Value) transcript.Truth {
	if n, ok := m.v.Get("returned").Int(); ok && n != 0 {
		return transcript.No
	}
	if bytes.HasPrefix(content.Body(), []byte("Error: ")) {
		return transcript.Yes
	}
	return transcript.Unstated
}
