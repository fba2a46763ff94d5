package kimi

import (
	"math"
	"path"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// line is one line of a wire with its members, looked up once.
type line struct {
	value                                      jsontext.Value
	origin                                     transcript.Origin
	at                                         transcript.Time
	clock                                      jsontext.Value // the time, as written
	typ                                        string
	event, message, model, usage, input        jsontext.Value
	alias, profile, cwd, version, promptOrigin jsontext.Value
	content, disclosure                        jsontext.Value
}

func readLine(o jsontext.Object) (l line) {
	l.value, l.origin = o.Value, o.Origin
	for key, v := range o.Value.Fields() {
		switch key {
		case "type":
			l.typ = v.Word()
		case "time", "created_at":
			l.clock, l.at = v, parseTime(v)
		case "timestamp":
			l.clock, l.at = v, parseTime(v)
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
			l.promptOrigin = v
		}
	}
	return l
}

// parseTime reads a time in milliseconds, in seconds with a fraction, or as text.
func parseTime(v jsontext.Value) transcript.Time {
	if v.IsString() {
		return v.Time()
	}
	f, ok := v.Float()
	switch {
	case !ok || f <= 0 || f >= 1e15:
		return transcript.Time{}
	case f < 1e11:
		return timestamp.UnixNano(int64(math.Round(f*1e6)) * 1000)
	}
	return timestamp.UnixMilli(int64(f))
}

// isPrecise reports whether a time has microseconds, so that no two lines share it by chance.
func isPrecise(clock jsontext.Value) bool {
	if clock.Type() != '0' {
		return false
	}
	_, fraction, _ := strings.Cut(string(clock.Raw()), ".")
	return len(fraction) >= 5 && strings.Trim(fraction, "0123456789") == ""
}

// wire yields the records of a wire.jsonl.
func (p *parser) wire() {
	for o := range p.Each(jsontext.Objects(p.in.Reader, "", p.problem)) {
		p.line(readLine(o))
	}
	if p.run == "" && p.pending != nil {
		p.begin(line{})
	}
	if p.run == "" { // no line could be read; the place still identifies the run
		p.identify(line{})
		p.Settle(p.run)
	}
}

// identify sets run and conversation: from the file's place, or else from its first time, which a copy of the file shares.
func (p *parser) identify(first line) {
	p.session = p.loc.session
	if p.session == "" {
		p.session = strings.TrimSuffix(path.Base(p.in.Path), ".jsonl")
		if p.guessed = !first.at.Valid; !p.guessed {
			p.session += "@" + strconv.FormatInt(first.at.UnixMicro, 10)
		}
	}
	p.run, p.conversation = p.session, p.session
	if p.loc.agent != "" {
		p.run, p.conversation = agentRun(p.session, p.loc.agent), p.loc.agent
	}
}

// agentRun returns the run id of a subagent. Its own id is short and unique only within its session.
func agentRun(session, agent string) string { return session + "/" + agent }

func (p *parser) begin(first line) {
	p.identify(first)
	p.emitRun(transcript.Conversation{Started: first.at})
	p.Settle(p.run)
	if p.pending != nil {
		p.pending.Conversation = p.conversation
		p.Emit(p.pending)
		p.pending = nil
	}
	if p.loc.agent != "" {
		p.Emit(&transcript.Link{Kind: "parent", From: transcript.RunEnd(p.session), To: transcript.RunEnd(p.run), Time: first.at, Origin: first.origin})
	}
}

// The ranks of originals: the metadata files outrank the wire, and the wire outranks context.jsonl.
const (
	rankChat     = 0
	rankWire     = 1
	rankMetadata = 2
)

// emitRun yields fields of the run and its conversation alike.
func (p *parser) emitRun(c transcript.Conversation) {
	c.ID, c.Run, c.Child = p.conversation, p.run, p.loc.agent != ""
	if c.Rank = rankWire; p.in.Role == roleChat {
		c.Rank = rankChat
	}
	p.Emit(&transcript.Run{
		ID: p.run, Rank: c.Rank, Child: c.Child, Group: p.loc.bucket, Title: c.Title, Agent: c.Agent, Model: c.Model, Version: c.Version,
		Project: c.Project, Started: c.Started, Guess: p.guessed,
	})
	p.Emit(&c)
}

// facts is what lines have stated about the session so far.
type facts struct {
	model, agent, project, version string
	hasTitle                       bool
}

// applyFacts yields run and conversation again if a line states something new.
func (p *parser) applyFacts(l *line) {
	var c transcript.Conversation
	changed := false
	update := func(old *string, v jsontext.Value, to *string) {
		if v.IsString() && v.Len() > len(`""`) && !v.Is(*old) {
			if s := v.Str(); s != *old {
				*old, *to, changed = s, s, true
			}
		}
	}
	switch l.typ {
	case "config.update", "profile.bind":
		update(&p.facts.model, l.alias, &c.Model)
		update(&p.facts.project, l.cwd, &c.Project)
		update(&p.facts.project, l.disclosure.Get("cwd"), &c.Project)
		if p.loc.agent != "" {
			update(&p.facts.agent, l.profile, &c.Agent)
		}
	case "usage.record":
		update(&p.facts.model, l.model, &c.Model)
	case "metadata":
		update(&p.facts.version, l.version, &c.Version)
	}
	if changed {
		p.emitRun(c)
	}
}

// setTitleFrom sets the title from the first prompt.
func (p *parser) setTitleFrom(text string) {
	if p.facts.hasTitle || strings.HasPrefix(strings.TrimSpace(text), "<") {
		return
	}
	if title := format.Title(text); title != "" {
		p.facts.hasTitle = true
		p.emitRun(transcript.Conversation{Title: strings.Clone(title)})
	}
}

// line yields the records of one line.
func (p *parser) line(l line) {
	p.lend.Reset()
	if p.run == "" {
		if p.loc.session == "" && !l.at.Valid && l.typ == "metadata" && p.pending == nil {
			p.pending = transcript.Clone(p.uncountedRow(l, transcript.KindLifecycle)).(*transcript.Event)
			return
		}
		p.begin(l)
	}
	p.applyFacts(&l)
	p.markOwn(&l)
	if l.typ == "" && l.message.Exists() {
		p.message(l, wireMessage(l.message))
		return
	}
	p.record(l)
}

// markOwn records the first line with another time than the file's creation: a file migrated from a session of Kimi CLI has its
// creation time on all lines that it took over.
func (p *parser) markOwn(l *line) {
	switch {
	case l.typ == "metadata" && !p.fileTime.Valid:
		p.fileTime = l.at
	case p.fileTime.Valid && !p.hasOwn && l.at.Valid && l.at != p.fileTime:
		p.hasOwn = true
		p.Hint(p.run, hintOwn, strconv.FormatInt(l.origin.Offset, 10), l.origin)
	}
}

// event returns an event for one value of a line. It is valid until the next line.
func (p *parser) event(l line, v jsontext.Value, kind transcript.Kind, role string) *transcript.Event {
	e := p.lend.Event(transcript.Event{
		Conversation: p.conversation, Kind: kind, Role: role, Type: l.typ, Time: l.at, Origin: l.origin, Verdict: transcript.Counted,
	})
	part := &e.Parts[0]
	part.Text = p.lend.Text(func(b []byte) []byte { return appendText(b, v) })
	if at := jsontext.OffsetIn(l.value, v); at > 0 {
		part.Offset, part.Length = at, int64(v.Len())
	}
	return e
}

// uncountedRow returns an uncounted event for a line.
func (p *parser) uncountedRow(l line, kind transcript.Kind) *transcript.Event {
	e := p.event(l, l.value, kind, "")
	e.Verdict = transcript.Uncounted
	return e
}
