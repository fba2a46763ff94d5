package kimi

import (
	"math"
	"path"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// line is one line of a wire, its members looked up once.
type line struct {
	value                               format.Value
	origin                              transcript.Origin
	at                                  transcript.Time
	clock                               format.Value // the time as written
	typ                                 string
	event, message, model, usage, input format.Value
	alias, profile, cwd, version, from  format.Value
	content, disclosure                 format.Value
}

func readLine(o format.Object) (l line) {
	l.value, l.origin = o.Value, o.Origin
	for key, v := range o.Value.Fields() {
		switch key {
		case "type":
			l.typ = v.Word()
		case "time", "created_at":
			l.clock, l.at = v, moment(v)
		case "timestamp":
			l.clock, l.at = v, moment(v)
		case "event":
			l.event = v
		case "message":
			l.message = v
		case "model":
			l.model = v
		case "usage":
			l.usage = v
		case "input":
			l.input = v
		case "content":
			l.content = v
		case "modelAlias":
			l.alias = v
		case "profileName":
			l.profile = v
		case "cwd":
			l.cwd = v
		case "environmentDisclosure":
			l.disclosure = v
		case "app_version":
			l.version = v
		case "origin":
			l.from = v
		}
	}
	return l
}

// moment reads a time: milliseconds, or seconds with a fraction.
func moment(v format.Value) transcript.Time {
	if v.IsString() {
		return v.Time()
	}
	f, ok := v.Float()
	switch {
	case !ok || f <= 0 || f >= 1e15:
		return transcript.Time{}
	case f < 1e11:
		return format.UnixNano(int64(math.Round(f*1e6)) * 1000)
	}
	return format.UnixMilli(int64(f))
}

// fine says that a time is a clock's own, which no two lines share by chance: it has more than thousandths of a second.
func fine(clock format.Value) bool {
	if clock.Type() != '0' {
		return false
	}
	_, fraction, _ := strings.Cut(string(clock.Raw()), ".")
	return len(fraction) >= 5 && strings.Trim(fraction, "0123456789") == ""
}

// wire yields the records of a wire.
func (p *parser) wire() {
	for o := range p.Each(format.Objects(p.in.Reader, "", p.problem)) {
		p.line(readLine(o))
	}
	if p.run == "" && p.head != nil {
		p.begin(line{})
	}
	if p.run == "" { // nothing to read, but whose it would be is known by its place
		p.name(line{})
		p.Settle(p.run)
	}
}

// name settles whose the file is: by its place, or else by the first time in it, which a copy of it has, too.
func (p *parser) name(first line) {
	p.session = p.place.session
	if p.session == "" {
		p.session = strings.TrimSuffix(path.Base(p.in.Path), ".jsonl")
		if p.guess = !first.at.Valid; !p.guess {
			p.session += "@" + strconv.FormatInt(first.at.UnixMicro, 10)
		}
	}
	p.run, p.conversation = p.session, p.session
	if p.place.agent != "" {
		p.run, p.conversation = agentRun(p.session, p.place.agent), p.place.agent
	}
}

// agentRun is the id of a subagent's run. Its own id is short and only means something in its session.
func agentRun(session, agent string) string { return session + "/" + agent }

func (p *parser) begin(first line) {
	p.name(first)
	p.say(transcript.Conversation{Started: first.at})
	p.Settle(p.run)
	if p.head != nil {
		p.head.Conversation = p.conversation
		p.Emit(p.head)
		p.head = nil
	}
	if p.place.agent != "" {
		p.Emit(&transcript.Link{Kind: "parent", From: transcript.RunEnd(p.session), To: transcript.RunEnd(p.run), Time: first.at, Origin: first.origin})
	}
}

// What the notes beside a wire say goes before what it does, and that before what is sent to the model.
const (
	rankChat = 0
	rankWire = 1
	rankNote = 2
)

// say states something of the run and its conversation alike.
func (p *parser) say(c transcript.Conversation) {
	c.ID, c.Run, c.Child = p.conversation, p.run, p.place.agent != ""
	if c.Rank = rankWire; p.in.Role == roleChat {
		c.Rank = rankChat
	}
	p.Emit(&transcript.Run{
		ID: p.run, Rank: c.Rank, Child: c.Child, Group: p.place.bucket, Title: c.Title, Agent: c.Agent, Model: c.Model, Version: c.Version,
		Project: c.Project, Started: c.Started, Guess: p.guess,
	})
	p.Emit(&c)
}

// facts is what lines said of the session so far.
type facts struct {
	model, agent, project, version string
	titled                         bool
}

// learn states what a line says for the first time, or anew.
func (p *parser) learn(l *line) {
	var c transcript.Conversation
	news := false
	again := func(old *string, v format.Value, to *string) {
		if v.IsString() && v.Len() > len(`""`) && !v.Is(*old) {
			if s := v.Str(); s != *old {
				*old, *to, news = s, s, true
			}
		}
	}
	switch l.typ {
	case "config.update", "profile.bind":
		again(&p.facts.model, l.alias, &c.Model)
		again(&p.facts.project, l.cwd, &c.Project)
		again(&p.facts.project, l.disclosure.Get("cwd"), &c.Project)
		if p.place.agent != "" {
			again(&p.facts.agent, l.profile, &c.Agent)
		}
	case "usage.record":
		again(&p.facts.model, l.model, &c.Model)
	case "metadata":
		again(&p.facts.version, l.version, &c.Version)
	}
	if news {
		p.say(c)
	}
}

// prompted names the session after its first prompt.
func (p *parser) prompted(text string) {
	if p.facts.titled || strings.HasPrefix(strings.TrimSpace(text), "<") {
		return
	}
	if title := format.Title(text); title != "" {
		p.facts.titled = true
		p.say(transcript.Conversation{Title: strings.Clone(title)})
	}
}

// line yields the rows of one line.
func (p *parser) line(l line) {
	p.lend.Reset()
	if p.run == "" {
		if p.place.session == "" && !l.at.Valid && l.typ == "metadata" && p.head == nil {
			p.head = transcript.Keep(p.aside(l, transcript.KindLifecycle)).(*transcript.Event)
			return
		}
		p.begin(l)
	}
	p.learn(&l)
	p.begun(&l)
	if l.typ == "" && l.message.Exists() {
		p.message(l, wireMessage(l.message))
		return
	}
	p.record(l)
}

// begun says where lines begin that were not made with the file: one that was made of a session of Kimi CLI has the time of its
// making on all that it took over.
func (p *parser) begun(l *line) {
	switch {
	case l.typ == "metadata" && !p.made.Valid:
		p.made = l.at
	case p.made.Valid && !p.own && l.at.Valid && l.at != p.made:
		p.own = true
		p.hint(p.run, hintOwn, strconv.FormatInt(l.origin.Offset, 10), l.origin)
	}
}

func (p *parser) hint(run, key, value string, at transcript.Origin) {
	if value != "" {
		p.Emit(&transcript.Hint{Run: run, Key: key, Value: value, Origin: at})
	}
}

// event makes one of one value of a line. It lives until the next line.
func (p *parser) event(l line, v format.Value, kind transcript.Kind, role string) *transcript.Event {
	e := p.lend.Event(transcript.Event{
		Conversation: p.conversation, Kind: kind, Role: role, Type: l.typ, Time: l.at, Origin: l.origin, Verdict: transcript.Counted,
	})
	part := &e.Parts[0]
	part.Text = p.lend.Text(func(b []byte) []byte { return appendText(b, v) })
	if at := format.OffsetIn(l.value, v); at > 0 {
		part.Offset, part.Length = at, int64(v.Len())
	}
	return e
}

// aside makes a row of a line that is no event: it is found.
func (p *parser) aside(l line, kind transcript.Kind) *transcript.Event {
	e := p.event(l, l.value, kind, "")
	e.Verdict = transcript.Uncounted
	return e
}
