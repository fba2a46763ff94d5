package jan

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/layer"
	"github.com/txarchive/txarchive/internal/transcript"
)

// parser is one parse of one file.
type parser struct {
	format.Rows
	shown map[string]bool // messages; nil if all are
}

// conversation is the id of the only conversation in a thread.
const conversation = "main"

// messages yields the messages of a thread. The file is read twice: which of them are shown is known at its end.
func (p *parser) messages(in format.Input) {
	file, err := format.ReadAll(in.Reader, format.DocumentLimit)
	switch {
	case errors.Is(err, layer.ErrTooLarge):
		p.SessionProblem(&transcript.Problem{Kind: "too large", Reason: fmt.Sprintf("more than %d bytes", format.DocumentLimit)})
		return
	case err != nil:
		p.Fail(err)
		return
	}
	run := transcript.Run{ID: p.Session, Rank: rankMessages, Named: true}
	var nodes []node
	for o := range p.Each(jsontext.Objects(bytes.NewReader(file), "", func(*transcript.Problem) {})) {
		run.Named = false
		format.Extend(&run.Started, &run.Ended, timeOf(o.Value.Get("created_at")))
		format.Extend(&run.Started, &run.Ended, timeOf(o.Value.Get("completed_at")))
		nodes = append(nodes, nodeOf(o.Value))
	}
	p.shown = shown(nodes)
	// A thread without messages does not count; when they were deleted, it replaces what it was before.
	p.Begun = !run.Named
	p.Emit(&run)
	p.Emit(&transcript.Conversation{ID: conversation, Run: run.ID, Silent: run.Named, Started: run.Started, Ended: run.Ended})
	p.EachRow(bytes.NewReader(file), p.message)
}

// message is one message while its events are made.
type message struct {
	*parser
	id    string
	role  string
	at    transcript.Time
	off   bool // it is not shown
	count int  // events so far
}

// message yields the events of one message, and what it used.
func (p *parser) message(v jsontext.Value) {
	n := nodeOf(v)
	m := &message{
		parser: p, id: cmp.Or(n.id, fmt.Sprintf("line %d", p.Row.Origin.Line)), role: v.Get("role").Word(), at: n.at,
		off: p.shown != nil && n.parent.stated && !p.shown[n.id],
	}
	metadata := v.Get("metadata")
	if content := v.Get("content"); content.IsString() {
		m.say(content, content, "text")
	} else {
		for piece := range content.Items() {
			m.piece(piece, v)
		}
	}
	for called := range metadata.Get("tool_calls").Items() {
		tool := called.Get("tool")
		if !tool.IsObject() {
			m.emit(m.Event(transcript.KindUnknown, m.role, "tool_calls", called), transcript.Uncounted)
			continue
		}
		asks := tool.Get("function")
		m.call(tool, tool.Get("id").Text(), asks.Get("name").Word(), asks.Get("arguments"), called.Get("response"))
	}
	for _, key := range []string{"inline_file_contents", "error", "oomError", "backendError", "contextError"} {
		if beside := metadata.Get(key); beside.Exists() && textOf(beside) != "" {
			m.emit(m.Event(transcript.KindNotice, "system", key, beside), transcript.Uncounted)
		}
	}
	if m.count == 0 { // an answer that was stopped before it began, or of another layout
		kind := transcript.KindNotice
		if !v.Get("content").IsArray() && !v.Get("content").IsString() {
			kind = transcript.KindUnknown
		}
		m.emit(m.Event(kind, m.role, m.role, v), transcript.Uncounted)
	}
	m.usage(metadata, n)
}

// piece yields the events of a piece of content.
func (m *message) piece(v, message jsontext.Value) {
	switch typ := v.Get("type").Word(); typ {
	case "text":
		if m.role == "tool" {
			m.result(v, message.Get("tool_call_id").Text(), "", v.Get("text", "value").Len())
			return
		}
		m.say(v, v.Get("text", "value"), typ)
	case "reasoning":
		if !v.Get("text", "value").IsBlank() {
			m.emit(m.Event(transcript.KindReasoning, m.role, typ, v), transcript.Counted)
		}
	case "tool_call":
		m.call(v, v.Get("tool_call_id").Text(), v.Get("tool_name").Word(), v.Get("input"), v.Get("output"))
	case "image_url", "image", "pdf", "input_audio", "input_video":
		m.emit(m.Event(transcript.KindNotice, m.role, typ, v), transcript.Uncounted)
	default:
		m.emit(m.Event(transcript.KindUnknown, m.role, typ, v), transcript.Uncounted)
	}
}

// kinds are those of what is said in a role.
var kinds = map[string]transcript.Kind{
	"user": transcript.KindMessage, "assistant": transcript.KindMessage, "system": transcript.KindSystem,
}

// say yields what was said.
func (m *message) say(v, text jsontext.Value, typ string) {
	kind, known := kinds[m.role]
	switch {
	case text.IsBlank():
	case !known:
		m.emit(m.Event(transcript.KindUnknown, m.role, typ, v), transcript.Uncounted)
	default:
		if m.role == "user" && !m.off {
			m.TitleFrom(text.Str(), format.PromptRank(m.at))
		}
		m.emit(m.Event(kind, m.role, typ, v), transcript.Counted)
	}
}

// pathNames and pathLists are the members of a call's input that name files.
var (
	pathNames = []string{"path", "file_path", "filename", "source", "destination"}
	pathLists = []string{"paths"}
)

// call yields a call, and its result if there is one.
func (m *message) call(v jsontext.Value, id, name string, input, output jsontext.Value) {
	e := m.Event(transcript.KindToolCall, m.role, "tool_call", v)
	e.Parts[0].Call = &transcript.Call{
		ID: id, Name: name, Input: int64(input.Len()), Paths: format.Paths(input.UnwrapContainer(), pathNames, pathLists),
	}
	m.emit(e, transcript.Counted)
	if output.Exists() && !output.IsNull() {
		m.result(output, id, name, output.Len())
	}
}

// result yields what a call returned. Whether it has failed is only stated of the calls of earlier versions.
func (m *message) result(v jsontext.Value, call, name string, length int) {
	e := m.Event(transcript.KindToolResult, "tool", "tool_result", v)
	r := &transcript.Result{Call: call, Name: name, Output: int64(length)}
	if v.Get("isError").Bool() == transcript.Yes || v.Get("error").IsString() && !v.Get("error").IsBlank() {
		r.Failed = transcript.Yes
	}
	e.Parts[0].Result = r
	m.emit(e, transcript.Counted)
}

// emit yields an event of the message.
func (m *message) emit(e *transcript.Event, verdict transcript.Verdict) {
	e.Conversation, e.Run, e.Verdict, e.Time = conversation, m.Session, verdict, m.at
	m.count++
	e.ID = fmt.Sprintf("%s/%d", m.id, m.count)
	if m.off {
		e.Attributes.Set("off_path", true)
	}
	m.Emit(e)
}
