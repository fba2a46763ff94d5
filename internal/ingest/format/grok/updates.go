package grok

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// update is one line of updates.jsonl.
type update struct {
	value  jsontext.Value // params.update
	meta   jsontext.Value // params._meta
	line   jsontext.Value
	origin transcript.Origin
	kind   string // sessionUpdate
	at     transcript.Time
	id     string // the same in a fork; "" if only the place identifies the line
	home   bool   // the line was written in this session, not copied from another
}

func (p *parser) readUpdate(o jsontext.Object) (u update) {
	params := o.Value.Get("params")
	u = update{value: params.Get("update"), meta: params.Get("_meta"), line: o.Value, origin: o.Origin}
	u.kind = u.value.Get("sessionUpdate").Word()
	ms := u.meta.Get("agentTimestampMs")
	if n, ok := ms.Int(); ok {
		u.at = timestamp.UnixMilli(n)
	} else { // a fork sets this one anew
		u.at = o.Value.Get("timestamp").UnixTime()
	}
	if id := u.meta.Get("eventId").Str(); id != "" && ms.Exists() {
		u.id, u.home = id+"@"+ms.Text(), strings.HasPrefix(id, p.run+"-")
	}
	return u
}

// log is the state of a parse of updates.jsonl.
type log struct {
	*parser
	said     span
	held     []update         // lines after the first of said that are no part of it
	children map[string]child // subagents that were started, by session
}

// maxHeld bounds the lines that wait for the end of a message.
const maxHeld = 1000

// span is a run of lines that make up one message.
type span struct {
	first  update
	stream string // of the lines, or the prompt that they are parts of
	origin transcript.Origin
	text   []byte
}

// updates yields the records of an updates.jsonl.
func (p *parser) updates() {
	l := &log{parser: p, children: map[string]child{}}
	for o := range p.Each(jsontext.Objects(p.in.Reader, "", p.problem)) {
		if !p.started {
			p.started = true
			p.emitRun(transcript.Conversation{})
		}
		p.lend.Reset()
		l.update(p.readUpdate(o))
	}
	if l.said.first.kind != "" { // its next lines may follow
		p.Emit(&transcript.Run{ID: p.run, Rank: rankUpdates, Guess: true})
	}
	l.closeSpan()
}

// speech are the updates that are parts of messages.
var speech = map[string]struct {
	kind transcript.Kind
	role string
}{
	"user_message_chunk":  {transcript.KindMessage, "user"},
	"agent_message_chunk": {transcript.KindMessage, "assistant"},
	"agent_thought_chunk": {transcript.KindReasoning, "assistant"},
}

// update yields the records of a line. What happens meanwhile does not end a message.
func (l *log) update(u update) {
	if speech[u.kind].kind != "" {
		l.chunk(u)
		return
	}
	if l.said.first.kind != "" && !ends(u) && len(l.held) < maxHeld {
		u.line = u.line.Clone()
		u.value, u.meta = u.line.Get("params", "update"), u.line.Get("params", "_meta")
		l.held = append(l.held, u)
		return
	}
	l.closeSpan()
	l.line(u)
}

// ends reports whether a line can only follow a whole message.
func ends(u update) bool {
	switch u.kind {
	case "tool_call", "turn_completed", "compaction_checkpoint", "rewind_marker":
		return true
	case "tool_call_update":
		return isEnd(u.value)
	}
	return false
}

// line yields the records of a line that is no part of a message.
func (l *log) line(u update) {
	switch u.kind {
	case "tool_call":
		l.call(u)
	case "tool_call_update":
		l.toolUpdate(u)
	case "turn_completed":
		l.turn(u)
	case "compaction_checkpoint":
		l.Emit(l.event(u, transcript.KindCompaction, "system"))
	case "subagent_spawned", "subagent_finished":
		l.subagentUpdate(u)
	default:
		l.other(u)
	}
}

// event returns an event for a line, with its text. It is valid until the next line.
func (l *log) event(u update, kind transcript.Kind, role string) *transcript.Event {
	e := l.lend.Event(transcript.Event{
		Run: l.run, Kind: kind, Role: role, Type: u.kind, Time: u.at, Origin: u.origin, ID: u.id, Global: u.id != "", Home: u.home,
	})
	e.Parts[0].Text = l.lend.Text(func(b []byte) []byte { return appendUpdate(b, u.line) })
	return e
}

// uncounted yields a row that does not count for a line.
func (l *log) uncounted(u update, kind transcript.Kind) {
	e := l.event(u, kind, "")
	e.Verdict, e.ID, e.Global, e.Home = transcript.Uncounted, "", false, false
	l.Emit(e)
}

// streamOf returns what the lines of one message have in common.
func streamOf(u update) string {
	if u.kind == "user_message_chunk" {
		return u.value.Get("_meta", "promptIndex").Text()
	}
	return u.meta.Get("streamStartMs").Text()
}

// chunk adds a line to the message that it is a part of.
func (l *log) chunk(u update) {
	s := &l.said
	if stream := streamOf(u); u.kind != s.first.kind || stream != s.stream {
		l.closeSpan()
		kept := s.text[:0]
		*s = span{first: u, stream: stream, origin: u.origin, text: kept}
		s.first.value, s.first.meta, s.first.line = jsontext.Value{}, jsontext.Value{}, jsontext.Value{}
		l.setModel(u.value.Get("_meta", "modelId"))
	}
	s.origin.Length = u.origin.End() - s.origin.Offset
	s.text = appendChunk(s.text, u.line)
}

func (l *log) setModel(v jsontext.Value) {
	if m := v.Str(); m != "" {
		l.model = m
	}
}

// closeSpan yields the message of the lines so far, and then the lines between them.
func (l *log) closeSpan() {
	s := &l.said
	kind := s.first.kind
	if kind == "" {
		return
	}
	e := transcript.Event{Kind: speech[kind].kind, Role: speech[kind].role}
	e.Run, e.Type, e.Time, e.Origin, e.ID, e.Home = l.run, kind, s.first.at, s.origin, s.first.id, s.first.home
	e.Global = e.ID != ""
	text := string(s.text)
	switch trimmed := strings.TrimSpace(text); {
	case trimmed == "":
		e.Kind, e.Verdict, e.ID, e.Global, e.Home = transcript.KindNotice, transcript.Uncounted, "", false, false
	case kind == "user_message_chunk" && isInjected(trimmed):
		e.Kind, e.Role = transcript.KindSystem, "system"
	case kind == "user_message_chunk":
		l.setTitleFrom(trimmed)
	default:
		e.Model = l.model
	}
	e.Parts = []transcript.Part{{Text: text}}
	l.Emit(&e)
	s.first.kind = ""
	for _, u := range l.held {
		l.line(u)
	}
	clear(l.held)
	l.held = l.held[:0]
}

// isInjected reports whether the program itself has put a text into the user's role.
func isInjected(text string) bool {
	for _, tag := range []string{"<system-reminder>", "<user_info>"} {
		if strings.HasPrefix(text, tag) {
			return true
		}
	}
	return false
}

// call yields a call of a tool.
func (l *log) call(u update) {
	e := l.event(u, transcript.KindToolCall, "assistant")
	e.Model = l.model
	input := u.value.Get("rawInput")
	c := &transcript.Call{ID: u.value.Get("toolCallId").Str(), Name: nameOf(u.value), Input: int64(input.Len()), Paths: format.Paths(input, pathNames, nil)}
	if c.ID == "" {
		c.ID = l.nextCall()
		l.open = append(l.open, c.ID)
	}
	l.toolNames[c.ID] = c.Name
	e.Parts[0].Call = c
	l.Emit(e)
}

func (p *parser) nextCall() string {
	p.calls++
	return "#" + strconv.Itoa(p.calls)
}

// nameOf returns the name of a tool.
func nameOf(v jsontext.Value) string {
	if name := v.Get("_meta", "x.ai/tool", "name").Word(); name != "" {
		return name
	}
	return v.Get("title").Word()
}

// toolUpdate yields the result of a tool. Other updates of a call repeat its input in another form, and its progress.
func (l *log) toolUpdate(u update) {
	id := u.value.Get("toolCallId").Str()
	if _, known := l.toolNames[id]; id != "" && !known && u.value.Get("rawInput").Exists() && !isEnd(u.value) {
		l.call(u) // it has no other line
		return
	}
	if !isEnd(u.value) {
		l.uncounted(u, transcript.KindLifecycle)
		return
	}
	if id == "" && len(l.open) > 0 {
		id, l.open = l.open[0], l.open[1:]
	}
	e := l.event(u, transcript.KindToolResult, "tool")
	output := u.value.First("rawOutput", "content")
	res := &transcript.Result{Call: id, Name: l.toolNames[id], Status: u.value.Get("status").Word(), Output: int64(output.Len()), Failed: transcript.No}
	if code, ok := u.value.Get("rawOutput", "exit_code").Int(); ok && code != 0 || res.Status == "failed" {
		res.Failed = transcript.Yes
	}
	e.Parts[0].Result = res
	l.Emit(e)
}

// isEnd reports whether an update of a call is its result.
func isEnd(v jsontext.Value) bool { s := v.Get("status"); return s.Is("completed") || s.Is("failed") }

// other yields a row for a line that is neither said nor done by anyone.
func (l *log) other(u update) {
	kind := transcript.KindUnknown
	switch u.kind {
	case "plan", "session_recap", "task_completed", "monitor_event", "hook_annotation":
		kind = transcript.KindNotice
	case "auto_compact_failed", "auto_recovery_exhausted":
		kind = transcript.KindError
	case "auto_compact_started", "auto_compact_completed", "auto_compact_cancelled":
		kind = transcript.KindCompaction
	case "session_summary_generated":
		kind = transcript.KindLifecycle
		l.hasTitle = true
		l.emitRun(transcript.Conversation{Title: format.Title(u.value.Get("session_summary").Str())})
	case "model_changed", "model_auto_switched":
		kind = transcript.KindLifecycle
		l.setModel(u.value.First("model_id", "new_model_id"))
	default:
		if lifecycle[u.kind] {
			kind = transcript.KindLifecycle
		}
	}
	l.uncounted(u, kind)
}

// lifecycle are updates of the session's state, and what the program tells its interface.
var lifecycle = map[string]bool{
	"available_commands_update": true, "current_mode_update": true, "config_option_update": true, "session_info_update": true,
	"subagent_progress": true, "task_backgrounded": true, "hook_execution": true, "hook_run_started": true, "hooks_changed": true,
	"plugins_changed": true, "plugin_updates_installed": true, "retry_state": true, "rewind_marker": true, "memory_flush_started": true,
	"memory_flush_completed": true, "memory_dream_completed": true, "memory_session_saved": true, "memory_files": true,
	"auto_continue_completed": true, "auto_recovery_started": true, "feedback_request": true, "relay_sync_status": true,
	"session_recap_unavailable": true, "last_turn_summary": true, "scheduled_task_created": true, "scheduled_task_fired": true,
	"scheduled_task_deleted": true, "tool_call_delta_chunk": true, "image_compressed": true, "image_dropped": true, "workflow_updated": true,
	"goal_updated": true, "pending_interaction": true, "interaction_resolved": true, "response_started": true, "reasoning_completed": true,
	"response_completed": true, "diff_review": true, "usage_update": true,
}

// updateText returns the text of an event of updates.jsonl from its bytes: of one line, or of all lines of a message, between which there may be
// others.
func updateText(raw []byte) (string, error) {
	var text []byte
	first := ""
	for o, err := range jsontext.Objects(bytes.NewReader(raw), "", func(*transcript.Problem) {}) {
		if err != nil {
			return "", err
		}
		kind := o.Value.Get("params", "update", "sessionUpdate").Word()
		switch {
		case first == "" && speech[kind].kind == "":
			return string(appendUpdate(text, o.Value)), nil
		case first == "", first == kind:
			first, text = kind, appendChunk(text, o.Value)
		}
	}
	return string(text), nil
}
