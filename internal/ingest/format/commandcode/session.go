package commandcode

import (
	"cmp"
	"io"
	"path"
	"strconv"
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

	typ, id, session, role, model, branch string
	content, meta, usage                  jsontext.Value

	flat      bool   // of version 2
	key       string // identity of the entry, the same in copies; "" if only its place identifies it
	duplicate bool   // this file already has the entry
}

func readLine(o jsontext.Object) line {
	l := line{value: o.Value, origin: o.Origin}
	for key, v := range o.Value.Fields() {
		switch key {
		case "type":
			l.typ = v.Word()
		case "id":
			l.id = v.Str()
		case "sessionId":
			l.session = v.Str()
		case "timestamp":
			l.at = v.TimeOrMilli()
		case "model":
			l.model = v.Word()
		case "usage":
			l.usage = v
		case "gitBranch":
			l.branch = v.Str()
		case "metadata":
			l.meta = v
		case "message":
			l.setMessage(v)
		default:
			l.setMember(key, v)
		}
	}
	if l.flat = l.typ == "" && l.role != ""; l.flat {
		l.typ = "message"
	}
	return l
}

func (l *line) setMessage(v jsontext.Value) {
	for key, f := range v.Fields() {
		l.setMember(key, f)
	}
}

// setMember sets a member of a message.
func (l *line) setMember(key string, v jsontext.Value) {
	switch key {
	case "role":
		l.role = v.Word()
	case "content":
		l.content = v
	case "meta":
		l.meta = v
	}
}

// parser is one parse of one file.
type parser struct {
	format.Sink
	stem string // of the file's name
	run  string // "" until a line is read

	facts   transcript.Conversation // what is known about the session
	begun   transcript.Time         // from the header
	isNamed bool                    // a line states a title

	tools map[string]string // names, by the ids of calls
	seen  map[string]bool   // keys of entries

	lend format.Lender // of the events of a line
}

// session yields the records of a session.
func (p *parser) session(file io.Reader) {
	problem := func(pr *transcript.Problem) {
		pr.Alone = true
		p.Problem(p.run, pr)
	}
	for o := range p.Each(jsontext.Objects(file, "", problem)) {
		p.lend.Reset()
		l := readLine(o)
		p.note(&l)
		if p.run == "" {
			p.begin(&l)
		}
		p.identify(&l)
		p.line(&l)
	}
	switch {
	case p.Done():
	case p.run == "":
		p.Settle(p.stem)
	default:
		p.emitSession()
	}
}

// begin identifies the session: by the name of its file, unless somebody has renamed that.
func (p *parser) begin(l *line) {
	p.run = p.stem
	id := l.session
	if l.typ == "session" {
		id = l.id
		p.begun = l.at
	}
	if !format.IsUUID(p.stem) {
		p.run = cmp.Or(id, p.stem)
	}
	p.emitSession()
	p.Settle(p.run)
}

// emitSession yields what is known about the session so far, for its run and its conversation alike.
func (p *parser) emitSession() {
	c := p.facts
	c.ID, c.Run, c.Rank = p.run, p.run, rankSession
	p.Emit(&transcript.Run{
		ID: p.run, Rank: c.Rank, Title: c.Title, Model: c.Model, Project: c.Project, Branch: c.Branch, Started: c.Started, Ended: c.Ended,
	})
	p.Emit(&c)
}

// identify sets the key of an entry. The ids of version 2 change whenever it writes its file.
func (p *parser) identify(l *line) {
	if l.id == "" || !l.at.Valid || l.flat {
		return
	}
	l.key = l.id + " " + strconv.FormatInt(l.at.UnixMicro, 36)
	l.duplicate = p.seen[l.key]
	p.seen[l.key] = true
}

// isHome reports whether an entry was first written in this session, as far as it shows: a copy of a session has entries older than itself.
func (p *parser) isHome(l *line) bool { return !p.begun.Valid || l.at.UnixMicro >= p.begun.UnixMicro }

// note notes what a line states about the session.
func (p *parser) note(l *line) {
	c := &p.facts
	if l.typ == "message" || l.typ == "model_change" {
		c.Model = cmp.Or(l.model, l.value.Get("modelId").Str(), c.Model)
	}
	if l.branch != "-" {
		c.Branch = cmp.Or(c.Branch, l.branch)
	}
	if c.Project == "" {
		c.Project = cmp.Or(l.value.Get("cwd").Str(), l.meta.First("cwd", "projectPath").Str(), l.meta.Get("context", "cwd").Str())
	}
	format.Extend(&c.Started, &c.Ended, l.at)
}

// kinds are the types of lines that do not count.
var kinds = map[string]transcript.Kind{
	"session": transcript.KindLifecycle, "model_change": transcript.KindLifecycle, "effort_change": transcript.KindLifecycle, "custom": transcript.KindLifecycle,
	"label": transcript.KindLifecycle, "session_info": transcript.KindNotice,
}

func (p *parser) line(l *line) {
	switch l.typ {
	case "message":
		p.message(l)
		return
	case "compaction":
		p.Emit(p.event(l, jsontext.Value{}, transcript.KindCompaction, "system"))
		return
	case "branch_summary", "custom_message":
		p.Emit(p.event(l, jsontext.Value{}, transcript.KindSystem, "system"))
		return
	case "session":
		p.fork(l, sessionOf(path.Base(strings.ReplaceAll(l.value.Get("parentSession").Str(), `\`, "/"))))
	case "session_info":
		if title := format.Title(l.value.Get("name").Str()); title != "" {
			p.facts.Title, p.isNamed = strings.Clone(title), true
		}
	}
	kind, ok := kinds[l.typ]
	if !ok {
		kind = transcript.KindUnknown
	}
	p.uncounted(l, kind)
}

// fork yields the link from the session that this one is a copy of.
func (p *parser) fork(l *line, from string) {
	if from != "" && from != "." && from != p.run {
		p.Emit(&transcript.Link{Kind: "fork", From: transcript.RunEnd(from), To: transcript.RunEnd(p.run), Time: l.at, Origin: l.origin})
	}
}

// event returns an event for one value of a line, or the whole line. It is valid until the next line.
func (p *parser) event(l *line, v jsontext.Value, kind transcript.Kind, role string) *transcript.Event {
	e := p.lend.Event(transcript.Event{Conversation: p.run, Kind: kind, Role: role, Type: l.typ, Time: l.at, Origin: l.origin})
	switch {
	case l.duplicate:
		e.Verdict = transcript.DuplicateOf
	case l.key != "":
		e.ID, e.Global, e.Home = l.key, true, p.isHome(l)
	}
	if role == "assistant" {
		e.Model = l.model
	}
	e.Parts[0] = p.part(l, v)
	return e
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

// meta yields what the program notes about a session.
func (p *parser) meta(file io.Reader) {
	problem := func(pr *transcript.Problem) { p.Problem(p.stem, pr) }
	v, at := p.Document(file, problem)
	if !v.Exists() {
		return
	}
	if !v.IsObject() {
		problem(&transcript.Problem{Kind: "not an object", Reason: "not what is noted about a session", Origin: at})
		return
	}
	p.run = p.stem
	run := &transcript.Run{
		ID: p.run, Named: true, Rank: rankMeta, Title: format.Title(v.Get("title").Str()), Model: v.Get("model").Str(), Project: v.First("cwd", "projectPath").Str(),
	}
	run.Attributes.Set("entrypoint", v.Get("entrypoint").Str())
	p.Emit(run)
	p.fork(&line{origin: at, at: v.Get("forkedAt").TimeOrMilli()}, v.Get("parentSessionId").Str())
	p.Emit(&transcript.Event{
		Run: p.run, Verdict: transcript.Uncounted, Kind: transcript.KindNotice, Type: roleMeta, Origin: at, Parts: []transcript.Part{{Text: textOf(v)}},
	})
}
