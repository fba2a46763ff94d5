package amp

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// message is one message of a thread.
type message struct {
	v          jsontext.Value
	key        string // identity of the message, the same in the original thread and in its forks
	copied     bool   // copied by a fork
	nestedFork bool   // copied by a fork of a fork, so the original thread is not known here
	at         transcript.Time
}

// thread yields the records of the document.
func (p *parser) thread() {
	p.created, p.isSubagent = p.doc.Get("created").MilliTime(), p.doc.Get("mainThreadID").Str() != ""
	p.assignKeys()
	p.ledger.read(p)
	p.emitRun()
	p.links()
	for i := range p.messages {
		if p.Done() {
			return
		}
		p.message(&p.messages[i])
	}
	p.emitAllUsage()
}

// assignKeys assigns keys to the messages. A fork begins with the messages of its origin, with their numbers, and numbers its own from 0.
func (p *parser) assignKeys() {
	for m := range p.doc.Get("messages").Items() {
		p.messages = append(p.messages, message{v: m})
	}
	origin, copied := p.forkedFrom()
	part := 0 // counts runs of copied messages from the end: each run begins with a smaller number
	owners := make([]string, len(p.messages))
	for i := len(p.messages) - 1; i >= 0; i-- {
		m := &p.messages[i]
		owners[i] = p.id
		if i >= copied {
			continue
		}
		if i+1 < copied && messageNumber(m.v) >= messageNumber(p.messages[i+1].v) && messageNumber(m.v) >= 0 {
			part++
		}
		m.copied, m.nestedFork, owners[i] = true, part > 0, origin
		if m.nestedFork {
			owners[i] = p.id + "^" + strconv.Itoa(part)
		}
	}
	seen := map[string]int{}
	for i := range p.messages {
		m := &p.messages[i]
		m.key = owners[i] + "/" + strconv.FormatInt(messageNumber(m.v), 10)
		if messageNumber(m.v) < 0 {
			m.key = owners[i] + "/#" + strconv.Itoa(i)
		}
		if seen[m.key]++; seen[m.key] > 1 {
			m.key += "#" + strconv.Itoa(seen[m.key])
		}
		m.at = timeOf(m.v)
	}
}

// messageNumber returns the number of a message in its thread, or -1: Amp gives some of its own messages none.
func messageNumber(m jsontext.Value) int64 {
	if n, ok := m.Get("messageId").Int(); ok {
		return n
	}
	return -1
}

// timeOf returns when a prompt was sent or an answer was complete.
func timeOf(m jsontext.Value) transcript.Time {
	if n, ok := m.Get("meta", "sentAt").Int(); ok {
		return timestamp.UnixMilli(n)
	}
	return cmp.Or(m.Get("usage", "timestamp").Time(), m.Get("timestamp").Time())
}

// forkedFrom returns the thread that this one is a fork of, and how many of its messages it copied.
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

// emitRun yields the run and its conversation.
func (p *parser) emitRun() {
	first := p.doc.Get("env", "initial")
	tree := jsontext.Value{}
	for tree = range first.Get("trees").Items() {
		break
	}
	run := transcript.Run{
		ID: p.id, Rank: rankThread, Title: p.doc.Get("title").Str(), Project: pathOf(tree.Get("uri"), tree.Get("displayName").Str()),
		Branch: strings.TrimPrefix(tree.Get("repository", "ref").Str(), "refs/heads/"), Version: first.Get("platform", "clientVersion").Str(),
		Started: p.created, Child: p.isSubagent,
	}
	for i := range p.messages {
		m := &p.messages[i]
		run.Model = cmp.Or(m.v.Get("usage", "model").Str(), run.Model)
		if m.at.Valid && m.at.UnixMicro > run.Ended.UnixMicro {
			run.Ended = m.at
		}
		if m.v.Get("role").Is("user") && run.Title == "" {
			run.Title = format.Title(jsontext.Build(func(b []byte) []byte { return appendPrompt(b, m.v.Get("content")) }))
		}
	}
	if p.doc.Get("archived").Bool() == transcript.Yes {
		run.Attributes = transcript.Attributes{"archived": true}
	}
	p.Emit(&run)
	p.Emit(&transcript.Conversation{
		ID: p.id, Run: p.id, Title: run.Title, Model: run.Model, Mode: p.doc.Get("agentMode").Str(), Version: run.Version, Project: run.Project,
		Branch: run.Branch, Started: run.Started, Ended: run.Ended, Child: p.isSubagent, Attributes: run.Attributes,
	})
}

// pathOf returns the path of a file URI, else the URI, else the display name of the tree.
func pathOf(uri jsontext.Value, name string) string {
	if uri.IsObject() {
		uri = cmp.Or(uri.Get("fsPath"), uri.Get("path"))
	}
	return cmp.Or(format.FileURI(uri.Str()), uri.Str(), name)
}

// links yields the links between this thread and others. Either side may state a link.
func (p *parser) links() {
	link := func(kind, from, to string, v jsontext.Value, uncounted bool) {
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
			if b.Get("type").Is("summary") { // older versions put a summary of a thread at the start of the next
				link("resume", b.Get("summary", "thread").Str(), p.id, b, false)
			}
		}
	}
}
