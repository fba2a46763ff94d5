package qwencode

import (
	"hash/maphash"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// line is one line of a transcript, its members looked up once.
type line struct {
	value                                       format.Value
	origin                                      transcript.Origin
	at                                          transcript.Time
	typ, subtype, uuid, session                 string
	parent, agent, agentName, cwd, branch       format.Value
	version, model, message, usage, result, sys format.Value
	forked                                      format.Value
}

// readLine takes a line apart. last is the session of the file, most often the line's too.
func readLine(o format.Object, last string) (l line) {
	l.value, l.origin = o.Value, o.Origin
	for key, v := range o.Value.Fields() {
		switch key {
		case "uuid":
			l.uuid = v.Str()
		case "parentUuid":
			l.parent = v
		case "sessionId":
			if l.session = last; !v.Is(last) {
				l.session = v.Str()
			}
		case "timestamp":
			l.at = v.Time()
		case "type":
			l.typ = v.Word()
		case "subtype":
			l.subtype = v.Word()
		case "cwd":
			l.cwd = v
		case "version":
			l.version = v
		case "gitBranch":
			l.branch = v
		case "model":
			l.model = v
		case "message":
			l.message = v
		case "usageMetadata":
			l.usage = v
		case "toolCallResult":
			l.result = v
		case "systemPayload":
			l.sys = v
		case "agentId":
			l.agent = v
		case "agentName":
			l.agentName = v
		case "forkedFrom":
			l.forked = v
		}
	}
	return l
}

// log yields the records of a transcript.
func (p *parser) log() {
	for o := range p.Each(format.Objects(p.in.Reader, "", p.problem)) {
		p.line(readLine(o, p.session))
	}
	if p.run == "" { // there is nothing to read in it: no session, but whose it would be is known by its name
		p.Settle(p.name(line{}))
	}
}

// name settles whose the file is, by its first line or else by its place, and gives the run.
func (p *parser) name(first line) (run string) {
	p.session = first.session
	if p.in.Role != roleAgent {
		if p.session == "" {
			p.session = p.place.stem
		}
		return p.session
	}
	if p.session == "" {
		p.session = p.place.session
	}
	if p.agent = first.agent.Str(); p.agent == "" {
		p.agent = p.place.agent
	}
	return agentRun(p.session, p.agent)
}

// agentRun is the id of a subagent's run. Its own id is short and only means something in its session.
func agentRun(session, agent string) string { return session + "/" + agent }

func (p *parser) begin(first line) {
	p.run = p.name(first)
	p.learn(&first)
	p.Settle(p.run)
	if p.agent != "" {
		p.Emit(&transcript.Link{Kind: "parent", From: transcript.RunEnd(p.session), To: transcript.RunEnd(p.run), Time: first.at, Origin: first.origin})
	}
}

// say states something of the run and its conversation alike.
func (p *parser) say(c transcript.Conversation) {
	c.ID, c.Run, c.Child = p.session, p.run, p.agent != ""
	if c.Child {
		c.ID = p.agent
	}
	p.Emit(&transcript.Run{
		ID: p.run, Rank: rankLog, Child: c.Child, Title: c.Title, Agent: c.Agent, Model: c.Model, Version: c.Version, Project: c.Project,
		Branch: c.Branch, Started: c.Started,
	})
	p.Emit(&c)
}

// What the note beside a subagent says of it goes before what its transcript does.
const (
	rankLog  = 1
	rankMeta = 2
)

// facts is what lines said of the session so far.
type facts struct {
	project, branch, version, model, agent string
	title                                  string
	said, started, prompted                bool
}

// learn states what a line says for the first time, or anew. A branch begins where it says something of its own.
func (p *parser) learn(l *line) {
	var c transcript.Conversation
	f := &p.facts
	news := !f.said
	f.said = true
	again := func(old *string, v format.Value, to *string) {
		if v.IsString() && v.Len() > len(`""`) && !v.Is(*old) {
			if s := v.Str(); s != *old {
				*old, *to, news = s, s, true
			}
		}
	}
	if f.project == "" {
		again(&f.project, l.cwd, &c.Project)
	}
	again(&f.branch, l.branch, &c.Branch)
	again(&f.version, l.version, &c.Version)
	again(&f.agent, l.agentName, &c.Agent)
	if l.typ == "assistant" {
		again(&f.model, l.model, &c.Model)
	}
	if l.at.Valid && !f.started && !l.forked.Exists() {
		f.started, news, c.Started = true, true, l.at
	}
	if l.subtype == "custom_title" {
		again(&f.title, l.sys.Get("customTitle"), &c.Title)
		f.prompted = f.prompted || f.title != ""
	}
	if news {
		p.say(c)
	}
}

// prompted names the session after its first prompt until it has a title.
func (p *parser) prompted(text string) {
	if p.facts.prompted || strings.HasPrefix(text, "<") {
		return
	}
	if title := format.Title(text); title != "" {
		p.facts.prompted = true
		p.say(transcript.Conversation{Title: title})
	}
}

// line yields the rows of one line.
func (p *parser) line(l line) {
	p.lend.Reset()
	if p.run == "" {
		p.begin(l)
	} else {
		p.learn(&l)
	}
	p.copiedFrom(&l)
	m := &mouth{parser: p, line: &l, again: p.repeats(&l)}
	switch l.typ {
	case "user":
		m.user()
	case "assistant":
		m.assistant()
	case "tool_result":
		m.result()
	case "system":
		m.system()
	default:
		m.aside(transcript.KindUnknown)
	}
	if l.uuid != "" {
		p.before = l.uuid
	}
}

var seed = maphash.MakeSeed()

// repeats says that the same line stood before: one that was written again after a crash.
func (p *parser) repeats(l *line) bool {
	if l.uuid == "" {
		return false
	}
	sum := maphash.Bytes(seed, l.value.Raw())
	before := p.lines[sum]
	p.lines[sum] = true
	return before
}

// copiedFrom links the session to the one that its lines were copied from, and to the one that made it.
func (p *parser) copiedFrom(l *line) {
	kind, from := "fork", l.forked.Get("sessionId").Str()
	if l.subtype == "parent_session" {
		kind, from = "parent", l.sys.Get("parentSessionId").Str()
	}
	if from == "" || from == p.session || p.copied[kind+from] {
		return
	}
	p.copied[kind+from] = true
	p.Emit(&transcript.Link{Kind: kind, From: transcript.RunEnd(from), To: transcript.RunEnd(p.run), Time: l.at, Origin: l.origin})
}

// event begins an event of one part.
func (p *parser) event(l *line, kind transcript.Kind, role string, again bool) *transcript.Event {
	e := p.lend.Event(transcript.Event{
		Conversation: p.session, Run: p.run, Kind: kind, Role: role, Type: l.typ, Time: l.at, Origin: l.origin, Verdict: transcript.Counted,
	})
	if p.agent != "" {
		e.Conversation = p.agent
	}
	switch {
	case again:
		e.Verdict = transcript.DuplicateOf
	case l.uuid != "":
		e.ID, e.Global, e.Home = l.uuid, true, !l.forked.Exists()
	}
	e.Attributes.Set("subtype", l.subtype)
	if l.parent.IsString() && !l.parent.Is(p.before) {
		e.Attributes.Set("parent", l.parent.Str())
	}
	return e
}
