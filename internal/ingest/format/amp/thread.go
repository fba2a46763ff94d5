package amp

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// message is one message of the thread.
type message struct {
	v      format.Value
	key    string // its identity, the same in the thread that it was copied from
	copied bool   // by a fork
	again  bool   // by a fork of a fork: whose it was is not known here
	at     transcript.Time
}

// thread yields what the document says.
func (p *parser) thread() {
	p.sub = p.doc.Get("mainThreadID").Str() != ""
	p.list()
	p.ledger.read(p)
	p.say()
	p.links()
	for i := range p.messages {
		if p.Done() {
			return
		}
		p.message(&p.messages[i])
	}
	p.spendings()
}

// list makes keys for the messages. A fork begins with the messages of its origin, numbers included, and counts its own from 0.
func (p *parser) list() {
	for m := range p.doc.Get("messages").Items() {
		p.messages = append(p.messages, message{v: m})
	}
	origin, copied := p.forkedFrom()
	part := 0 // of the copied ones, from the last: each begins with a smaller number
	homes := make([]string, len(p.messages))
	for i := len(p.messages) - 1; i >= 0; i-- {
		m := &p.messages[i]
		homes[i] = p.id
		if i >= copied {
			continue
		}
		if i+1 < copied && number(m.v) >= number(p.messages[i+1].v) && number(m.v) >= 0 {
			part++
		}
		m.copied, m.again, homes[i] = true, part > 0, origin
		if m.again {
			homes[i] = p.id + "^" + strconv.Itoa(part)
		}
	}
	seen := map[string]int{}
	for i := range p.messages {
		m := &p.messages[i]
		m.key = homes[i] + "/" + strconv.FormatInt(number(m.v), 10)
		if number(m.v) < 0 {
			m.key = homes[i] + "/#" + strconv.Itoa(i)
		}
		if seen[m.key]++; seen[m.key] > 1 {
			m.key += "#" + strconv.Itoa(seen[m.key])
		}
		m.at = timeOf(m.v)
	}
}

// number is the number of a message in its thread, -1 for none: the program gives a few of its own none.
func number(m format.Value) int64 {
	if n, ok := m.Get("messageId").Int(); ok {
		return n
	}
	return -1
}

// timeOf is when a message was sent, or an answer was complete.
func timeOf(m format.Value) transcript.Time {
	if n, ok := m.Get("meta", "sentAt").Int(); ok {
		return format.UnixMilli(n)
	}
	return cmp.Or(m.Get("usage", "timestamp").Time(), m.Get("timestamp").Time())
}

// forkedFrom gives the thread that this one is a copy of, and how many of its messages are.
func (p *parser) forkedFrom() (origin string, copied int) {
	last := p.doc.Get("forkPointIndex")
	for r := range p.doc.Get("relationships").Items() {
		if r.Get("type").Is("fork") && r.Get("role").Is("child") {
			origin = r.Get("threadID").Str()
			if !last.Exists() {
				last = r.Get("messageIndex")
			}
		}
	}
	origin = cmp.Or(p.doc.Get("originThreadID").Str(), origin)
	n, ok := last.Int()
	if origin == "" || !ok || n < 0 {
		return "", 0
	}
	return origin, int(min(n, int64(len(p.messages)-1))) + 1
}

// say states the run and its conversation.
func (p *parser) say() {
	first := p.doc.Get("env", "initial")
	created, _ := p.doc.Get("created").Int()
	tree := format.Value{}
	for tree = range first.Get("trees").Items() {
		break
	}
	run := transcript.Run{
		ID: p.id, Title: p.doc.Get("title").Str(), Project: pathOf(tree.Get("uri"), tree.Get("displayName").Str()),
		Branch: strings.TrimPrefix(tree.Get("repository", "ref").Str(), "refs/heads/"), Version: first.Get("platform", "clientVersion").Str(),
		Started: format.UnixMilli(created), Child: p.sub,
	}
	for i := range p.messages {
		m := &p.messages[i]
		run.Model = cmp.Or(m.v.Get("usage", "model").Str(), run.Model)
		if m.at.Valid && m.at.UnixMicro > run.Ended.UnixMicro {
			run.Ended = m.at
		}
		if m.v.Get("role").Is("user") && run.Title == "" {
			run.Title = format.Title(format.Build(func(b []byte) []byte { return appendSaid(b, m.v.Get("content")) }))
		}
	}
	if p.doc.Get("archived").Bool() == transcript.Yes {
		run.Attributes = transcript.Attributes{"archived": true}
	}
	p.Emit(&run)
	p.Emit(&transcript.Conversation{
		ID: p.id, Run: p.id, Title: run.Title, Model: run.Model, Mode: p.doc.Get("agentMode").Str(), Version: run.Version, Project: run.Project,
		Branch: run.Branch, Started: run.Started, Ended: run.Ended, Child: p.sub, Attributes: run.Attributes,
	})
}

// pathOf is the directory that a URI names, or the URI, or what else the tree is called.
func pathOf(uri format.Value, name string) string {
	if uri.IsObject() {
		uri = cmp.Or(uri.Get("fsPath"), uri.Get("path"))
	}
	return cmp.Or(format.FileURI(uri.Str()), uri.Str(), name)
}

// links states how this thread and others belong together. Either of the two says so.
func (p *parser) links() {
	link := func(kind, from, to string, v format.Value, uncounted bool) {
		if from != to && threadID.MatchString(from) && threadID.MatchString(to) {
			p.Emit(&transcript.Link{
				Kind: kind, From: transcript.RunEnd(from), To: transcript.RunEnd(to), Origin: p.origin(v), Uncounted: uncounted,
			})
		}
	}
	if v := p.doc.Get("mainThreadID"); v.IsString() {
		link("parent", v.Str(), p.id, v, false)
	}
	if v := p.doc.Get("originThreadID"); v.IsString() {
		link("fork", v.Str(), p.id, v, false)
	}
	for r := range p.doc.Get("relationships").Items() {
		kind, uncounted := "reference", true
		switch r.Get("type").Word() {
		case "fork":
			kind, uncounted = "fork", false
		case "handoff":
			kind, uncounted = "resume", false
		}
		from, to := r.Get("threadID").Str(), p.id
		if r.Get("role").Is("parent") {
			from, to = to, from
		}
		link(kind, from, to, r, uncounted)
	}
	for _, e := range p.ledger.entries {
		link("parent", p.id, e.v.Get("subagentThreadID").Str(), e.v, false)
	}
	for _, m := range p.messages {
		for b := range m.v.Get("content").Items() {
			if sub := b.Get("run", "~debug", "threadID"); !m.copied {
				link("parent", p.id, sub.Str(), sub, false)
			}
			if b.Get("type").Is("summary") { // older programs summed a thread up at the head of the next
				link("resume", b.Get("summary", "thread").Str(), p.id, b, false)
			}
		}
	}
}
