package codebuddy

import (
	"cmp"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// line is one line of a session with its members, looked up once.
type line struct {
	value  jsontext.Value
	origin transcript.Origin
	at     transcript.Time

	typ, role, id, session, cwd                         string
	content, raw, call, name, arguments, output, status jsontext.Value

	provider  provider
	duplicate bool // this file already has the line
}

// provider holds the members of providerData.
type provider struct {
	message, model, asked, agent string
	usage, rawUsage              jsontext.Value
	compact, child               bool
}

func readLine(o jsontext.Object) (l line) {
	l.value, l.origin = o.Value, o.Origin
	for key, v := range o.Value.Fields() {
		switch key {
		case "type":
			l.typ = v.Word()
		case "role":
			l.role = v.Word()
		case "id":
			l.id = v.Str()
		case "timestamp":
			l.at = v.TimeOrMilli()
		case "sessionId":
			l.session = v.Word()
		case "cwd":
			l.cwd = v.Word()
		default:
			l.setItem(key, v)
		}
	}
	return l
}

// setItem sets a member that only items of one type have.
func (l *line) setItem(key string, v jsontext.Value) {
	switch key {
	case "content":
		l.content = v
	case "rawContent":
		l.raw = v
	case "callId":
		l.call = v
	case "name":
		l.name = v
	case "arguments":
		l.arguments = v
	case "output":
		l.output = v
	case "status":
		l.status = v
	case "providerData":
		l.provider = readProvider(v)
	}
}

func readProvider(v jsontext.Value) (p provider) {
	for key, f := range v.Fields() {
		switch key {
		case "messageId":
			p.message = f.Str()
		case "model":
			p.model = f.Word()
		case "requestModelId":
			p.asked = f.Word()
		case "agent":
			p.agent = f.Word()
		case "usage":
			p.usage = f
		case "rawUsage":
			p.rawUsage = f
		case "isCompactInternal":
			p.compact = f.Bool() == transcript.Yes
		case "isSubAgent":
			p.child = f.Bool() == transcript.Yes
		}
	}
	p.compact = p.compact || p.agent == "compact"
	return p
}

// parser is one parse of one file.
type parser struct {
	format.Sink
	in  format.Input
	loc location
	run string // "" until a line is read

	facts transcript.Conversation // what is known about the session
	named bool                    // a line states a title
	child bool

	names map[string]string // of tools, by call id
	seen  map[string]bool   // lines with an id, and other sessions

	lend format.Lender // of the events of a line
}

// session yields the records of a session.
func (p *parser) session() {
	problem := func(pr *transcript.Problem) {
		pr.Alone = true
		p.Problem(p.run, pr)
	}
	for o := range p.Each(jsontext.Objects(p.in.Reader, "", problem)) {
		p.lend.Reset()
		l := readLine(o)
		if p.run == "" {
			p.begin(&l)
		}
		p.line(&l)
	}
	if p.Done() {
		return
	}
	if p.run == "" {
		p.Settle(p.loc.stem)
		return
	}
	p.emitSession()
}

// begin identifies the session. Its file is called by its id, unless somebody has renamed it; then the lines state the id. The lines of a
// sub-agent have an id of their own; where they have their session's, the name of the file tells the sub-agent.
func (p *parser) begin(l *line) {
	switch id := cmp.Or(l.session, p.loc.stem); {
	case !p.loc.isAgent() && format.IsUUID(p.loc.stem):
		p.run = p.loc.stem
	case p.loc.isAgent() && (l.session == "" || l.session == p.loc.parent):
		p.run = strings.TrimPrefix(p.loc.parent+"/"+p.loc.stem, "/")
	default:
		p.run = id
	}
	p.run = strings.Clone(p.run)
	p.child = p.loc.isAgent() || l.provider.child
	p.emitSession()
	p.Settle(p.run)
	if p.loc.parent != "" && p.loc.parent != p.run {
		p.Emit(&transcript.Link{Kind: "parent", From: transcript.RunEnd(p.loc.parent), To: transcript.RunEnd(p.run), Origin: l.origin})
	}
}

// emitSession yields what is known about the session so far, for its run and its conversation alike.
func (p *parser) emitSession() {
	c := p.facts
	c.ID, c.Run, c.Child = p.run, p.run, p.child
	p.Emit(&transcript.Run{ID: p.run, Child: c.Child, Title: c.Title, Agent: c.Agent, Model: c.Model, Project: c.Project, Started: c.Started, Ended: c.Ended})
	p.Emit(&c)
}

func (p *parser) line(l *line) {
	if l.session != "" && l.session != p.run && !p.loc.isAgent() && !p.seen[l.session] {
		p.seen[l.session] = true
		p.Emit(&transcript.Link{Kind: "fork", From: transcript.RunEnd(strings.Clone(l.session)), To: transcript.RunEnd(p.run), Origin: l.origin})
	}
	if l.id != "" {
		key := l.typ + " " + l.id
		l.duplicate = p.seen[key]
		p.seen[key] = true
	}
	p.note(l)
	switch l.typ {
	case "message":
		p.message(l)
	case "reasoning":
		p.reasoning(l)
	case "function_call":
		p.call(l)
	case "function_call_result":
		p.result(l)
	case "topic", "ai-title":
		if title := format.Title(l.value.First("topic", "aiTitle").Str()); title != "" {
			p.facts.Title, p.named = strings.Clone(title), true
		}
		p.uncounted(l, transcript.KindLifecycle)
	case "session-meta", "file-history-snapshot":
		p.uncounted(l, transcript.KindLifecycle)
	default:
		p.uncounted(l, transcript.KindUnknown)
	}
	p.usage(l)
}

// note extends what is known about the session by what a line states.
func (p *parser) note(l *line) {
	c := &p.facts
	c.Project = cmp.Or(c.Project, l.cwd)
	if model := cmp.Or(l.provider.model, l.provider.asked); model != "" {
		c.Model = model
	}
	if agent := l.provider.agent; p.child && agent != "" && !l.provider.compact {
		c.Agent = cmp.Or(c.Agent, agent)
	}
	format.Extend(&c.Started, &c.Ended, l.at)
}

// event returns an event for one value of a line, or the whole line. It is valid until the next line.
func (p *parser) event(l *line, v jsontext.Value, kind transcript.Kind, role string) *transcript.Event {
	e := p.lend.Event(transcript.Event{Conversation: p.run, Kind: kind, Role: role, Type: l.typ, Time: l.at, Origin: l.origin})
	switch {
	case l.duplicate:
		e.Verdict = transcript.DuplicateOf
	case l.id != "":
		e.ID, e.Global, e.Home = l.id, true, p.isHome(l)
	}
	if role == "assistant" {
		e.Model = l.provider.model
	}
	e.Parts[0] = p.part(l, v)
	return e
}

// isHome reports whether a line was first written in this session.
func (p *parser) isHome(l *line) bool {
	return l.session == "" || l.session == p.run || p.loc.isAgent()
}

func (p *parser) part(l *line, v jsontext.Value) transcript.Part {
	return p.lend.Part(l.value, v, appendText)
}

// uncounted yields a row that does not count for a line. Its place is its identity.
func (p *parser) uncounted(l *line, kind transcript.Kind) {
	e := p.event(l, jsontext.Value{}, kind, "")
	e.Verdict, e.ID, e.Global, e.Home = transcript.Uncounted, "", false, false
	p.Emit(e)
}
