package qwencode

import (
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// mouth is a line while its events are made.
type mouth struct {
	*parser
	line  *line
	again bool
	told  bool
}

// say makes an event of one value of the line.
func (m *mouth) say(v format.Value, kind transcript.Kind, role string) *transcript.Event {
	e := m.event(m.line, kind, role, m.again)
	e.Parts[0] = m.part(v)
	m.told = true
	return e
}

func (m *mouth) part(v format.Value) transcript.Part {
	part := transcript.Part{Text: m.lend.Text(func(b []byte) []byte { return appendText(b, v) })}
	if at := format.OffsetIn(m.line.value, v); at > 0 {
		part.Offset, part.Length = at, int64(v.Len())
	}
	return part
}

// aside gives a line that is no event: it is found.
func (m *mouth) aside(kind transcript.Kind) {
	e := m.say(m.line.value, kind, "")
	e.Verdict, e.ID, e.Global, e.Home = transcript.Uncounted, "", false, false
	e.Attributes.Set("version", m.facts.version)
	m.Emit(e)
}

// typed are the subtypes of what a person said: while the model worked, or by voice.
var typed = map[string]bool{"": true, "mid_turn_user_message": true, "realtime_message": true}

// user gives a prompt, or what the program put in the user's place, which has another subtype.
func (m *mouth) user() {
	said := m.line.message
	if !said.Exists() {
		said = m.line.value
	}
	if !typed[m.line.subtype] {
		m.Emit(m.say(said, transcript.KindSystem, "system"))
		return
	}
	e := m.say(said, transcript.KindMessage, "user")
	if !m.again {
		shown := m.line.sys.Get("displayText").Str()
		for part := range said.Get("parts").Items() {
			if shown != "" {
				break
			}
			shown = strings.TrimSpace(part.Get("text").Str())
		}
		e.Retold = shown
		m.prompted(shown)
	}
	m.Emit(e)
}

// system gives a line that the program says. Every such line is an event.
func (m *mouth) system() {
	kind := transcript.KindSystem
	if m.line.subtype == "chat_compression" {
		kind = transcript.KindCompaction
	}
	m.Emit(m.say(m.line.value, kind, "system"))
}

// piece is one part of a message.
type piece struct {
	value, text, call, response format.Value
	thought                     bool
}

func readPiece(v format.Value) (c piece) {
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

// assistant gives what the model thought, said and called, each an event, and what it took.
func (m *mouth) assistant() {
	for v := range m.line.message.Get("parts").Items() {
		c := readPiece(v)
		switch {
		case c.call.Exists():
			m.call(c)
		case c.thought:
			if c.text.IsString() && c.text.Len() > len(`""`) {
				m.answer(m.say(v, transcript.KindReasoning, "assistant"))
			}
		case !c.text.IsBlank():
			m.answer(m.say(v, transcript.KindMessage, "assistant"))
		case v.IsObject() && !c.text.Exists(): // an image, or what comes next
			e := m.say(v, transcript.KindUnknown, "assistant")
			e.Verdict, e.ID, e.Global, e.Home = transcript.Uncounted, "", false, false
			m.answer(e)
		}
	}
	if !m.told {
		m.aside(transcript.KindNotice)
	}
	m.usage()
}

func (m *mouth) answer(e *transcript.Event) {
	if m.line.model.IsString() {
		e.Model = m.facts.model
	}
	m.Emit(e)
}

func (m *mouth) call(c piece) {
	e := m.say(c.value, transcript.KindToolCall, "assistant")
	args := c.call.Get("args")
	e.Parts[0].Call = &transcript.Call{ID: c.call.Get("id").Text(), Name: c.call.Get("name").Str(), Input: int64(args.Len()), Paths: format.Paths(args, pathNames, pathLists)}
	m.answer(e)
}

// result gives what a tool gave: one event for each line.
func (m *mouth) result() {
	said := m.line.message
	if !said.Exists() {
		said = m.line.value
	}
	e := m.say(said, transcript.KindToolResult, "tool")
	r := &transcript.Result{}
	var response format.Value
	for v := range m.line.message.Get("parts").Items() {
		if c := readPiece(v); c.response.Exists() {
			response = c.response.Get("response")
			r.Call, r.Name, r.Output = c.response.Get("id").Text(), c.response.Get("name").Str(), int64(response.Len())
			break
		}
	}
	var shown format.Value
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
			shown = f
		}
	}
	switch {
	case r.Status == "error", response.Get("error").Exists():
		r.Failed = transcript.Yes
	case r.Status == "success":
		r.Failed = transcript.No
	}
	r.Cut = shown.Get("truncatedForSession").Bool() == transcript.Yes
	e.Parts[0].Result = r
	// What the screen showed is mostly a part of what the model got.
	if m.line.message.Exists() && shown.Exists() {
		if also := m.part(shown); also.Text != "" && !strings.Contains(e.Parts[0].Text, also.Text) {
			e.Parts = append(e.Parts, also)
		}
	}
	m.Emit(e)
}

// The members of an input that name files.
var (
	pathNames = []string{"file_path", "absolute_path", "path", "notebook_path", "dir_path"}
	pathLists = []string{"paths", "file_paths"}
)
