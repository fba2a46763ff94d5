package copilotcli

import (
	"cmp"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// line is the envelope of one line of a session.
type line struct {
	value, data    jsontext.Value
	typ, id, agent string
	at             transcript.Time
	origin         transcript.Origin
}

func readLine(o jsontext.Object) line {
	l := line{value: o.Value, origin: o.Origin}
	for key, m := range o.Value.Fields() {
		switch key {
		case "type":
			l.typ = m.Str()
		case "data":
			l.data = m
		case "id":
			l.id = m.Str()
		case "agentId":
			l.agent = m.Str()
		case "timestamp":
			l.at = m.TimeOrMilli()
		}
	}
	return l
}

// events yields the records of a session.
func (p *parser) events() {
	for o := range p.Each(jsontext.Objects(p.in.Reader, "", p.problem)) {
		l := readLine(o)
		if p.session == "" {
			p.begin(l)
		}
		p.line(l)
	}
	if p.session == "" {
		p.begin(line{}) // a session that has only begun, or no line of which can be read
	}
}

// begin identifies the session by its first line, which is a session.start in every complete file.
func (p *parser) begin(first line) {
	if first.typ == "session.start" || first.typ == "session.resume" {
		p.session = first.data.Get("sessionId").Str()
	}
	if p.session == "" {
		p.session = sessionOf(p.in.Path)
	}
	if first.value.Exists() {
		p.rank = rankOf(p.in.Path)
	}
	p.emitSession(transcript.Conversation{Rank: p.rank}, nil)
	p.Settle(p.session)
}

// emitSession yields fields of the session, for its run and its conversation alike.
func (p *parser) emitSession(c transcript.Conversation, facts transcript.Attributes) {
	p.Emit(&transcript.Run{
		ID: p.session, Rank: 1, Title: c.Title, Model: c.Model, Version: c.Version, Project: c.Project, Branch: c.Branch,
		Started: c.Started, Attributes: facts, Child: p.child,
	})
	c.ID, c.Run, c.Child = p.session, p.session, p.child
	if p.in.Role == roleOutput { // all outputs of a session are one conversation
		c.Shared, c.Order = true, p.order
	}
	p.Emit(&c)
}

// line yields the records of one line.
func (p *parser) line(l line) {
	p.parts = 0
	switch l.typ {
	case "session.start":
		p.started(l)
		p.applyContext(l)
	case "session.resume", "session.context_changed":
		p.applyContext(l)
	case "session.usage_checkpoint":
		p.checkpoint(l)
	case "session.usage_record":
		p.usageRecord(l)
	case "session.model_change":
		p.setModel(l.data.Get("newModel").Str())
	case "session.title_changed":
		p.setTitle(l.data.Get("title").Str())
	case "session.shutdown":
		p.shutdown(l)
	case "user.message":
		p.user(l)
		return
	case "assistant.message":
		p.assistant(l)
		return
	case "tool.execution_start":
		p.toolStarted(l)
		return
	case "tool.execution_complete":
		p.toolCompleted(l)
		return
	case "system.message", "system.notification":
		e := p.event(l, transcript.KindSystem, "system")
		e.Verdict = transcript.Counted
		e.Parts = []transcript.Part{{Text: pieceText(l.value)}}
		p.Emit(e)
		return
	}
	p.uncountedRow(l)
}

// applyContext reads working directory, repository and version.
func (p *parser) applyContext(l line) {
	context := l.data.Get("context")
	if l.typ == "session.context_changed" {
		context = l.data
	}
	facts := transcript.Attributes{}
	for name, v := range map[string]jsontext.Value{
		"repository": context.Get("repository"), "commit": context.Get("headCommit"), "producer": l.data.Get("producer"),
	} {
		if s := v.Str(); s != "" {
			facts[name] = s
		}
	}
	if v := l.data.Get("copilotVersion").Str(); v != "" {
		p.version = v
	}
	p.emitSession(transcript.Conversation{
		Version: p.version, Project: context.Get("cwd").Str(), Branch: context.Get("branch").Str(),
		Started: l.data.Get("startTime").TimeOrMilli(),
	}, facts)
	p.setModel(l.data.Get("selectedModel").Str())
}

// started yields the sessions that a session.start names: the one that it is a part of, as one that works on in the background after
// that one has ended.
func (p *parser) started(l line) {
	parent := l.data.Get("detachedFromSpawningParentSessionId").Str()
	if parent == "" || parent == p.session {
		return
	}
	p.child = true
	p.Emit(&transcript.Link{Kind: "parent", From: transcript.RunEnd(parent), To: transcript.RunEnd(p.session), Time: l.at, Origin: l.origin})
}

// setModel records the model that answers from here on.
func (p *parser) setModel(model string) {
	if model == "" || model == p.model {
		return
	}
	p.model = model
	p.emitSession(transcript.Conversation{Model: model}, nil)
}

// setTitleFrom sets the title from the first prompt.
func (p *parser) setTitleFrom(text string) {
	if !p.hasTitle {
		p.setTitle(format.Title(text))
	}
}

func (p *parser) setTitle(title string) {
	if title == "" {
		return
	}
	p.hasTitle = true
	p.emitSession(transcript.Conversation{Title: title}, nil)
}

// event returns an uncounted event for a line.
func (p *parser) event(l line, kind transcript.Kind, role string) *transcript.Event {
	e := &transcript.Event{
		Conversation: p.session, Verdict: transcript.Uncounted, Kind: kind, Role: role, Type: l.typ, Time: l.at,
		Origin: l.origin, Agent: l.agent,
	}
	if l.id != "" {
		e.Attributes = transcript.Attributes{"id": l.id}
	}
	switch id := format.IsUUID(l.id); {
	case p.in.Role == roleOutput:
		e.ID, e.Global, e.Home = p.eventID(l), id, id && !p.unnamed
	case p.rank == rankDirectory && id: // forks have the lines of their origin
		e.ID, e.Global, e.Home = p.eventID(l), true, true
	}
	return e
}

// uncountedKind returns the kind of a known type of uncounted lines, by full name or by the part before the first dot, "" of others.
func uncountedKind(typ string) transcript.Kind {
	switch typ {
	case "session.error", "assistant.fusion_phase_failed", "session.fusion_route_failed", "subagent.failed", "model.call_failure":
		return transcript.KindError
	case "session.info", "session.warning", "assistant.reasoning", "assistant.intent", "tool.user_requested", "skill.invoked",
		"assistant.fusion_phase_completed":
		return transcript.KindNotice
	case "session.compaction_start", "session.compaction_complete", "session.truncation":
		return transcript.KindCompaction
	case "assistant.turn_start", "assistant.turn_end", "assistant.usage", "abort", "assistant.message_start", "assistant.message_delta",
		"assistant.reasoning_delta", "assistant.streaming_delta", "tool.execution_partial_result", "tool.execution_progress",
		"assistant.fusion_phase_started", "assistant.fusion_phase_activity", "assistant.turn_retry", "assistant.idle",
		"assistant.tool_call_delta", "assistant.server_tool_progress", "tool_search", "auto_mode_switch", "session", "subagent", "hook",
		"permission", "user_input", "elicitation", "sampling", "mcp", "external_tool", "command", "commands", "capabilities", "exit_plan_mode",
		"pending_messages", "model", "session_limits_exhausted", "agent", "factory", "mcp_app", "prompt_cache_break", "sandbox", "ui":
		return transcript.KindLifecycle
	}
	return ""
}

// uncountedRow yields an uncounted event. If its type is unknown, it records the version that wrote it.
func (p *parser) uncountedRow(l line) {
	family, _, _ := strings.Cut(l.typ, ".")
	kind := cmp.Or(uncountedKind(l.typ), uncountedKind(family))
	e := p.event(l, kind, "")
	if kind == "" {
		e.Kind = transcript.KindUnknown
		e.Attributes.Set("version", p.version)
	}
	e.Parts = []transcript.Part{{Text: pieceText(l.value)}}
	p.Emit(e)
}
