package qwencode

import (
	"hash/maphash"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// line is one line of a transcript with its members, looked up once.
type line struct {
	value                                       jsontext.Value
	origin                                      transcript.Origin
	at                                          transcript.Time
	typ, subtype, uuid, session                 string
	parent, agent, agentName, cwd, branch       jsontext.Value
	version, model, message, usage, result, sys jsontext.Value
	forkedFrom                                  jsontext.Value

	key string // uuid and time: what a copy of the line has as well. "" without a uuid
}

// readLine looks up the members of a line. last is the session of the file, which is mostly the line's, too.
func readLine(o jsontext.Object, last string) (l line) {
	l.value, l.origin = o.Value, o.Origin
	var stamp jsontext.Value
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
			l.at, stamp = v.Time(), v
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
			l.forkedFrom = v
		}
	}
	if l.uuid != "" {
		l.key = l.uuid + " " + stamp.Str()
	}
	return l
}

// log yields the records of a transcript.
func (p *parser) log() {
	for o := range p.Each(jsontext.Objects(p.in.Reader, "", p.problem)) {
		p.line(readLine(o, p.session))
	}
	if p.run == "" { // no line could be read: no session, but the file's name still identifies the run
		p.Settle(p.identify(line{}))
	}
}

// identify sets session and agent, from the first line or else from the file's place, and returns the run.
func (p *parser) identify(first line) (run string) {
	p.session = first.session
	if p.in.Role != roleAgent {
		if p.session == "" {
			p.session = p.loc.stem
		}
		return p.session
	}
	if p.session == "" {
		p.session = p.loc.session
	}
	if p.agent = first.agent.Str(); p.agent == "" {
		p.agent = p.loc.agent
	}
	return agentRun(p.session, p.agent)
}

// agentRun returns the run id of a subagent. Its own id is short and unique only within its session.
func agentRun(session, agent string) string { return session + "/" + agent }

func (p *parser) begin(first line) {
	p.run = p.identify(first)
	p.applyFacts(&first)
	p.Settle(p.run)
	if p.agent != "" {
		p.Emit(&transcript.Link{Kind: "parent", From: transcript.RunEnd(p.session), To: transcript.RunEnd(p.run), Time: first.at, Origin: first.origin})
	}
}

// emitRun yields fields of the run and its conversation alike.
func (p *parser) emitRun(c transcript.Conversation) {
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

// The ranks of originals: the meta.json of a subagent outranks its transcript.
const (
	rankLog  = 1
	rankMeta = 2
)

// facts is what lines have stated about the session so far.
type facts struct {
	project, branch, version, model, agent string
	title                                  string
	emitted, started, hasTitle             bool
}

// applyFacts yields run and conversation again if a line states something new. A branch starts at its first own line.
func (p *parser) applyFacts(l *line) {
	var c transcript.Conversation
	f := &p.facts
	changed := !f.emitted
	f.emitted = true
	update := func(old *string, v jsontext.Value, to *string) {
		if v.IsString() && v.Len() > len(`""`) && !v.Is(*old) {
			if s := v.Str(); s != *old {
				*old, *to, changed = s, s, true
			}
		}
	}
	if f.project == "" {
		update(&f.project, l.cwd, &c.Project)
	}
	update(&f.branch, l.branch, &c.Branch)
	update(&f.version, l.version, &c.Version)
	update(&f.agent, l.agentName, &c.Agent)
	if l.typ == "assistant" {
		update(&f.model, l.model, &c.Model)
	}
	if l.at.Valid && !f.started && !l.forkedFrom.Exists() {
		f.started, changed, c.Started = true, true, l.at
	}
	if l.subtype == "custom_title" {
		update(&f.title, l.sys.Get("customTitle"), &c.Title)
		f.hasTitle = f.hasTitle || f.title != ""
	}
	if changed {
		p.emitRun(c)
	}
}

// setTitleFrom sets the title from the first prompt, unless there is a title.
func (p *parser) setTitleFrom(text string) {
	if p.facts.hasTitle || strings.HasPrefix(text, "<") {
		return
	}
	if title := format.Title(text); title != "" {
		p.facts.hasTitle = true
		p.emitRun(transcript.Conversation{Title: title})
	}
}

// line yields the records of one line.
func (p *parser) line(l line) {
	p.lend.Reset()
	if p.run == "" {
		p.begin(l)
	} else {
		p.applyFacts(&l)
	}
	p.copiedFrom(&l)
	m := &lineEvents{parser: p, line: &l, duplicate: p.isRepeated(&l)}
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
		m.uncountedRow(transcript.KindUnknown)
	}
	if l.uuid != "" {
		p.prevID = l.uuid
	}
}

var seed = maphash.MakeSeed()

// isRepeated reports whether the same line came before: it was written again after a crash.
func (p *parser) isRepeated(l *line) bool {
	if l.uuid == "" {
		return false
	}
	sum := maphash.Bytes(seed, l.value.Raw())
	before := p.lines[sum]
	p.lines[sum] = true
	return before
}

// copiedFrom links the session to the one that its lines were copied from, and to the one that created it.
func (p *parser) copiedFrom(l *line) {
	kind, from := "fork", l.forkedFrom.Get("sessionId").Str()
	if l.subtype == "parent_session" {
		kind, from = "parent", l.sys.Get("parentSessionId").Str()
	}
	if from == "" || from == p.session || p.copied[kind+from] {
		return
	}
	p.copied[kind+from] = true
	p.Emit(&transcript.Link{Kind: kind, From: transcript.RunEnd(from), To: transcript.RunEnd(p.run), Time: l.at, Origin: l.origin})
}

// event returns an event with one part.
func (p *parser) event(l *line, kind transcript.Kind, role string, duplicate bool) *transcript.Event {
	e := p.lend.Event(transcript.Event{
		Conversation: p.session, Run: p.run, Kind: kind, Role: role, Type: l.typ, Time: l.at, Origin: l.origin, Verdict: transcript.Counted,
	})
	if p.agent != "" {
		e.Conversation = p.agent
	}
	switch {
	case duplicate:
		e.Verdict = transcript.DuplicateOf
	case l.key != "":
		e.ID, e.Global, e.Home = l.key, true, !l.forkedFrom.Exists()
	}
	e.Attributes.Set("subtype", l.subtype)
	if l.parent.IsString() && !l.parent.Is(p.prevID) {
		e.Attributes.Set("parent", l.parent.Str())
	}
	return e
}
