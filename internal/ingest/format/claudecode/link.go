package claudecode

import (
	"cmp"
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// belongs links a sub-agent to its session, once.
func (r *reader) belongs(l *line) {
	if r.place.agent == "" || r.session == "" || r.agents[""] {
		return
	}
	r.agents[""] = true
	r.out.Emit(&transcript.Link{Kind: "parent", From: transcript.RunEnd(r.session), To: transcript.RunEnd(r.run), Time: l.now, Origin: l.origin})
}

// spawned links the session of a line to the sub-agent that a result names, also where that result stood before under another
// uuid. The statement is the line's, and worth nothing where that is copied history.
func (s *saying) spawned(agent, call string) {
	if agent == "" || s.again {
		return
	}
	s.child(s.line, agent, s.line.uuid, call)
	s.describe(s.line, agent, call)
}

// progress links the session of a line to the sub-agent that the line tells of, once for each call. The line is no
// event, so the statement is the call's that it reports on, or stands and falls with the event before it.
func (r *reader) progress(l *line) {
	agent := l.data.Get("agentId").Str()
	if agent == "" || r.run == "" {
		return
	}
	call := l.raw.Get("parentToolUseID").Str()
	event := cmp.Or(r.tasks[call].event, r.latest)
	if told := agent + " " + event; !r.agents[told] {
		r.agents[told] = true
		r.child(l, agent, event, call)
	}
}

func (r *reader) child(l *line, agent, event, call string) {
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

// copiedFrom names the session that a line says it came from. That says nothing of whether the archive has it, so these
// links are kept and not counted.
func (r *reader) copiedFrom(l *line) {
	session, kind := l.session, "resume"
	if l.forked.Exists() {
		session, kind = l.forked.Get("sessionId").Str(), "fork"
	}
	if session == "" || session == r.session || r.foreign[session] {
		return
	}
	r.foreign[session] = true
	r.out.Emit(&transcript.Link{Kind: kind, From: transcript.RunEnd(session), To: transcript.RunEnd(r.run), Time: l.now, Origin: l.origin, Uncounted: true})
}

// continued names the session in which this one goes on, where it was sent to the background.
func (r *reader) continued(l *line) {
	next := l.continued.Str()
	if next == "" || next == r.session || r.run == "" {
		return
	}
	r.out.Emit(&transcript.Link{Kind: "fork", From: transcript.RunEnd(r.run), To: transcript.RunEnd(next), Time: l.now, Origin: l.origin, Uncounted: true})
}

// task is what a call says of the sub-agent that it starts. The sub-agent's own file does not say it; see Resolve.
type task struct{ event, agent, title string }

func (r *reader) asks(e *transcript.Event, call *transcript.Call, input format.Value) {
	if call.Name == "Task" || call.Name == "Agent" {
		r.tasks[call.ID] = task{e.ID, input.Get("subagent_type").Str(), input.Get("description").Str()}
	}
}

// describe hands on what the call said of a sub-agent.
func (r *reader) describe(l *line, agent, call string) {
	t := r.tasks[call]
	hint(r.out, r.run, hintAgent+" "+agent, t.agent, l.origin)
	hint(r.out, r.run, hintTitle+" "+agent, t.title, l.origin)
}
