package openwebui

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// message is one message while its events are made.
type message struct {
	*parser
	*node
	kind     transcript.Kind // of its text
	role     string
	verdict  transcript.Verdict
	after    string // the message before it in the file
	first    bool   // no event yet
	texts    int    // so far
	thoughts int
	others   int
	called   int
	last     string            // the last call
	latest   map[string]string // the last call, by the provider's id
	times    map[string]int    // that an id was given
}

// event returns an event for a value that has its own bytes. It is valid until the next message.
func (p *parser) event(kind transcript.Kind, role, typ string, v jsontext.Value) *transcript.Event {
	e := p.lend.Event(transcript.Event{Kind: kind, Role: role, Type: typ, Origin: p.origin(v)})
	e.Parts[0] = transcript.Part{Text: p.lend.Text(func(b []byte) []byte { return appendText(b, v) })}
	return e
}

func (p *parser) emit(e *transcript.Event, id string, verdict transcript.Verdict) {
	if len(p.nodes) > 0 {
		e.Conversation = p.id
	}
	e.Run, e.ID, e.Verdict = p.id, id, verdict
	p.Emit(e)
}

// notice yields what a chat has beside messages, such as its system prompt, as an event that does not count, if it has text.
func (p *parser) notice(typ string, v jsontext.Value) {
	if !hasString(v) {
		return
	}
	if e := p.event(transcript.KindNotice, "", typ, v); strings.TrimSpace(e.Parts[0].Text) != "" {
		p.emit(e, "chat/"+typ, transcript.Uncounted)
	}
}

// message yields the events and the usage of one message.
func (p *parser) message(n *node) {
	m := &message{parser: p, node: n, role: n.role(), kind: transcript.KindMessage, verdict: transcript.Counted, after: p.before, first: true}
	p.before = n.id
	switch {
	case m.role == "system":
		m.kind = transcript.KindSystem
	case m.role != "user" && m.role != "assistant":
		m.kind, m.verdict = transcript.KindUnknown, transcript.Uncounted
	case m.node.message.Get("error").Bool() == transcript.Yes: // in versions before errors had a text, the content is it
		m.kind, m.verdict = transcript.KindError, transcript.Uncounted
	}
	content, output := m.node.message.Get("content"), m.node.message.Get("output")
	var pieces []piece
	if m.role == "assistant" && content.IsString() && !output.HasItems() {
		pieces = split(content.Body())
	}
	isWhole := len(pieces) == 0 && !output.HasItems()
	if isWhole {
		m.whole(content)
	}
	for key, v := range m.node.message.Fields() {
		switch key {
		case "content":
			switch {
			case output.HasItems():
				m.edited(v, output)
			case !isWhole:
				for _, c := range pieces {
					m.piece(v, c)
				}
			}
		case "output":
			for item := range v.Items() {
				m.item(item)
			}
		case "error":
			m.beside(transcript.KindError, key, v)
		case "context_summary", "contextSummary":
			m.beside(transcript.KindCompaction, key, v)
		case "files", "sources", "citations", "statusHistory", "status_history", "code_executions", "embeds", "followUps", "merged", "originalContent", "annotation":
			m.beside(transcript.KindNotice, key, v)
		}
	}
	m.usage()
}

// whole yields a message that is one text.
func (m *message) whole(content jsontext.Value) {
	e := m.parser.event(m.kind, m.role, "", m.node.message)
	verdict := m.verdict
	if strings.TrimSpace(e.Parts[0].Text) == "" && !content.HasItems() {
		if m.kind == transcript.KindMessage || m.kind == transcript.KindSystem {
			e.Kind = transcript.KindNotice
		}
		verdict = transcript.Uncounted
	}
	m.emit(e, m.textID(), verdict)
}

// textID returns the id of the next text of the message.
func (m *message) textID() string {
	m.texts++
	if m.texts == 1 {
		return m.id()
	}
	return m.id() + "/" + strconv.Itoa(m.texts-1)
}

// thoughtID returns the id of the next reasoning of the message.
func (m *message) thoughtID() string {
	m.thoughts++
	return m.id() + "/reasoning" + strconv.Itoa(m.thoughts)
}

func (m *message) id() string { return m.node.id }

// callID returns the id of a call. Providers may give the same id to calls of several messages, and to several of one message.
func (m *message) callID(native string) string {
	m.called++
	id := native
	if of, ok := m.calls[native]; native == "" || ok && of != m.id() {
		id = m.id() + "/" + cmp.Or(native, "call")
	}
	id = m.unique(id)
	m.calls[id], m.last = m.id(), id
	if m.latest == nil {
		m.latest = map[string]string{}
	}
	m.latest[native] = id
	return id
}

// unique returns an id in the message, with a number if the message has it already.
func (m *message) unique(id string) string {
	if m.times == nil {
		m.times = map[string]int{}
	}
	m.times[id]++
	if n := m.times[id]; n > 1 {
		return id + "#" + strconv.Itoa(n)
	}
	return id
}

// callEvent returns the id of the event of a call.
func (m *message) callEvent(call string) string {
	if strings.HasPrefix(call, m.id()) {
		return call
	}
	return m.id() + "/" + call
}

// resultEvent returns the id of the event of a result.
func (m *message) resultEvent(call string) string { return m.unique(m.callEvent(call) + "/result") }

// answered returns the id of the call that a result answers.
func (m *message) answered(native string) string {
	if id, ok := m.latest[native]; ok {
		return id
	}
	return cmp.Or(native, m.last)
}

// isHome reports whether the message was first written in this chat, as far as its time shows: a clone is younger than what it has taken over.
func (m *message) isHome() bool {
	return !(m.began.Valid && m.node.at.Valid && m.node.at.UnixMicro < m.began.UnixMicro)
}

// emit yields an event of the message.
func (m *message) emit(e *transcript.Event, id string, verdict transcript.Verdict) {
	e.Time, e.Model = m.node.at, m.model()
	e.Global = format.IsUUID(m.id())
	e.Home = e.Global && m.isHome()
	if !m.shown {
		e.Attributes.Set("off_path", true)
	}
	if m.first {
		m.first = false
		m.describe(e)
	}
	m.parser.emit(e, id, verdict)
}

// describe sets the attributes of the first event of a message.
func (m *message) describe(e *transcript.Event) {
	v := m.node.message
	if m.parent != "" && m.parent != m.after {
		e.Attributes.Set("parent", m.parent)
	}
	done := v.Get("done")
	if n, ok := done.Int(); ok && n == 0 || done.Bool() == transcript.No {
		e.Attributes.Set("unfinished", true)
	}
	if user := v.Get("user_id").Text(); user != m.owner && m.owner != "" {
		e.Attributes.Set("user", user)
	}
	if n, ok := v.Get("annotation", "rating").Int(); ok {
		e.Attributes.Set("rating", n)
	}
	if v.Get("meta", "internal").Bool() == transcript.Yes {
		e.Attributes.Set("internal", v.Get("meta", "type").Word())
	}
}

// beside yields what a message has beside its text, for search.
func (m *message) beside(kind transcript.Kind, key string, v jsontext.Value) {
	if !hasString(v) {
		return
	}
	e := m.parser.event(kind, "", key, v)
	if strings.TrimSpace(e.Parts[0].Text) != "" {
		m.emit(e, m.id()+"/"+key, transcript.Uncounted)
	}
}

// edited yields the content of an answer that also has items, if it says something else.
func (m *message) edited(content, output jsontext.Value) {
	if !content.IsString() {
		m.beside(transcript.KindNotice, "content", content)
		return
	}
	var said, shown strings.Builder
	for item := range output.Items() {
		if item.Get("type").Is("message") {
			appendWords(&said, jsontext.Build(func(b []byte) []byte { return appendValue(b, item) }))
		}
	}
	body := content.Body()
	pieces := split(body)
	if len(pieces) == 0 {
		appendWords(&shown, content.Str())
	}
	for _, c := range pieces {
		if c.kind == transcript.KindMessage {
			appendWords(&shown, unquote(body[c.from:c.to]))
		}
	}
	if !strings.Contains(said.String(), shown.String()) {
		m.beside(transcript.KindNotice, "content", content)
	}
}

// appendWords appends a text without its white space.
func appendWords(b *strings.Builder, text string) {
	for word := range strings.FieldsSeq(text) {
		b.WriteString(word)
	}
}

// messageRow yields a message that the chat itself does not have.
func (p *parser) messageRow(v jsontext.Value) {
	n := node{message: v, parent: v.Get("parent_id").Str(), at: timeOf(v.Get("created_at")), shown: true}
	if !p.rowOf(v, &n) {
		return
	}
	p.message(&n)
}

// summaryRow yields the summary of what came before a message.
func (p *parser) summaryRow(v jsontext.Value) {
	n := node{message: v, at: timeOf(v.Get("created_at")), shown: true}
	if !p.rowOf(v, &n) {
		return
	}
	m := &message{parser: p, node: &n}
	m.beside(transcript.KindCompaction, "context_summary", v.Get("context_summary"))
}

// rowOf completes the node of a row, whose id is that of its chat and its own. It reports a row that names no chat.
func (p *parser) rowOf(v jsontext.Value, n *node) bool {
	chat := v.Get("chat_id").Text()
	if chat == "" || len(chat) > maxID {
		p.Emit(&transcript.Problem{Run: p.id, Kind: "no chat", Reason: "the row names no chat", Origin: p.at})
		return false
	}
	n.id = strings.TrimPrefix(v.Get("id").Text(), chat+"-")
	if chat != p.id { // the chat's own row comes first
		p.nameRun()
		p.id, p.nodes = chat, p.nodes[:0]
		_, p.order = format.ExportRank(transcript.Time{})
	}
	if len(p.nodes) == 0 {
		p.nodes = append(p.nodes, *n)
		p.begin(cmp.Or(p.named, &transcript.Run{ID: chat}))
		p.named = nil
	}
	return true
}
