package warp

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// parser is one parse of the rows of a conversation: its own, those of its tasks, and those of its prompts.
type parser struct {
	format.Rows

	run     transcript.Run
	main    transcript.Conversation
	forked  bool              // it began as a copy of another conversation
	root    string            // id of the task that is the main conversation
	begun   map[string]bool   // conversations that were yielded
	agents  map[string]agent  // sub-agents by their task
	tools   map[string]string // names of tools by call
	said    map[string]bool   // prompts in tasks
	asked   string            // the model that the last prompt was for
	spent   []*transcript.Usage
	links   []*transcript.Link
	waiting []*transcript.Event // for the first event that counts
}

// agent is what a call states about the sub-agent that it started.
type agent struct{ call, kind string }

// mainConversation is the conversation of the user.
const mainConversation = "main"

// row yields the records of one row.
func (p *parser) row(v jsontext.Value) {
	id := v.Get("conversation_id").Text()
	if id == "" {
		p.NoSession()
		return
	}
	if id != p.Session {
		p.end()
		p.Begin(id)
		*p = parser{
			Rows: p.Rows, run: transcript.Run{ID: id}, main: transcript.Conversation{ID: mainConversation, Run: id},
			begun: map[string]bool{}, agents: map[string]agent{}, tools: map[string]string{}, said: map[string]bool{},
		}
	}
	switch table := v.Get("table").Word(); table {
	case tableConversation:
		p.conversationRow(v)
	case tableTask:
		p.taskRow(v)
	case tableQuery:
		p.queryRow(v)
	default:
		p.aside(transcript.KindUnknown, table, transcript.Time{})
	}
}

// aside yields the row as an event that does not count, and by itself does not make a run that counts: it waits for one that does.
func (p *parser) aside(kind transcript.Kind, typ string, at transcript.Time) {
	e := p.Event(kind, "", typ, p.Row.Value)
	e.Run, e.Verdict, e.Time = p.Session, transcript.Uncounted, at
	if p.Begun {
		p.Emit(e)
		return
	}
	p.waiting = append(p.waiting, transcript.Clone(e).(*transcript.Event))
}

// start yields the run, and what waited for it.
func (p *parser) start(named bool) {
	p.Emit(&transcript.Run{ID: p.Session, Named: named})
	for _, e := range p.waiting {
		p.Emit(e)
	}
	p.waiting = nil
}

// conversationRow notes what is stated of the conversation.
func (p *parser) conversationRow(v jsontext.Value) {
	data := v.Get("conversation_data")
	if !data.IsObject() {
		p.SessionProblem(&transcript.Problem{Kind: "not a conversation", Reason: "conversation_data is no JSON object", Origin: p.Row.Origin})
	}
	p.run.Agent = data.Get("agent_name").Str()
	forkedFrom := data.Get("forked_from_server_conversation_token").Str()
	p.forked = forkedFrom != ""
	for name, value := range map[string]string{
		"server_conversation": data.Get("server_conversation_token").Str(), "forked_from": forkedFrom, "server_run": data.Get("run_id").Str(),
		"harness": cmp.Or(data.Get("orchestration_harness_type").Str(), data.Get("orchestration_avatar_id").Str()),
	} {
		p.run.Attributes.Set(name, value)
	}
	for _, name := range []string{"is_remote_child", "pinned"} {
		if data.Get(name).Bool() == transcript.Yes {
			p.run.Attributes.Set(strings.TrimPrefix(name, "is_"), true)
		}
	}
	if parent := data.Get("parent_conversation_id").Str(); parent != "" && parent != p.Session {
		p.run.Child, p.main.Child = true, true
		p.links = append(p.links, &transcript.Link{Kind: "parent", From: transcript.RunEnd(parent), To: transcript.RunEnd(p.Session), Origin: p.Row.Origin})
	}
	p.aside(transcript.KindLifecycle, "conversation", v.Get("last_modified_at").Time())
	p.usage(data.Get("conversation_usage_metadata"))
}

// begin yields a conversation before its first event.
func (p *parser) begin(c *transcript.Conversation) {
	if p.begun[c.ID] {
		return
	}
	p.begun[c.ID] = true
	if !p.Begun {
		p.Begun = true
		p.start(false)
	}
	p.Emit(transcript.Clone(c))
}

// end yields what the rows of a conversation say as a whole.
func (p *parser) end() {
	if p.Session == "" || p.Done() {
		return
	}
	if !p.Begun {
		p.start(true)
	}
	run, c := p.run, p.main
	run.Named, run.Model = !p.Begun, cmp.Or(run.Model, p.asked)
	if p.begun[mainConversation] {
		c.Title, c.Project, c.Branch, c.Model, c.Status, c.Agent = run.Title, run.Project, run.Branch, run.Model, run.Status, run.Agent
		c.Started, c.Ended = run.Started, run.Ended
		p.Emit(&c)
	}
	p.Emit(&run)
	for _, u := range p.spent {
		if u.Time = run.Started; p.forked { // it repeats what the other one used
			u.Verdict = transcript.DerivedTotal
		}
		p.Emit(u)
	}
	for _, l := range p.links {
		if l.From.Type == "run" {
			p.Emit(&transcript.Run{ID: l.From.ID, Named: true})
		}
		p.Emit(l)
	}
}

// outcomes are what the status of the last prompt says.
var outcomes = map[string]transcript.Outcome{"Pending": transcript.Running, "Completed": transcript.Succeeded, "Cancelled": transcript.Cancelled, "Failed": transcript.Failed}

// queryRow yields the prompts in a row of the history at the prompt. Those in a task are copies.
func (p *parser) queryRow(v jsontext.Value) {
	at, exchange := v.Get("start_ts").Time(), v.Get("exchange_id").Text()
	status, model := v.Get("output_status").Str(), v.Get("model_id").Str()
	format.Extend(&p.run.Started, &p.run.Ended, at)
	p.run.Project = cmp.Or(p.run.Project, v.Get("working_directory").Str())
	if status != "" {
		p.run.Status, p.run.Outcome = status, outcomes[status]
	}
	p.asked = cmp.Or(model, p.asked)
	n := 0
	for item := range v.Get("input").Items() {
		query := item.Get("Query")
		text := strings.TrimSpace(query.Get("text").Str())
		if text == "" {
			continue
		}
		e := p.Event(transcript.KindMessage, "user", "query", query)
		if e.Time = at; p.said[text] {
			e.Verdict = transcript.CopiedHistory
		} else {
			p.run.Title = cmp.Or(p.run.Title, format.Title(text))
		}
		if e.ID = "query " + exchange + "/" + strconv.Itoa(n); exchange == "" {
			e.ID = ""
		}
		n++
		e.Attributes.Set("model", model)
		e.Attributes.Set("status", status)
		p.emit(&p.main, e)
	}
	if n == 0 { // what the agent did by itself
		p.aside(transcript.KindLifecycle, "exchange", at)
	}
}

func (p *parser) emit(c *transcript.Conversation, e *transcript.Event) {
	p.begin(c)
	e.Run, e.Conversation = p.Session, c.ID
	p.Emit(e)
}
