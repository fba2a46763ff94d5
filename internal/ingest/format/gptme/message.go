package gptme

import (
	"io"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// mainBranch is the branch that conversation.jsonl has.
const mainBranch = "main"

// parser is one parse of one file.
type parser struct {
	format.Sink
	role, path string
	chat       string
	branch     string // id of the conversation

	begun          bool
	home           bool // the chat has a name that the program gave it, so it is no fork
	child          bool // the chat is a sub-agent's
	started, ended transcript.Time
	title, model   string

	structured bool              // there was a call with an id, so code blocks are not run
	calls      int               // calls without an id
	open       []transcript.Call // those of the previous message that have no result yet
	names      map[string]string // tools by call id
}

func (p *parser) problem(problem *transcript.Problem) { p.Problem(p.chat, problem) }

// log yields the messages of a log.
func (p *parser) log(r io.Reader) {
	p.child = strings.HasPrefix(p.chat, "subagent-")
	p.names = map[string]string{}
	p.branch = mainBranch
	if p.role == roleBranch {
		p.branch = format.Stem(p.path)
	}
	for o := range p.Each(jsontext.Objects(r, "", p.problem)) {
		p.message(o)
	}
	if p.begun && !p.Done() {
		p.emitRun()
	}
}

// emitRun yields the run and its conversation.
func (p *parser) emitRun() {
	run := transcript.Run{ID: p.chat, Child: p.child, Title: p.title, Model: p.model, Started: p.started, Ended: p.ended}
	if p.role == roleView {
		run = transcript.Run{ID: p.chat, Named: true, Child: p.child}
	}
	if p.Emit(&run); p.role == roleView {
		return
	}
	c := transcript.Conversation{ID: p.branch, Run: p.chat, Child: p.child, Title: p.title, Model: p.model, Started: p.started, Ended: p.ended}
	if p.role == roleLog {
		c.Rank = 1
	}
	p.Emit(&c)
}

// message is one message while its events are made.
type message struct {
	*parser
	value  jsontext.Value
	origin transcript.Origin
	role   string
	at     transcript.Time
	id     string
	n      int // events so far
}

// message yields the events of a message, and its usage.
func (p *parser) message(o jsontext.Object) {
	v := o.Value
	m := message{parser: p, value: v, origin: o.Origin, role: v.Get("role").Word(), at: v.Get("timestamp").Time()}
	m.id = format.HashUUID(v.Get("timestamp").Str(), m.role, v.Get("content").Str())
	format.Extend(&p.started, &p.ended, m.at)
	if m.role == "user" && p.title == "" {
		p.title = format.Title(v.Get("content").Str())
	}
	if model := v.Get("metadata", "model").Str(); model != "" {
		p.model = model
	}
	if !p.begun {
		p.begun = true
		day, _, _ := strings.Cut(v.Get("timestamp").Str(), "T")
		p.home = day != "" && strings.HasPrefix(p.chat, day)
		p.emitRun()
	}
	if m.role != "system" {
		p.open = nil
	}
	if m.role == "assistant" && v.Get("content").IsString() {
		m.answer()
	}
	if m.n == 0 {
		m.whole()
	}
	m.usage()
}

// whole yields a message as one event.
func (m *message) whole() {
	e := &transcript.Event{Kind: transcript.KindMessage, Role: m.role, Parts: []transcript.Part{{Text: contentOf(m.value)}}}
	switch {
	case m.role == "system":
		m.result(e)
	case m.role != "user" && m.role != "assistant":
		if e.Kind, e.Verdict = transcript.KindUnknown, transcript.Uncounted; !m.value.Get("role").Exists() {
			e.Parts[0].Text = pieceText(m.value.Raw())
		}
	case m.role == "assistant" && e.Parts[0].Text == "":
		e.Kind, e.Verdict = transcript.KindNotice, transcript.Uncounted
	}
	m.emit(e)
}

// contentOf returns the content of a message as text.
func contentOf(v jsontext.Value) string { return jsontext.AllStrings(v.Get("content")) }

// answer yields an answer, with an event for each thought, call and text between them.
func (m *message) answer() {
	content := m.value.Get("content")
	answer, all := content.Str(), []piece(nil)
	for _, p := range piecesOf(answer) {
		m.structured = m.structured || p.id != ""
		if p.id == "" && m.structured {
			p.tool = ""
		}
		if n := len(all); n > 0 && p.kind() == transcript.KindMessage && all[n-1].kind() == transcript.KindMessage {
			all[n-1].end = p.end
			continue
		}
		all = append(all, p)
	}
	parts := make([]transcript.Part, len(all))
	body := places{body: content.Body()}
	for i, p := range all {
		from, to := body.find(p.begin), body.find(p.end)
		parts[i] = transcript.Part{
			Text: textOf(answer[p.begin:p.end]), Offset: jsontext.OffsetIn(m.value, content) + 1 + int64(from), Length: int64(to - from),
		}
		if jsontext.Unquote(`"`+string(body.body[from:to])+`"`) != answer[p.begin:p.end] {
			return // it has bytes that are no text
		}
	}
	for i, p := range all {
		if p.tool != "" {
			parts[i].Call = m.call(&p)
		}
		m.emit(&transcript.Event{Kind: p.kind(), Role: m.role, Parts: parts[i : i+1 : i+1]})
	}
}

// emit yields an event of the message. The first one has the names of the files that go with the message.
func (m *message) emit(e *transcript.Event) {
	e.Run, e.Type, e.Time, e.Origin = m.chat, m.role, m.at, m.origin
	if files := m.value.Get("files"); m.n == 0 && files.HasItems() {
		e.Parts = append(e.Parts, jsontext.PartIn(m.value, files, jsontext.AllStrings(files)))
	}
	if m.parser.role == roleView {
		e.Verdict, e.Type = transcript.Uncounted, roleView
	} else {
		e.Conversation, e.ID, e.Global, e.Home = m.branch, m.id, m.at.Valid, m.at.Valid && m.home
		if m.n > 0 {
			e.ID = format.HashUUID(m.id, strconv.Itoa(m.n))
		}
	}
	if m.role == "assistant" {
		e.Model = m.value.Get("metadata", "model").Str()
	}
	for _, key := range []string{"served_model", "resolved_model", "reasoning_effort"} {
		e.Attributes.Set(key, m.value.Get("metadata", key).Str())
	}
	m.n++
	m.Emit(e)
}

// places finds places of a decoded string in its body as it is written. They must rise.
type places struct {
	body        []byte
	at, decoded int
}

// find returns the place of a decoded one.
func (p *places) find(decoded int) int {
	for p.decoded < decoded && p.at < len(p.body) {
		if p.body[p.at] != '\\' {
			p.at++
			p.decoded++
			continue
		}
		n := min(2, len(p.body)-p.at)
		if unit := p.body[p.at:]; len(unit) >= 6 && unit[1] == 'u' {
			if n = 6; len(unit) >= 12 && unit[6] == '\\' && unit[2]|0x20 == 'd' && unit[3]|0x20 >= '8' { // a surrogate pair
				n = 12
			}
		}
		p.decoded += len(jsontext.Unquote(`"` + string(p.body[p.at:p.at+n]) + `"`))
		p.at += n
	}
	return p.at
}

// kind returns the kind of the event that a piece is.
func (p *piece) kind() transcript.Kind {
	switch {
	case p.reasoning:
		return transcript.KindReasoning
	case p.tool != "":
		return transcript.KindToolCall
	}
	return transcript.KindMessage
}

func (p *parser) call(part *piece) *transcript.Call {
	c := transcript.Call{ID: part.id, Name: part.tool, Input: int64(part.input), Paths: part.paths}
	if c.ID == "" {
		p.calls++
		c.ID = "#" + strconv.Itoa(p.calls)
		p.open = append(p.open, c)
	} else {
		p.names[c.ID] = c.Name
	}
	return &c
}

// failure is how the program's report of a tool's exception begins.
const failure = "Error executing tool '"

// result makes the event of a message of the program's a tool's result, if it is one: it states the call, or follows a call without an id.
func (m *message) result(e *transcript.Event) {
	e.Kind = transcript.KindSystem
	id := m.value.Get("call_id").Str()
	name := m.names[id]
	switch {
	case id != "":
		m.structured = true
	case m.value.Get("ui_only").Bool() == transcript.Yes, len(m.open) == 0:
		return
	default:
		id, name = m.open[0].ID, m.open[0].Name
		m.open = m.open[1:]
	}
	e.Kind, e.Role = transcript.KindToolResult, "tool"
	r := &transcript.Result{Call: id, Name: name, Output: int64(m.value.Get("content").Len())}
	if strings.HasPrefix(m.value.Get("content").Str(), failure) {
		r.Failed = transcript.Yes
	}
	e.Parts[0].Result = r
}

// usage yields what the request for an answer took.
func (m *message) usage() {
	meta := m.value.Get("metadata")
	usage := meta.Get("usage")
	if !usage.Exists() {
		usage = meta // as older versions wrote it
	}
	u := &transcript.Usage{
		Run: m.chat, Conversation: m.branch, Time: m.at, Origin: m.origin, Model: meta.Get("model").Str(),
		Input: usage.Get("input_tokens").Tokens(), Output: usage.Get("output_tokens").Tokens(),
		CacheRead: usage.Get("cache_read_tokens").Tokens(), CacheWrite: usage.Get("cache_creation_tokens").Tokens(),
		Reasoning: usage.Get("reasoning_tokens").Tokens(), Requests: transcript.Known(1),
	}
	if cost := meta.Get("cost").NanoUSD(); cost.Known {
		u.Cost, u.CostSource = cost, "metadata.cost"
	}
	if m.parser.role == roleView || !u.Input.Known && !u.Output.Known && !u.CacheRead.Known && !u.CacheWrite.Known && !u.Cost.Known {
		return
	}
	if m.at.Valid {
		u.Key = format.HashUUID(m.value.Get("timestamp").Str(), u.Model)
	}
	if m.parser.role == roleLog {
		u.Rank = 1
	}
	u.Rank = format.AtHome(u.Rank, m.home)
	m.Emit(u)
}
