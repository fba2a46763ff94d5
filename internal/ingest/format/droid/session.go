package droid

import (
	"cmp"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// kinds are the known types of lines. Only messages and summaries count.
var kinds = map[string]transcript.Kind{
	"session_start": transcript.KindLifecycle, "session_end": transcript.KindLifecycle, "message": transcript.KindMessage,
	"compaction_state": transcript.KindCompaction, "todo_state": transcript.KindLifecycle, "agent_turn_outcome": transcript.KindLifecycle,
}

// line is one line of a session with its members, looked up once.
type line struct {
	value   jsontext.Value
	origin  transcript.Origin
	at      transcript.Time
	typ, id string
	message jsontext.Value
	summary jsontext.Value // of a compaction

	duplicate bool // this file already has the line
}

func readLine(o jsontext.Object) (l line) {
	l.value, l.origin = o.Value, o.Origin
	for key, v := range o.Value.Fields() {
		switch key {
		case "type":
			l.typ = v.Word()
		case "id":
			l.id = v.Str()
		case "timestamp":
			l.at = v.TimeOrMilli()
		case "message":
			l.message = v
		case "summaryText":
			l.summary = v
		}
	}
	return l
}

// session yields the records of a session.
func (p *parser) session() {
	for o := range p.Each(jsontext.Objects(p.in.Reader, "", p.problem)) {
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
		p.Settle(sessionOf(p.in.Path))
		return
	}
	p.emitSession()
}

// begin identifies the session by its header, which is the first line of every whole file.
func (p *parser) begin(l *line) {
	p.run = sessionOf(p.in.Path)
	if l.typ == "session_start" {
		p.run = cmp.Or(l.id, p.run)
		p.header(l)
	}
	p.emitSession()
	p.Settle(p.run)
	if l.typ == "session_start" {
		p.links(l)
	}
}

// header reads the header. The program writes it again when the title changes, and the file with it.
func (p *parser) header(l *line) {
	v, c := l.value, &p.facts
	c.Project = cmp.Or(v.Get("cwd").Str(), v.Get("lastCwd").Str())
	if title := format.Title(cmp.Or(v.Get("sessionTitle").Str(), v.Get("title").Str())); title != "" && title != "New Session" {
		c.Title, p.named = title, true
	}
	c.Attributes.Set("mission", v.Get("decompMissionId").Str())
	c.Attributes.Set("mission_role", v.Get("decompSessionType").Str())
	p.forkedOf = v.Get("parent").Str()
	p.child = v.Get("callingSessionId").Str() != "" && p.forkedOf == ""
}

// links yields links to the session that this one was forked from or continues, and to the one that started it.
func (p *parser) links(l *line) {
	if p.forkedOf != "" && p.forkedOf != p.run {
		p.Emit(&transcript.Link{Kind: "fork", From: transcript.RunEnd(p.forkedOf), To: transcript.RunEnd(p.run), Origin: l.origin})
		p.Hint(p.run, hintParent, p.forkedOf, l.origin)
	}
	if caller := l.value.Get("callingSessionId").Str(); p.child && caller != p.run {
		link := &transcript.Link{Kind: "parent", From: transcript.RunEnd(caller), To: transcript.RunEnd(p.run), Origin: l.origin}
		link.Attributes.Set("call", l.value.Get("callingToolUseId").Str())
		p.Emit(link)
	}
}

func (p *parser) line(l *line) {
	if l.id != "" && l.typ != "session_start" {
		l.duplicate = p.seen[l.id]
		p.seen[l.id] = true
	}
	format.Extend(&p.facts.Started, &p.facts.Ended, l.at)
	switch {
	case l.typ == "message" && l.message.IsObject():
		p.message(l)
		p.said = true
	case l.typ == "compaction_state" && l.summary.IsString():
		if !p.said {
			p.summarised(l)
		}
		p.Emit(p.event(l, l.summary, transcript.KindCompaction, "system", l.typ))
		p.said = true
	case kinds[l.typ] == transcript.KindLifecycle:
		p.uncounted(l, transcript.KindLifecycle, l.typ)
	default:
		p.uncounted(l, transcript.KindUnknown, l.typ)
	}
}

// event returns an event for one value of a line, or the whole line. It is valid until the next line.
func (p *parser) event(l *line, v jsontext.Value, kind transcript.Kind, role, typ string) *transcript.Event {
	e := p.lend.Event(transcript.Event{Conversation: p.run, Kind: kind, Role: role, Type: typ, Time: l.at, Origin: l.origin})
	switch {
	case l.duplicate:
		e.Verdict = transcript.DuplicateOf
	case l.id != "":
		e.ID, e.Global, e.Home = l.id, true, p.forkedOf == ""
	}
	e.Parts[0] = p.part(l, v)
	return e
}

func (p *parser) part(l *line, v jsontext.Value) transcript.Part {
	if p.in.Role == roleOutput {
		return p.lend.Part(l.value, v, appendPrinted)
	}
	return p.lend.Part(l.value, v, appendText)
}

// uncounted yields a row that does not count for a line. Its place is its identity.
func (p *parser) uncounted(l *line, kind transcript.Kind, typ string) {
	e := p.event(l, jsontext.Value{}, kind, "", typ)
	e.Verdict, e.ID, e.Global, e.Home = transcript.Uncounted, "", false, false
	p.Emit(e)
}

// setTitleFrom sets the title from the first prompt, if the header has none.
func (p *parser) setTitleFrom(text string) {
	if !p.named && p.facts.Title == "" {
		p.facts.Title = strings.Clone(format.Title(text))
	}
}
