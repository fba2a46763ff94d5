package devin

import (
	"cmp"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// parser is one parse of the rows of one session.
type parser struct {
	format.Rows
	seen  map[string]bool                     // messages
	begun map[string]*transcript.Conversation // by id, with the agent and the model that are known so far
	tools map[string]string                   // names, by the ids of calls
}

// mainConversation is the id of the session's own conversation; those of sub-agents have the agent's.
const mainConversation = "main"

// row yields the records of one row of a database.
func (p *parser) row(v jsontext.Value) {
	table, id, created := v.Get("table").Word(), v.Get("session_id").Text(), v.Get("session_created")
	if table == tableSession {
		id, created = v.Get("id").Text(), v.Get("created_at")
	}
	if id == "" {
		p.NoSession()
		return
	}
	if at := created.Text(); at != "" { // two words, which another machine may give to another session
		id += "~" + at
	}
	if p.Begin(id) {
		p.seen, p.begun, p.tools = map[string]bool{}, map[string]*transcript.Conversation{}, map[string]string{}
	}
	switch table {
	case tableSession:
		p.session(v)
	case tableNode:
		p.node(v)
	default:
		p.NameRun()
		p.Uncounted(transcript.KindUnknown, table, transcript.Time{})
	}
}

// session yields the metadata of a session. It does not by itself make a run that counts: a session is created before its first message.
func (p *parser) session(v jsontext.Value) {
	p.Named = true
	model := v.Get("model").Str()
	if model == "adaptive" { // the service chooses one for each request
		model = ""
	}
	run := &transcript.Run{
		ID: p.Session, Named: true, Rank: rankSession, Title: format.Title(v.Get("title").Str()), Project: v.Get("working_directory").Str(), Model: model,
		Started: parseTime(v.Get("created_at")), Ended: parseTime(v.Get("last_activity_at")),
	}
	run.Attributes.Set("mode", v.Get("agent_mode").Str())
	for key, name := range map[string]string{"total_credit_cost": "credits", "total_acu_cost": "acu"} {
		if n, ok := v.Get("metadata", key).Float(); ok && n > 0 {
			run.Attributes.Set(name, n)
		}
	}
	p.Emit(run)
	p.Uncounted(transcript.KindLifecycle, "session", run.Started)
}

// parseTime reads a time in seconds, or in milliseconds if it is too large for seconds.
func parseTime(v jsontext.Value) transcript.Time {
	n, _ := v.Int()
	return timestamp.Epoch(n)
}

// The ranks of what originals state about a run.
const (
	rankNodes   = iota // the title is only a prompt
	rankSession        // that of the session
)

// conversation returns the conversation of a sub-agent, or the session's own, and yields it when it begins.
func (p *parser) conversation(agent string, at transcript.Time) *transcript.Conversation {
	id := cmp.Or(agent, mainConversation)
	c := p.begun[id]
	if c != nil {
		return c
	}
	if !p.Begun {
		p.Begun = true
		p.Emit(&transcript.Run{ID: p.Session, Rank: rankNodes})
	}
	c = &transcript.Conversation{ID: id, Run: p.Session, Child: agent != ""}
	p.begun[id] = c
	p.Emit(&transcript.Conversation{ID: id, Run: p.Session, Child: c.Child, Started: at})
	if agent != "" {
		from := transcript.End{Type: "conversation", ID: p.Session, Conversation: mainConversation}
		to := from
		to.Conversation = id
		p.Emit(&transcript.Link{Kind: "parent", From: from, To: to, Origin: p.Row.Origin})
	}
	return c
}

// title makes a prompt the title of its conversation, if that has none.
func (p *parser) title(c *transcript.Conversation, prompt jsontext.Value) {
	if c.Title != "" {
		return
	}
	if c.Title = format.Title(jsontext.Appended(appendValue)(prompt)); c.Title == "" {
		return
	}
	if !c.Child {
		p.Emit(&transcript.Run{ID: p.Session, Rank: rankNodes, Title: c.Title})
	}
	p.Emit(&transcript.Conversation{ID: c.ID, Run: c.Run, Child: c.Child, Title: c.Title})
}

// state yields a conversation again if a message has changed what is known of it.
func (p *parser) state(c *transcript.Conversation, agent, model string) {
	if agent == "" || c.Agent == agent {
		agent = ""
	}
	if model == "" || c.Model == model {
		model = ""
	}
	if agent == "" && model == "" {
		return
	}
	c.Agent, c.Model = cmp.Or(agent, c.Agent), cmp.Or(model, c.Model)
	p.Emit(&transcript.Conversation{ID: c.ID, Run: c.Run, Child: c.Child, Agent: c.Agent, Model: c.Model})
}
