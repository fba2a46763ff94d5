package flowstudio

import (
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// session accumulates what the lines of one transcript say about the whole.
type session struct {
	*parser
	id          string
	pairs       pairing
	usageCount  int // number of lines with usage so far
	strongModel bool
	model       string
	stub        bool
	started     transcript.Time
	ended       transcript.Time
	project     string
	attributes  transcript.Attributes
}

// transcript reads one file of llm/. The program writes it whole when a step ends, and again when the step is retried.
func (p *parser) transcript() {
	s := &session{parser: p, id: p.place.conversation(p.place.name), attributes: transcript.Attributes{}}
	p.Emit(p.run(0, "3", transcript.Time{}))
	p.Emit(s.conversation())
	for object := range p.Each(jsontext.Objects(p.in.Reader, "", p.problem)) {
		s.line(object)
	}
	r := p.run(0, "3", s.started)
	r.Stub = s.stub
	p.Emit(r)
	c := s.conversation()
	c.Model, c.Started, c.Ended, c.Project = s.model, s.started, s.ended, s.project
	c.Rank = timestamp.RankAt(s.started) // an older copy of the run may hold an attempt before a retry
	for k, v := range s.attributes {
		c.Attributes[k] = v
	}
	p.Emit(c)
}

// conversation returns the Conversation record without what its lines state. Its step and agent are a guess until Resolve
// has seen the receipts.
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

func (s *session) line(line jsontext.Object) {
	o := line.Value
	e := readEntry(o)
	at := o.First("timestamp", "ts").Time()
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

// pair fills in missing ids of the calls and results of a line.
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
				part.Result.Call = last.ID // the result in a role:"tool" line belongs to the call in the same line
			}
			s.pairs.result(part.Result)
		}
	}
}

// note records what a line says about the whole conversation.
func (s *session) note(o jsontext.Value, e *entry, at transcript.Time) {
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
		flatten(s.attributes, "", o, "type", "subtype", "timestamp", "ts", "model", "cwd", "tools", "phase")
	}
	// The init line is the best evidence of the model, then messages, then the result line.
	strong := opening || e.kind == transcript.KindMessage
	if e.model != "" && (s.model == "" || opening || strong && !s.strongModel) {
		s.model, s.strongModel = e.model, strong
	}
	if e.typ == "" && strings.HasPrefix(o.Get("content").Str(), "[STUB") {
		s.stub = true
		s.attributes["stub"] = true
	}
}

// attributesOf returns the members of a line that only some dialects have.
func attributesOf(o jsontext.Value) transcript.Attributes {
	var a transcript.Attributes
	for _, key := range []string{"phase", "subtype", "blocked", "block_reason", "status", "num_turns", "duration_ms", "parent_tool_use_id"} {
		a.Set(key, scalar(o.Get(key)))
	}
	if isSession(o) && isCut(o.Get("content")) {
		a.Set("cut", true)
	}
	return a
}
