package flowstudio

import (
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// session gathers what the lines of one transcript say of all of it.
type session struct {
	*parser
	id      string
	pairs   pairing
	spent   int // usage records so far
	strong  bool
	model   string
	stub    bool
	started transcript.Time
	ended   transcript.Time
	project string
	about   transcript.Attributes
}

// transcript reads one llm file. The program writes it whole when a step ends, and again when that is retried.
func (p *parser) transcript() {
	s := &session{parser: p, id: p.place.conversation(p.place.name), about: transcript.Attributes{}}
	p.Emit(p.run(0, "3", transcript.Time{}))
	p.Emit(s.conversation())
	for object := range p.Each(format.Objects(p.in.Reader, "", p.problem)) {
		s.line(object)
	}
	r := p.run(0, "3", s.started)
	r.Stub = s.stub
	p.Emit(r)
	c := s.conversation()
	c.Model, c.Started, c.Ended, c.Project = s.model, s.started, s.ended, s.project
	for k, v := range s.about {
		c.Attributes[k] = v
	}
	p.Emit(c)
}

// conversation begins what is said of the transcript. Its step and agent are a guess until Resolve has seen the
// receipts.
func (s *session) conversation() *transcript.Conversation {
	c := &transcript.Conversation{
		ID: s.id, Run: s.place.run, Flow: s.place.flow, Attributes: transcript.Attributes{},
	}
	if n, ok := guessName(strings.TrimSuffix(s.place.name, ".jsonl")); ok {
		c.Step, c.Agent, c.Engine = n.step, n.agent, n.engine
		c.Attributes["named_by"] = byGuess
	}
	return c
}

func (s *session) line(line format.Object) {
	o := line.Value
	e := readEntry(o)
	at := first(o, "timestamp", "ts").Time()
	ev := &transcript.Event{
		Conversation: s.id, Run: s.place.run,
		Kind: e.kind, Role: e.role, Type: e.typ, Time: at, Origin: line.Origin,
		Parts: e.parts, Model: e.model, Attributes: attributesOf(o),
	}
	s.pair(ev, o.Get("blocked").Bool() == transcript.Yes)
	s.note(o, &e, at)
	s.Emit(ev)
	s.usage(o, line.Origin, at)
}

// pair completes the ids of the calls and results of a line.
func (s *session) pair(ev *transcript.Event, blocked bool) {
	var last *transcript.Call
	for i := range ev.Parts {
		part := &ev.Parts[i]
		switch {
		case part.Call != nil:
			s.pairs.call(part.Call, blocked)
			last = part.Call
		case part.Result != nil:
			if last != nil && part.Result.Call == "" {
				part.Result.Call = last.ID // a role:"tool" line answers itself
			}
			s.pairs.result(part.Result)
		}
	}
}

// note keeps what a line says of the whole conversation.
func (s *session) note(o format.Value, e *entry, at transcript.Time) {
	if at.Valid {
		if !s.started.Valid {
			s.started = at
		}
		s.ended = at
	}
	opening := e.kind == transcript.KindLifecycle && !strings.HasPrefix(strings.ToLower(e.typ), "result")
	if opening {
		if cwd := o.Get("cwd").Str(); cwd != "" {
			s.project = cwd
		}
		flatten(s.about, "", o, "type", "subtype", "timestamp", "ts", "model", "cwd", "tools", "phase")
	}
	// The init line knows the model best, then messages, then the result line.
	strong := opening || e.kind == transcript.KindMessage
	if e.model != "" && (s.model == "" || opening || strong && !s.strong) {
		s.model, s.strong = e.model, strong
	}
	if e.typ == "" && strings.HasPrefix(o.Get("content").Str(), "[STUB") {
		s.stub = true
		s.about["stub"] = true
	}
}

// attributesOf keeps what only some dialects state of a line.
func attributesOf(o format.Value) transcript.Attributes {
	var a transcript.Attributes
	for _, key := range []string{"phase", "subtype", "blocked", "block_reason", "status", "num_turns", "duration_ms", "parent_tool_use_id"} {
		a.Set(key, scalar(o.Get(key)))
	}
	if isSession(o) && isCut(o.Get("content")) {
		a.Set("cut", true)
	}
	return a
}
