package codebuff

import (
	"cmp"
	"io"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/lazyregexp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// parser is one parse of one file.
type parser struct {
	format.Rows
	location
	titled bool // a prompt has given the chat its title
	ended  transcript.Time
}

// conversation is the id of the only conversation in a chat.
const conversation = "main"

// chat yields the messages of a chat.
func (p *parser) chat(r io.Reader) {
	for o := range p.Each(jsontext.Elements(r, p.SessionProblem)) {
		p.Row = o
		p.Lend.Reset()
		if !p.Begun {
			p.Begun = true
			p.emitConversation("")
		}
		p.message(o.Value)
	}
	if p.Begun && p.ended.Valid && !p.Done() {
		p.emitConversation("")
	}
}

func (p *parser) emitConversation(title string) {
	started := startOf(p.Session)
	p.Emit(&transcript.Run{ID: p.Session, Rank: rankChat, Title: title, Project: p.project, Started: started, Ended: p.ended})
	p.Emit(&transcript.Conversation{ID: conversation, Run: p.Session, Title: title, Project: p.project, Started: started, Ended: p.ended})
}

// stampedID matches ids that hold the time in milliseconds at which the program made the message.
var stampedID = lazyregexp.New(`^[a-z]+-([0-9]{13})(-|$)`)

// message is one message while its events are made.
type message struct {
	*parser
	id        string
	isStamped bool // the id holds a time
	at        transcript.Time
	home      bool
	role      string
	agent     string // sub-agent that acted, "" for the main one
	n         int    // events so far
}

// message yields the events of one message.
func (p *parser) message(v jsontext.Value) {
	m := &message{parser: p, id: v.Get("id").Text(), at: v.Get("timestamp").Time(), role: "assistant"}
	if match := stampedID.FindStringSubmatch(m.id); match != nil {
		ms, _ := strconv.ParseInt(match[1], 10, 64)
		made := timestamp.UnixMilli(ms)
		m.at, m.isStamped = cmp.Or(m.at, made), true
		m.home = made.UnixMicro >= startOf(p.Session).UnixMicro // else a chat that went on in another directory has copied it
	}
	if m.at.Valid && m.at.UnixMicro > p.ended.UnixMicro {
		p.ended = m.at
	}
	content := v.Get("content")
	switch v.Get("variant").Word() {
	case "user":
		m.prompt(v, content)
	case "ai", "agent":
		m.agent = v.Get("agent", "agentType").Str()
		m.answer(v, content)
	case "error":
		if !content.Exists() {
			content = v
		}
		m.emit(m.Event(transcript.KindError, m.role, "error", content), "", transcript.Uncounted)
	default:
		m.emit(m.Event(transcript.KindUnknown, m.role, v.Get("variant").Word(), v), "", transcript.Uncounted)
	}
	if said := v.Get("userError"); !said.IsBlank() {
		m.emit(m.Event(transcript.KindError, m.role, "userError", said), "/error", transcript.Uncounted)
	}
	if m.n == 0 {
		m.emit(m.Event(transcript.KindNotice, m.role, "message", v), "", transcript.Uncounted)
	}
	m.usage(v)
}

func (m *message) emit(e *transcript.Event, place string, verdict transcript.Verdict) {
	e.Conversation, e.Run, e.Verdict, e.Time, e.Agent = conversation, m.Session, verdict, m.at, m.agent
	if m.id != "" {
		e.ID, e.Global, e.Home = m.id+place, m.isStamped, m.home
	}
	m.n++
	m.Emit(e)
}

// prompt yields what the user wrote, with a part for each text and file that goes with it.
func (m *message) prompt(v, content jsontext.Value) {
	m.role = "user"
	var parts []transcript.Part
	if !content.IsBlank() {
		parts = append(parts, m.Part(content))
		if !m.titled {
			m.titled = true
			m.emitConversation(format.Title(content.Str()))
		}
	}
	for _, key := range []string{"textAttachments", "fileAttachments"} {
		for item := range v.Get(key).Items() {
			parts = append(parts, m.Part(item))
		}
	}
	if len(parts) > 0 {
		e := m.Lend.Event(transcript.Event{Kind: transcript.KindMessage, Role: m.role, Type: "user", Origin: m.Row.Origin})
		e.Parts = parts
		m.emit(e, "", transcript.Counted)
	}
	m.blocks(v.Get("blocks"), "")
}

// answer yields what an agent said and did: its blocks, or the text of a message without them. A message of the program itself looks the same.
func (m *message) answer(v, content jsontext.Value) {
	if v.Get("blocks").HasItems() {
		m.blocks(v.Get("blocks"), "")
		return
	}
	if content.IsBlank() {
		return
	}
	kind, verdict := transcript.KindMessage, transcript.Counted
	if strings.HasPrefix(m.id, "sys-") {
		kind, verdict = transcript.KindNotice, transcript.Uncounted
	}
	m.emit(m.Event(kind, m.role, "text", content), "", verdict)
}

// usage yields what an answer cost, in credits.
func (m *message) usage(v jsontext.Value) {
	n, ok := v.Get("credits").Float()
	if !ok || n <= 0 {
		return
	}
	u := &transcript.Usage{Run: m.Session, Conversation: conversation, Time: m.at, Origin: jsontext.OriginIn(m.Row.Origin, m.Row.Value, v.Get("credits"))}
	switch {
	case m.isStamped:
		u.Key = m.id
	case m.id != "":
		u.Key = m.Session + "/" + m.id
	}
	u.Attributes.Set("credits", n)
	u.Rank = format.AtHome(0, m.home)
	m.Emit(u)
}
