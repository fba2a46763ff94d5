package claudecode

import (
	"bytes"
	"cmp"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

func itoa(n int) string { return strconv.Itoa(n) }

// say gives the events of a line of type user or assistant: one for what a user said in it, one for each block of all
// else.
func (r *reader) say(l *line, m message, again bool) {
	s := &r.saying
	*s = saying{reader: r, line: l, message: m, again: again, events: s.events[:0]}
	switch {
	case m.content.IsString():
		s.whole(m.content)
	case m.content.IsArray():
		for item := range m.content.Items() {
			s.block(readBlock(item))
		}
	}
	for _, e := range s.events {
		if e.Verdict == transcript.Uncounted {
			r.uncounted(e)
		} else {
			r.give(e)
		}
	}
	if len(s.events) == 0 { // nothing in it that counts
		e := r.event(l, again)
		e.Kind, e.Parts[0].Text = transcript.KindNotice, r.text(l.raw)
		r.uncounted(e)
	}
	if !again {
		s.mentioned()
	}
	r.copiedFrom(l)
}

// saying is a line while its events are made.
type saying struct {
	*reader
	line    *line
	message message
	again   bool
	events  []*transcript.Event
	user    *transcript.Event // what a user said in this line
}

// add makes an event of one value of the line.
func (s *saying) add(v format.Value, kind transcript.Kind, role string) *transcript.Event {
	e := s.event(s.line, s.again)
	e.Kind, e.Role = kind, role
	e.Parts[0] = s.part(v)
	if s.line.kind == "assistant" {
		if model := s.message.model; model.IsString() && !model.Is("<synthetic>") {
			s.facts.model = again(s.facts.model, model)
			e.Model = s.facts.model
		}
		if s.line.apiError {
			e.Attributes.Set("api_error", true)
		}
		if stop := s.message.stop; stop.IsString() {
			e.Attributes.Set("stop_reason", stop.Str())
		}
	}
	s.events = append(s.events, e)
	return e
}

func (s *saying) part(v format.Value) transcript.Part {
	return transcript.Part{Text: s.text(v), Offset: format.OffsetIn(s.line.raw, v), Length: int64(v.Len())}
}

// whole takes a message that is one string. Only users' count: assistants write blocks.
func (s *saying) whole(v format.Value) {
	switch {
	case v.IsBlank():
	case s.line.kind == "user":
		s.prompt(v)
	default:
		s.add(v, transcript.KindMessage, "assistant").Verdict = transcript.Uncounted
	}
}

// prompt joins the texts and images of a line of type user to one event.
func (s *saying) prompt(v format.Value) {
	if s.user != nil {
		s.user.Parts = append(s.user.Parts, s.part(v))
		s.titled(v)
		return
	}
	kind, role := transcript.KindMessage, "user"
	switch {
	case s.line.compact:
		kind, role = transcript.KindCompaction, "system"
	case s.line.injected(), notifies(v):
		kind, role = transcript.KindSystem, "system"
	}
	s.user = s.add(v, kind, role)
	s.user.Type = "user"
	s.titled(v)
}

// notifies says that a prompt tells of the end of a task.
func notifies(v format.Value) bool {
	if v.IsObject() {
		v = v.Get("text")
	}
	return v.IsString() && bytes.HasPrefix(v.Raw()[1:], []byte(taskNotice))
}

// titled takes the words of a prompt for a title, of whichever block has the first: an image may stand before them.
func (s *saying) titled(v format.Value) {
	if s.user.Role != "user" || s.again {
		return
	}
	if words := v.Get("text"); v.IsString() || words.IsString() {
		text := s.user.Parts[len(s.user.Parts)-1].Text
		s.user.Retold = cmp.Or(s.user.Retold, text)
		s.facts.prompted(text)
	}
}

func (s *saying) block(b block) {
	switch b.kind {
	case "text":
		switch {
		case s.line.kind == "user":
			s.prompt(b.raw)
		case !b.text.IsBlank():
			s.add(b.raw, transcript.KindMessage, "assistant").Type = b.kind
		}
	case "image":
		if s.line.kind == "user" {
			s.prompt(b.raw)
		} else {
			s.other(b)
		}
	case "thinking", "redacted_thinking":
		s.add(b.raw, transcript.KindReasoning, "assistant").Type = b.kind
	case "tool_use", "server_tool_use":
		s.call(b)
	case "tool_result":
		s.result(b)
	default:
		s.other(b)
	}
}

// other is a block of a type that is not counted: documents, results of tools that ran on the server, what comes next.
func (s *saying) other(b block) {
	e := s.add(b.raw, transcript.KindUnknown, s.line.kind)
	e.Verdict = transcript.Uncounted
	if kind := blockKinds[b.kind]; kind != "" {
		e.Kind = kind
	}
	if b.kind != "" {
		e.Type = b.kind
	}
	if b.answers.IsString() {
		e.Kind, e.Role = transcript.KindToolResult, "tool"
	}
}

// blockKinds are what blocks of other types are that are known.
var blockKinds = map[string]transcript.Kind{
	"document": transcript.KindNotice, "container_upload": transcript.KindNotice, "fallback": transcript.KindLifecycle,
	"compaction": transcript.KindCompaction,
}

func (s *saying) call(b block) {
	e := s.add(b.raw, transcript.KindToolCall, "assistant")
	e.Type = b.kind
	made := &transcript.Call{ID: id(b.id), Name: b.name.Str(), Input: int64(b.input.Len()), Paths: paths(b.input)}
	e.Parts[0].Call = made
	if made.ID == "" {
		if !s.again {
			s.unnamed++
		}
		made.ID = "#" + itoa(s.unnamed)
		return
	}
	if _, known := s.calls[made.ID]; known {
		repeat(e)
	} else if !s.again {
		s.calls[made.ID] = made.Name
		s.asks(e, made, b.input)
	}
}

func (s *saying) result(b block) {
	e := s.add(b.raw, transcript.KindToolResult, "tool")
	e.Type = b.kind
	made := &transcript.Result{Call: id(b.answers), Failed: transcript.No}
	if b.isError.Bool() == transcript.Yes {
		made.Failed = transcript.Yes
	}
	if !b.content.IsNull() {
		made.Output = int64(b.content.Len())
	}
	e.Parts[0].Result = made
	switch {
	case made.Call == "":
		if !s.again && s.replied < s.unnamed {
			s.replied++
		}
		if s.replied > 0 {
			made.Call = "#" + itoa(s.replied)
		}
	case s.results[made.Call]:
		repeat(e)
	case !s.again:
		s.results[made.Call] = true
	}
	made.Name = s.calls[made.Call]
	s.details(b, e, made)
}

// repeat marks what this file told before under another uuid.
func repeat(e *transcript.Event) {
	e.Verdict, e.ID, e.Global, e.Home = transcript.DuplicateOf, "", false, false
}

// mentioned links the sub-agent of a toolUseResult that no result in its line took.
func (s *saying) mentioned() {
	agent := s.line.result.Get("agentId").Str()
	if agent == "" {
		return
	}
	event := ""
	if len(s.events) > 0 {
		event = s.events[0].ID
	}
	s.agents[agent] = true
	s.child(s.line, agent, event, "")
}

// details takes what toolUseResult adds to a result: it belongs to the first of a line.
func (s *saying) details(b block, e *transcript.Event, made *transcript.Result) {
	copied := s.line.result
	if !copied.Exists() {
		return
	}
	s.line.result = format.Value{}
	for key, value := range copied.Fields() {
		switch key {
		case "agentId":
			s.spawned(value.Str(), made.Call)
		case "interrupted":
			if value.Bool() == transcript.Yes {
				made.Status = "interrupted"
			}
		case "status":
			made.Status = value.Str()
		case "totalDurationMs", "durationMs":
			if n, ok := value.Int(); ok && n >= 0 && n < 1<<50 {
				made.Duration = transcript.Known(n * 1000)
			}
		case "truncated":
			made.Cut = made.Cut || value.Bool() == transcript.Yes
		case "persistedOutputPath":
			if value.IsString() {
				made.Cut = true
				e.Attributes.Set("persisted_output", value.Str())
			}
		}
	}
	if extra(copied, b.raw) {
		part := s.part(copied)
		if part.Text != "" {
			part.Kind = transcript.KindToolResult
			e.Parts = append(e.Parts, part)
		}
	}
}

// paths gives the files that an input names.
func paths(input format.Value) []string {
	var all []string
	for key, value := range input.Fields() {
		switch key {
		case "file_path", "path", "notebook_path", "filePath":
			if value.IsString() && value.Len() > 2 {
				all = append(all, value.Str())
			}
		}
	}
	return all
}
