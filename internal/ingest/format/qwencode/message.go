package qwencode

import (
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// lineEvents is a line while its events are made.
type lineEvents struct {
	*parser
	line      *line
	duplicate bool
	emitted   bool
}

// newEvent returns an event for one value of the line.
func (m *lineEvents) newEvent(v jsontext.Value, kind transcript.Kind, role string) *transcript.Event {
	e := m.event(m.line, kind, role, m.duplicate)
	e.Parts[0] = m.part(v)
	m.emitted = true
	return e
}

func (m *lineEvents) part(v jsontext.Value) transcript.Part {
	part := transcript.Part{Text: m.lend.Text(func(b []byte) []byte { return appendText(b, v) })}
	if at := jsontext.OffsetIn(m.line.value, v); at > 0 {
		part.Offset, part.Length = at, int64(v.Len())
	}
	return part
}

// uncountedRow yields an uncounted event for the line.
func (m *lineEvents) uncountedRow(kind transcript.Kind) {
	e := m.newEvent(m.line.value, kind, "")
	e.Verdict, e.ID, e.Global, e.Home = transcript.Uncounted, "", false, false
	e.Attributes.Set("version", m.facts.version)
	m.Emit(e)
}

// promptSubtypes are the subtypes of the user's own messages: sent while the model worked, or by voice.
var promptSubtypes = map[string]bool{"": true, "mid_turn_user_message": true, "realtime_message": true}

// user yields a prompt, or a message of another subtype, which Qwen Code injected.
func (m *lineEvents) user() {
	content := m.line.message
	if !content.Exists() {
		content = m.line.value
	}
	if !promptSubtypes[m.line.subtype] || m.line.value.Get("externalInputKind").Is("notification") {
		m.Emit(m.newEvent(content, transcript.KindSystem, "system"))
		return
	}
	e := m.newEvent(content, transcript.KindMessage, "user")
	if !m.duplicate {
		text := m.line.sys.Get("displayText").Str()
		for part := range content.Get("parts").Items() {
			if text != "" {
				break
			}
			text = strings.TrimSpace(part.Get("text").Str())
		}
		e.Retold = text
		m.setTitleFrom(text)
	}
	m.Emit(e)
}

// system yields a line of type system. Every such line is an event.
func (m *lineEvents) system() {
	kind := transcript.KindSystem
	if m.line.subtype == "chat_compression" {
		kind = transcript.KindCompaction
	}
	m.Emit(m.newEvent(m.line.value, kind, "system"))
}

// messagePart is one part of a message.
type messagePart struct {
	value, text, call, response jsontext.Value
	thought                     bool
}

func readPart(v jsontext.Value) (c messagePart) {
	c.value = v
	for key, f := range v.Fields() {
		switch key {
		case "text":
			c.text = f
		case "thought":
			c.thought = f.Bool() == transcript.Yes
		case "functionCall":
			c.call = f
		case "functionResponse":
			c.response = f
		}
	}
	return c
}

// assistant yields the reasoning, texts and calls of an answer, each as an event, and its usage.
func (m *lineEvents) assistant() {
	for v := range m.line.message.Get("parts").Items() {
		c := readPart(v)
		switch {
		case c.call.Exists():
			m.call(c)
		case c.thought:
			if c.text.IsString() && c.text.Len() > len(`""`) {
				m.emitAssistant(m.newEvent(v, transcript.KindReasoning, "assistant"))
			}
		case !c.text.IsBlank():
			m.emitAssistant(m.newEvent(v, transcript.KindMessage, "assistant"))
		case v.IsObject() && !c.text.Exists(): // an image, or a kind of part not yet known
			e := m.newEvent(v, transcript.KindUnknown, "assistant")
			e.Verdict, e.ID, e.Global, e.Home = transcript.Uncounted, "", false, false
			m.emitAssistant(e)
		}
	}
	if !m.emitted {
		m.uncountedRow(transcript.KindNotice)
	}
	m.usage()
}

func (m *lineEvents) emitAssistant(e *transcript.Event) {
	if m.line.model.IsString() {
		e.Model = m.facts.model
	}
	m.Emit(e)
}

func (m *lineEvents) call(c messagePart) {
	e := m.newEvent(c.value, transcript.KindToolCall, "assistant")
	args := c.call.Get("args")
	e.Parts[0].Call = &transcript.Call{ID: c.call.Get("id").Text(), Name: c.call.Get("name").Str(), Input: int64(args.Len()), Paths: format.Paths(args, pathNames, pathLists)}
	m.emitAssistant(e)
}

// result yields a tool result, one event for each line.
func (m *lineEvents) result() {
	content := m.line.message
	if !content.Exists() {
		content = m.line.value
	}
	e := m.newEvent(content, transcript.KindToolResult, "tool")
	r := &transcript.Result{}
	var response jsontext.Value
	for v := range m.line.message.Get("parts").Items() {
		if c := readPart(v); c.response.Exists() {
			response = c.response.Get("response")
			r.Call, r.Name, r.Output = c.response.Get("id").Text(), c.response.Get("name").Str(), int64(response.Len())
			break
		}
	}
	var display jsontext.Value
	for key, f := range m.line.result.Fields() {
		switch key {
		case "callId":
			if r.Call == "" {
				r.Call = f.Text()
			}
		case "status":
			r.Status = f.Str()
		case "durationMs":
			if n, ok := f.Int(); ok && n >= 0 && n < 1<<50 {
				r.Duration = transcript.Known(n * 1000)
			}
		case "resultDisplay":
			display = f
		}
	}
	switch {
	case r.Status == "error", response.Get("error").Exists():
		r.Failed = transcript.Yes
	case r.Status == "success":
		r.Failed = transcript.No
	}
	r.Cut = display.Get("truncatedForSession").Bool() == transcript.Yes
	e.Parts[0].Result = r
	// What was displayed is mostly a part of the output.
	if m.line.message.Exists() && display.Exists() {
		if more := m.part(display); more.Text != "" && !strings.Contains(e.Parts[0].Text, more.Text) {
			e.Parts = append(e.Parts, more)
		}
	}
	m.Emit(e)
}

// The members of a call's input that name files.
var (
	pathNames = []string{"file_path", "absolute_path", "path", "notebook_path", "dir_path"}
	pathLists = []string{"paths", "file_paths"}
)
