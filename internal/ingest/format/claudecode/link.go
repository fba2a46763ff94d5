package claudecode

import (
	"cmp"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// linkParent links a sub-agent to its session, once.
func (r *reader) linkParent(l *line) {
	if r.place.agent == "" || r.session == "" || r.linkedAgents[""] {
		return
	}
	r.linkedAgents[""] = true
	r.out.Emit(&transcript.Link{Kind: "parent", From: transcript.RunEnd(r.session), To: transcript.RunEnd(r.run), Time: l.now, Origin: l.origin})
}

// linkResult links the session of a line to the sub-agent that a result names, even if the same result came before under
// another uuid. The line states the link, so it does not count if the line is copied history.
func (s *messageReader) linkResult(agent, call string) {
	if agent == "" || s.repeated {
		return
	}
	s.linkChild(s.line, agent, s.line.uuid, call)
	s.hintTask(s.line, agent, call)
}

// linkProgress links the session of a line to the sub-agent that the line mentions, once for each call. The line is not an
// event, so the call that it reports on states the link, else the previous event.
func (r *reader) linkProgress(l *line) {
	agent := l.data.Get("agentId").Str()
	if agent == "" || r.run == "" {
		return
	}
	call := l.raw.Get("parentToolUseID").Str()
	event := cmp.Or(r.tasks[call].event, r.lastEvent)
	if key := agent + " " + event; !r.linkedAgents[key] {
		r.linkedAgents[key] = true
		r.linkChild(l, agent, event, call)
	}
}

func (r *reader) linkChild(l *line, agent, event, call string) {
	session := l.session
	if r.place.agent != "" || session == "" {
		session = r.session
	}
	if session == "" {
		session = r.run
	}
	edge := &transcript.Link{Kind: "parent", From: transcript.RunEnd(session), To: transcript.RunEnd(agentRun(session, agent)), Time: l.now, Origin: l.origin, Event: event}
	edge.Attributes.Set("call", call)
	r.out.Emit(edge)
	if r.place.agent != "" && agent != r.place.agent { // a sub-agent of a sub-agent: both lie side by side
		r.out.Emit(&transcript.Link{Kind: "call", From: transcript.RunEnd(r.run), To: edge.To, Time: l.now, Origin: l.origin, Uncounted: true,
			Attributes: edge.Attributes})
	}
}

// linkCopySource links the session that a line was copied from. The archive may not have it, so these links are kept but
// not counted.
func (r *reader) linkCopySource(l *line) {
	session, kind := l.session, "resume"
	if l.forkedFrom.Exists() {
		session, kind = l.forkedFrom.Get("sessionId").Str(), "fork"
	}
	if session == "" || session == r.session || r.copiedSessions[session] {
		return
	}
	r.copiedSessions[session] = true
	r.out.Emit(&transcript.Link{Kind: kind, From: transcript.RunEnd(session), To: transcript.RunEnd(r.run), Time: l.now, Origin: l.origin, Uncounted: true})
}

// linkContinuation links the session in which this one continues after it was sent to the background.
func (r *reader) linkContinuation(l *line) {
	next := l.continuedIn.Str()
	if next == "" || next == r.session || r.run == "" {
		return
	}
	r.out.Emit(&transcript.Link{Kind: "fork", From: transcript.RunEnd(r.run), To: transcript.RunEnd(next), Time: l.now, Origin: l.origin, Uncounted: true})
}

// linkPlan links the plan that plan mode has written, once. Its file may not be there any more, so these links are kept but not counted.
func (r *reader) linkPlan(l *line, file jsontext.Value) {
	if !file.IsString() || r.run == "" {
		return
	}
	plan := planRun(file.Str())
	if !r.linkedAgents[plan] {
		r.linkedAgents[plan] = true
		r.out.Emit(&transcript.Link{Kind: "reference", From: transcript.RunEnd(r.run), To: transcript.RunEnd(plan), Time: l.now, Origin: l.origin, Uncounted: true})
	}
}

// task is what a call states about the sub-agent that it starts. The sub-agent's own file does not state it; see Resolve.
type task struct{ event, agent, title string }

func (r *reader) noteTask(e *transcript.Event, call *transcript.Call, input jsontext.Value) {
	if call.Name == "Task" || call.Name == "Agent" {
		r.tasks[call.ID] = task{e.ID, input.Get("subagent_type").Str(), input.Get("description").Str()}
	}
}

// hintTask yields what the call stated about a sub-agent as hints.
func (r *reader) hintTask(l *line, agent, call string) {
	t := r.tasks[call]
	r.out.Hint(r.run, hintAgent+" "+agent, t.agent, l.origin)
	r.out.Hint(r.run, hintTitle+" "+agent, t.title, l.origin)
}
