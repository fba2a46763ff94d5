package neovate

import (
	"cmp"
	"hash/fnv"
	"io"
	"path"
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

	typ, role, uuid, parent, session, model string
	content, shown, usage, meta, config     jsontext.Value
	hidden                                  bool

	duplicate bool // this file already has the message
}

func readLine(v jsontext.Value, at transcript.Origin) line {
	l := line{value: v, origin: at}
	for key, f := range v.Fields() {
		switch key {
		case "type":
			l.typ = f.Word()
		case "role":
			l.role = f.Word()
		case "uuid":
			l.uuid = f.Str()
		case "parentUuid":
			l.parent = f.Str()
		case "sessionId":
			l.session = f.Str()
		case "timestamp":
			l.at = f.TimeOrMilli()
		case "model":
			l.model = f.Word()
		default:
			l.setMember(key, f)
		}
	}
	if strings.HasSuffix(l.session, sessionExt) { // the session was resumed by its file
		l.session, _ = sessionOf(strings.ReplaceAll(l.session, `\`, "/"))
	}
	return l
}

func (l *line) setMember(key string, f jsontext.Value) {
	switch key {
	case "content":
		l.content = f
	case "uiContent":
		l.shown = f
	case "usage":
		l.usage = f
	case "metadata":
		l.meta = f
	case "config":
		l.config = f
	case "hidden":
		l.hidden = f.Bool() == transcript.Yes
	}
}

// parser is one parse of one file.
type parser struct {
	format.Sink
	file string
	loc  location
	run  string // "" until it is known

	facts   transcript.Conversation // what is known about the session
	isNamed bool                    // the settings state a title
	isGuess bool                    // no line names the session

	last   string            // id of the message before
	tools  map[string]string // names, by the ids of calls
	inputs map[string]uint64 // hashes of inputs, by the ids of calls
	seen   map[string]bool   // ids of messages

	lend format.Lender // of the events of a line
}

func newParser(file string, yield func(transcript.Record, error) bool) *parser {
	return &parser{
		Sink: format.Sink{Yield: yield}, file: file, loc: locate(file), tools: map[string]string{}, inputs: map[string]uint64{}, seen: map[string]bool{},
	}
}

// maxWaiting is the number of lines without a session's id after which the file's name is taken for it.
const maxWaiting = 8

// session yields the records of a session. Where the file's name is no id, the first lines, which may be settings without one, wait for a line that has it.
func (p *parser) session(file io.Reader) {
	problem := func(pr *transcript.Problem) {
		pr.Alone = true
		p.Problem(p.run, pr)
	}
	var waiting []line
	flush := func(id string) {
		p.begin(id, waiting)
		for i := range waiting {
			p.lend.Reset()
			p.line(&waiting[i])
		}
		waiting = nil
	}
	id, made := sessionOf(p.file)
	for o := range p.Each(jsontext.Objects(file, "", problem)) {
		l := readLine(o.Value, o.Origin)
		if p.run == "" {
			if !made && l.session == "" && len(waiting) < maxWaiting {
				waiting = append(waiting, readLine(o.Value.Clone(), o.Origin))
				continue
			}
			if !made {
				id, p.isGuess = cmp.Or(l.session, id), l.session == ""
			}
			flush(id)
		}
		p.lend.Reset()
		p.line(&l)
	}
	switch {
	case p.Done():
		return
	case p.run == "" && len(waiting) == 0:
		p.Settle(id)
		return
	case p.run == "":
		p.isGuess = true
		flush(id)
	}
	p.emitSession()
}

// begin yields the session, with the title that lines before its first message state.
func (p *parser) begin(id string, waiting []line) {
	p.run = strings.Clone(id)
	p.facts.Child = strings.HasPrefix(path.Base(p.file), agentPrefix)
	for i := range waiting {
		p.note(&waiting[i])
	}
	p.emitSession()
	p.Settle(p.run)
}

// emitSession yields what is known about the session so far, for its run and its conversation alike.
func (p *parser) emitSession() {
	c := p.facts
	c.ID, c.Run = p.run, p.run
	p.Emit(&transcript.Run{
		ID: p.run, Group: project(p.loc.dir), Child: c.Child, Title: c.Title, Agent: c.Agent, Model: c.Model, Started: c.Started, Ended: c.Ended, Guess: p.isGuess,
	})
	p.Emit(&c)
}

// note notes what a line states about the session.
func (p *parser) note(l *line) {
	c := &p.facts
	if title := format.Title(l.config.Get("summary").Str()); title != "" {
		c.Title, p.isNamed = strings.Clone(title), true
	}
	if l.role == "assistant" && l.model != "" {
		c.Model = l.model
	}
	if agent := l.meta.Get("agentType").Word(); agent != "" {
		c.Agent, c.Child = agent, true
	}
	format.Extend(&c.Started, &c.Ended, l.at)
}

func (p *parser) line(l *line) {
	p.note(l)
	if l.uuid != "" {
		l.duplicate = p.seen[l.uuid]
		p.seen[l.uuid] = true
	}
	switch l.typ {
	case "message":
		p.message(l)
	case "config", "file-history-snapshot":
		p.uncounted(l, jsontext.Value{}, transcript.KindLifecycle)
	default:
		p.uncounted(l, jsontext.Value{}, transcript.KindUnknown)
	}
	if l.uuid != "" {
		p.last = l.uuid
	}
}

// event returns an event for one value of a line, or the whole line. It is valid until the next line.
func (p *parser) event(l *line, v jsontext.Value, kind transcript.Kind, role string) *transcript.Event {
	e := p.lend.Event(transcript.Event{Conversation: p.run, Kind: kind, Role: role, Type: l.typ, Time: l.at, Origin: l.origin})
	switch {
	case l.duplicate:
		e.Verdict = transcript.DuplicateOf
	case l.uuid != "":
		e.ID, e.Global, e.Home = l.uuid, true, p.isHome(l)
	}
	if role == "assistant" {
		e.Model = l.model
	}
	if l.parent != "" && l.parent != p.last {
		e.Attributes.Set("parent", l.parent)
	}
	e.Parts[0] = p.part(l, v)
	return e
}

// isHome reports whether a message was first written in this session.
func (p *parser) isHome(l *line) bool { return l.session == "" || l.session == p.run }

func (p *parser) part(l *line, v jsontext.Value) transcript.Part {
	return p.lend.Part(l.value, v, appendText)
}

// uncounted yields a row that does not count for a value of a line, or the whole line. Its place is its identity.
func (p *parser) uncounted(l *line, v jsontext.Value, kind transcript.Kind) {
	e := p.event(l, v, kind, "")
	e.Verdict, e.ID, e.Global, e.Home = transcript.Uncounted, "", false, false
	p.Emit(e)
}

// sum returns a hash of a value's bytes.
func sum(v jsontext.Value) uint64 {
	h := fnv.New64a()
	h.Write(v.Raw())
	return h.Sum64()
}
