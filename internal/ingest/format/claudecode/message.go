package claudecode

import (
	"cmp"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// message yields the events of a line of type user or assistant: one for the user's text in it, one for each other block.
func (r *reader) message(l *line, m message, repeated bool) {
	s := &r.msg
	*s = messageReader{reader: r, line: l, message: m, repeated: repeated, events: s.events[:0]}
	switch {
	case m.content.IsString():
		s.stringContent(m.content)
	case m.content.IsArray():
		for item := range m.content.Items() {
			s.block(readBlock(item))
		}
	}
	for _, e := range s.events {
		if e.Verdict == transcript.Uncounted {
			r.emitUncounted(e)
		} else {
			r.emit(e)
		}
	}
	if len(s.events) == 0 { // nothing in it counts
		e := r.event(l, repeated)
		e.Kind, e.Parts[0].Text = transcript.KindNotice, r.text(l.raw)
		r.emitUncounted(e)
	}
	if !repeated {
		s.linkMentioned()
	}
	r.linkCopySource(l)
}

// messageReader holds a line while its events are made.
type messageReader struct {
	*reader
	line     *line
	message  message
	repeated bool
	stopped  string // why, once the first of its events was made
	events   []*transcript.Event
	user     *transcript.Event // the user's text in this line
}

// add appends an event for one value of the line.
func (s *messageReader) add(v jsontext.Value, kind transcript.Kind, role string) *transcript.Event {
	e := s.event(s.line, s.repeated)
	e.Kind, e.Role = kind, role
	e.Parts[0] = s.part(v)
	if s.line.kind == "assistant" {
		if model := s.message.model; model.IsString() && !model.Is("<synthetic>") {
			e.Model = reuse(s.facts.model, model)
			if !s.line.isInlined() {
				s.facts.model = e.Model
			}
		}
		if s.line.apiError {
			e.Attributes.Set("api_error", true)
		}
		if s.stopped == "" {
			s.stopped = s.message.stop.Word()
		}
		e.Attributes.Set("stop_reason", s.stopped)
		if s.fork.inside && !s.repeated {
			markCopied(e)
		}
	}
	s.events = append(s.events, e)
	return e
}

func (s *messageReader) part(v jsontext.Value) transcript.Part {
	return jsontext.PartIn(s.line.raw, v, s.text(v))
}

// stringContent adds a message whose content is one string. Only a user's counts: assistants write blocks.
func (s *messageReader) stringContent(v jsontext.Value) {
	switch {
	case v.IsBlank():
	case s.line.kind == "user":
		s.prompt(v)
	default:
		s.add(v, transcript.KindMessage, "assistant").Verdict = transcript.Uncounted
	}
}

// prompt joins the texts and images of a line of type user into one event. It is the user's if one of them is.
func (s *messageReader) prompt(v jsontext.Value) {
	if s.user != nil {
		s.user.Parts = append(s.user.Parts, s.part(v))
		if !s.line.compact && !s.line.injected() && isTyped(v) {
			s.user.Kind, s.user.Role = transcript.KindMessage, "user"
		}
		s.noteTitle(v)
		return
	}
	kind, role := transcript.KindMessage, "user"
	switch {
	case s.line.compact:
		kind, role = transcript.KindCompaction, "system"
	case s.line.injected(), !isTyped(v):
		kind, role = transcript.KindSystem, "system"
	}
	s.user = s.add(v, kind, role)
	s.user.Type = "user"
	if role == "system" && !s.repeated {
		s.facts.noteTask(s.user.Parts[0].Text)
	}
	s.noteTitle(v)
}

// noteTitle takes a title from a prompt, from the first block with text: an image may precede it.
func (s *messageReader) noteTitle(v jsontext.Value) {
	if s.user.Role != "user" || s.repeated || s.line.isInlined() { // a prompt of the agent's
		return
	}
	if words := v.Get("text"); v.IsString() || words.IsString() {
		text := s.user.Parts[len(s.user.Parts)-1].Text
		s.user.Retold = cmp.Or(s.user.Retold, text)
		s.facts.notePrompt(text)
	}
}

func (s *messageReader) block(b block) {
	switch b.kind {
	case "text":
		switch {
		case s.line.kind == "user":
			s.prompt(b.raw)
		case !b.text.IsBlank():
			e := s.add(b.raw, transcript.KindMessage, "assistant")
			e.Type = b.kind
			if s.stream != nil && !s.line.sidechain {
				s.said(e.Parts[0].Text)
			}
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

// other adds a block of a type that is not counted: documents, results of tools that ran on the server, future types.
func (s *messageReader) other(b block) {
	e := s.add(b.raw, transcript.KindUnknown, s.line.kind)
	e.Verdict = transcript.Uncounted
	if kind := blockKinds[b.kind]; kind != "" {
		e.Kind = kind
	}
	if b.kind != "" {
		e.Type = b.kind
	}
	if b.toolUseID.IsString() {
		e.Kind, e.Role = transcript.KindToolResult, "tool"
	}
}

// blockKinds maps other known types of blocks to their kinds.
var blockKinds = map[string]transcript.Kind{
	"document": transcript.KindNotice, "container_upload": transcript.KindNotice, "fallback": transcript.KindLifecycle,
	"compaction": transcript.KindCompaction,
}

func (s *messageReader) call(b block) {
	e := s.add(b.raw, transcript.KindToolCall, "assistant")
	e.Type = b.kind
	call := &transcript.Call{ID: idText(b.id), Name: b.name.Str(), Input: int64(b.input.Len()), Paths: paths(b.input)}
	e.Parts[0].Call = call
	if call.ID == "" {
		if !s.repeated {
			s.callsWithoutID++
		}
		call.ID = "#" + strconv.Itoa(s.callsWithoutID)
		return
	}
	if _, known := s.calls[call.ID]; known {
		markDuplicate(e)
	} else if !s.repeated {
		s.calls[call.ID] = call.Name
		s.noteTask(e, call, b.input)
		if call.Name == "ExitPlanMode" {
			s.linkPlan(s.line, b.input.Get("planFilePath"))
		}
		if s.fork.inside {
			s.fork.calls[call.ID] = true
		}
	}
}

func (s *messageReader) result(b block) {
	e := s.add(b.raw, transcript.KindToolResult, "tool")
	e.Type = b.kind
	result := &transcript.Result{Call: idText(b.toolUseID), Failed: transcript.No}
	if b.isError.Bool() == transcript.Yes || answerOf(b.content).Get("error").Exists() {
		result.Failed = transcript.Yes
	}
	if !b.content.IsNull() {
		result.Output = int64(b.content.Len())
	}
	e.Parts[0].Result = result
	switch {
	case result.Call == "":
		if !s.repeated && s.resultsWithoutID < s.callsWithoutID {
			s.resultsWithoutID++
		}
		if s.resultsWithoutID > 0 {
			result.Call = "#" + strconv.Itoa(s.resultsWithoutID)
		}
	case s.results[result.Call]:
		markDuplicate(e)
	case !s.repeated:
		s.results[result.Call] = true
		if s.fork.calls[result.Call] {
			markCopied(e)
		}
	}
	result.Name = s.calls[result.Call]
	s.resultDetails(b, e, result)
}

// answerOf returns a tool's answer in the content of one of iFlow's results.
func answerOf(content jsontext.Value) jsontext.Value {
	return cmp.Or(content.Get("responseParts"), content).Get("functionResponse", "response")
}

// markDuplicate marks an event that this file had before under another uuid.
func markDuplicate(e *transcript.Event) {
	e.Verdict, e.ID, e.Global, e.Home = transcript.DuplicateOf, "", false, false
}

// markCopied marks an event that another file has under another uuid.
func markCopied(e *transcript.Event) {
	e.Verdict, e.ID, e.Global, e.Home = transcript.CopiedHistory, "", false, false
}

// linkMentioned links the sub-agent of a toolUseResult that belongs to no result in its line.
func (s *messageReader) linkMentioned() {
	agent := s.line.toolUseResult.Get("agentId").Str()
	if agent == "" {
		return
	}
	event := ""
	if len(s.events) > 0 {
		event = s.events[0].ID
	}
	s.linkedAgents[agent] = true
	s.linkChild(s.line, agent, event, "")
}

// resultDetails adds what toolUseResult states about a result. It belongs to the first result of a line.
func (s *messageReader) resultDetails(b block, e *transcript.Event, result *transcript.Result) {
	toolUseResult := s.line.toolUseResult
	if !toolUseResult.Exists() {
		return
	}
	s.line.toolUseResult = jsontext.Value{}
	for key, value := range toolUseResult.Fields() {
		switch key {
		case "agentId":
			s.linkResult(value.Str(), result.Call)
		case "interrupted":
			if value.Bool() == transcript.Yes {
				result.Status = "interrupted"
			}
		case "status":
			result.Status = value.Str()
		case "totalDurationMs", "durationMs":
			if n, ok := value.Int(); ok && n >= 0 && n < 1<<50 {
				result.Duration = transcript.Known(n * 1000)
			}
		case "truncated":
			result.Cut = result.Cut || value.Bool() == transcript.Yes
		case "persistedOutputPath":
			if value.IsString() {
				result.Cut = true
				e.Attributes.Set("persisted_output", value.Str())
			}
		}
	}
	if hasMoreText(toolUseResult, b.raw) {
		part := s.part(toolUseResult)
		if part.Text != "" {
			part.Kind = transcript.KindToolResult
			e.Parts = append(e.Parts, part)
		}
	}
}

// paths returns the files that an input names.
func paths(input jsontext.Value) []string {
	var all []string
	for key, value := range input.Fields() {
		switch key {
		case "file_path", "path", "notebook_path", "filePath", "absolute_path":
			if value.IsString() && value.Len() > 2 {
				all = append(all, value.Str())
			}
		}
	}
	return all
}
