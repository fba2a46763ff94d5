package inspect

import (
	"cmp"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// message yields the events of a message. from says where it was found if it is none of the sample's messages: the role of a model, "events" or "input".
// at is when it was sent, as far as nothing says so more exactly.
func (s *sample) message(m jsontext.Value, from string, at transcript.Time) {
	if !m.IsObject() {
		s.problem("not a message", "a JSON value of another type", s.origin(m))
		return
	}
	content := s.contentOf(m)
	if from == "input" && (s.ids[m.Get("id").Str()] || s.contents[content]) {
		return
	}
	s.contents[content] = true
	w := &writer{sample: s, m: m, from: from}
	w.at = cmp.Or(s.facts[m.Get("id").Str()].at, at)
	w.id = s.idOf(m)
	switch m.Get("role").Word() {
	case "assistant":
		w.answer()
	case "tool":
		w.result()
	default:
		w.said()
	}
	s.note(m)
}

// writer yields the events of one message.
type writer struct {
	*sample
	m      jsontext.Value
	id     string
	from   string
	at     transcript.Time
	blocks int // so far
}

func (w *writer) emit(e *transcript.Event) {
	e.ID = w.id
	if w.blocks > 0 {
		e.ID += "/" + strconv.Itoa(w.blocks)
	}
	w.blocks++
	e.Time = cmp.Or(e.Time, w.at)
	if w.from != "" {
		e.Attributes.Set("from", w.from)
	}
	w.Emit(e)
}

// said yields what the user or the system said: one event, with a part for each block.
func (w *writer) said() {
	role := w.m.Get("role").Word()
	kind := transcript.KindMessage
	if role != "user" {
		kind = transcript.KindSystem
	}
	content := w.m.Get("content")
	if text, ok := w.referred(content); ok {
		w.emit(w.begin(text, kind, role, "text"))
		return
	}
	e := w.begin(w.m, kind, role, "text")
	if content.IsString() {
		e.Parts[0] = w.lend.Part(w.m, content, appendText)
	}
	for n, b := range content.Numbered() {
		part := w.lend.Part(w.m, b, appendText)
		if n == 0 {
			e.Parts[0] = part
		} else {
			e.Parts = append(e.Parts, part)
		}
	}
	w.emit(e)
}

// answer yields the blocks and the calls of an answer.
func (w *writer) answer() {
	model := w.m.Get("model").Str()
	say := func(v jsontext.Value, kind transcript.Kind, typ string) {
		e := w.begin(v, kind, "assistant", typ)
		_, e.Model = modelOf(model)
		w.emit(e)
	}
	if old := w.m.Get("reasoning"); !old.IsBlank() { // January 2025
		say(w.resolved(old), transcript.KindReasoning, "reasoning")
	}
	content := w.m.Get("content")
	if !content.IsBlank() {
		say(w.resolved(content), transcript.KindMessage, "text")
	}
	for b := range content.Items() {
		switch typ := b.Get("type").Word(); typ {
		case "text", "reasoning":
			kind := transcript.KindMessage
			if typ == "reasoning" {
				kind = transcript.KindReasoning
			}
			if text, ok := w.referred(b.Get(typ)); ok {
				say(text, kind, typ)
			} else if typ == "reasoning" || !b.Get(typ).IsBlank() {
				say(b, kind, typ)
			}
		case "tool_use":
			w.serverCall(b)
		default:
			e := w.begin(b, transcript.KindNotice, "assistant", typ)
			e.Verdict = transcript.Uncounted
			w.emit(e)
		}
	}
	for c := range w.m.Get("tool_calls").Items() {
		w.call(c)
	}
	if w.blocks == 0 {
		e := w.begin(w.m, transcript.KindNotice, "assistant", "message")
		e.Verdict = transcript.Uncounted
		w.emit(e)
	}
}

// call yields a call of a tool.
func (w *writer) call(c jsontext.Value) {
	if !c.IsObject() {
		return
	}
	input := c.Get("arguments")
	e := w.begin(c, transcript.KindToolCall, "assistant", "tool_call")
	e.Parts[0].Call = &transcript.Call{
		ID: w.callID(c), Name: c.Get("function").Str(), Input: int64(input.Len()), Paths: format.Paths(input, pathNames, nil),
	}
	e.Attributes.Set("parse_error", c.Get("parse_error").Str())
	w.emit(e)
}

// callID returns the id of a call, or one by its place if it has none.
func (w *writer) callID(c jsontext.Value) string {
	id := c.Get("id").Str()
	if id == "" {
		return "#" + w.id + "/" + strconv.Itoa(w.blocks)
	}
	w.calls[id] = true
	return id
}

// pathNames are the members of a call's input that name files.
var pathNames = []string{"file", "path", "file_path", "filename"}

// serverCall yields a call that the provider made and answered: the call and its result.
func (w *writer) serverCall(b jsontext.Value) {
	id, name := w.callID(b), cmp.Or(b.Get("name").Str(), b.Get("tool_type").Str())
	e := w.begin(b, transcript.KindToolCall, "assistant", "tool_use")
	e.Parts[0].Call = &transcript.Call{ID: id, Name: name, Input: int64(b.Get("arguments").Len())}
	w.emit(e)
	result, failed := b.Get("result"), b.Get("error")
	if w.results[id] = true; !failed.IsNull() {
		result = failed
	}
	if result.IsNull() {
		return
	}
	e = w.begin(result, transcript.KindToolResult, "tool", "tool_use")
	e.Parts[0].Result = &transcript.Result{Call: id, Name: name, Failed: transcript.True(!failed.IsNull()), Output: int64(result.Len())}
	w.emit(e)
}

// result yields the result of a call.
func (w *writer) result() {
	call, content, failed := w.m.Get("tool_call_id").Str(), w.m.Get("content"), w.m.Get("error")
	known := w.facts[call]
	v := w.m
	if text, ok := w.referred(content); ok && failed.IsNull() {
		v = text
	}
	e := w.begin(v, transcript.KindToolResult, "tool", "tool")
	e.Time = known.at
	e.Parts[0].Result = &transcript.Result{
		Call: call, Name: w.m.Get("function").Str(), Failed: transcript.True(failed.IsObject() || known.failed == transcript.Yes),
		Status: failed.Get("type").Str(), Duration: known.duration, Output: int64(content.Len()),
	}
	w.results[call] = true
	w.emit(e)
}
