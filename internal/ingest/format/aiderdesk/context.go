package aiderdesk

import (
	"cmp"
	"hash/fnv"
	"io"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// parser is one parse of one file.
type parser struct {
	format.Sink
	task string // from the file's place, "" if that does not tell
	run  string
	doc  jsontext.Value
	at   transcript.Origin // of the document

	facts transcript.Conversation // what is known about the task
	tools map[string]string       // names, by the ids of calls

	lend format.Lender // of the events of a message
}

// talk is one list of messages: a task's, or a sub-agent's.
type talk struct {
	id   string // of the conversation
	call string // that started it; "" for the task's own
	step step   // the current one
}

// message is one message with its members, looked up once.
type message struct {
	value  jsontext.Value
	origin transcript.Origin
	at     transcript.Time

	id, role        string
	content, report jsontext.Value

	begun []begun // sub-agents whose messages it has
}

// begun is a sub-agent with its messages.
type begun struct {
	talk *talk
	list jsontext.Value
}

// mainTalk is the id of a task's own conversation.
const mainTalk = "main"

// context yields the records of a task's context, or of a session.
func (p *parser) context(file io.Reader) {
	problem := func(pr *transcript.Problem) { p.Problem(p.task, pr) }
	p.doc, p.at = p.Document(file, problem)
	list := p.doc.Get("contextMessages")
	if p.doc.Exists() && !list.IsArray() {
		problem(&transcript.Problem{Kind: "not a context", Reason: "there are no messages", Origin: p.at})
	}
	p.run = cmp.Or(p.task, firstOf(list))
	if p.Settle(p.run); !list.HasItems() || p.Done() {
		return
	}
	p.Emit(&transcript.Run{ID: p.run, Rank: rankContext})
	p.facts = transcript.Conversation{ID: mainTalk, Run: p.run}
	begun := p.facts
	p.Emit(&begun)
	p.messages(&talk{id: mainTalk}, list)
	if p.Done() {
		return
	}
	c := p.facts
	p.Emit(&transcript.Run{ID: p.run, Rank: rankContext, Title: c.Title, Model: c.Model, Started: c.Started, Ended: c.Ended})
	p.Emit(&c)
}

// firstOf returns the id of the first message, or what is the same for the same message if it has none.
func firstOf(list jsontext.Value) string {
	for v := range list.Items() {
		if id := v.Get("id").Str(); id != "" {
			return id
		}
		h := fnv.New64a()
		h.Write(v.Raw())
		return "begins " + strconv.FormatUint(h.Sum64(), 16)
	}
	return ""
}

// messages yields the events and the requests of a list of messages.
func (p *parser) messages(t *talk, list jsontext.Value) {
	for v := range list.Items() {
		if p.Done() {
			return
		}
		p.lend.Reset()
		m := p.read(v)
		p.message(t, m)
		for _, b := range m.begun {
			p.messages(b.talk, b.list)
		}
	}
	p.request(t)
}

func (p *parser) read(v jsontext.Value) *message {
	m := &message{value: v, origin: jsontext.OriginIn(p.at, p.doc, v)}
	for key, f := range v.Fields() {
		switch key {
		case "id":
			m.id = f.Str()
		case "role":
			m.role = f.Word()
		case "timestamp":
			m.at = f.TimeOrMilli()
		case "content":
			m.content = f
		case "usageReport":
			m.report = f
		}
	}
	return m
}

// settings yields what the program notes about a task.
func (p *parser) settings(file io.Reader) {
	problem := func(pr *transcript.Problem) { p.Problem(p.task, pr) }
	v, at := p.Document(file, problem)
	if v.Exists() && !v.IsObject() {
		problem(&transcript.Problem{Kind: "not an object", Reason: "not what is noted about a task", Origin: at})
	}
	if p.Settle(p.task); !v.IsObject() || p.task == "" {
		return
	}
	run := &transcript.Run{
		ID: p.task, Named: true, Rank: rankSettings, Title: format.Title(v.Get("name").Str()), Project: v.Get("baseDir").Str(), Status: v.Get("state").Word(),
		Started: v.First("startedAt", "createdAt").Time(), Ended: v.First("completedAt", "updatedAt").Time(), Outcome: outcomes[v.Get("state").Str()],
	}
	for _, key := range []string{"currentMode", "agentProfileId", "workingMode"} {
		run.Attributes.Set(attributes[key], v.Get(key).Str())
	}
	p.Emit(run)
	if parent := v.Get("parentId").Str(); parent != "" && parent != p.task {
		p.Emit(&transcript.Link{Kind: "parent", From: transcript.RunEnd(parent), To: transcript.RunEnd(p.task), Time: v.Get("createdAt").Time(), Origin: at})
	}
	p.extra(roleSettings, v, at)
}

// attributes are the names of attributes of a run.
var attributes = map[string]string{"currentMode": "mode", "agentProfileId": "profile", "workingMode": "working_mode"}

// outcomes are what states of a task say about how it ended.
var outcomes = map[string]transcript.Outcome{"DONE": transcript.Succeeded, "INTERRUPTED": transcript.Cancelled, "IN_PROGRESS": transcript.Running}

// todos yields a task's list of what is to be done.
func (p *parser) todos(file io.Reader) {
	v, at := p.Document(file, func(pr *transcript.Problem) { p.Problem(p.task, pr) })
	if p.Settle(p.task); !v.Exists() || p.task == "" {
		return
	}
	p.Emit(&transcript.Run{ID: p.task, Named: true, Rank: rankSettings})
	p.extra(roleTodos, v, at)
}

// extra yields a document beside the context, for search.
func (p *parser) extra(typ string, v jsontext.Value, at transcript.Origin) {
	p.Emit(&transcript.Event{
		Run: p.task, Verdict: transcript.Uncounted, Kind: transcript.KindNotice, Type: typ, Origin: at, Parts: []transcript.Part{{Text: textOf(v)}},
	})
}
