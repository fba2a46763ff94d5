package warp

import (
	"cmp"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// forkPrefixes begin the description of a conversation that was copied, by the user or before going back.
var forkPrefixes = []string{"(Fork) ", "(Pre-Rewind) "}

// taskRow yields the conversation of a task.
func (p *parser) taskRow(v jsontext.Value) {
	task := v.Get("task")
	if !task.IsObject() {
		p.SessionProblem(&transcript.Problem{Kind: "no protobuf", Reason: "the column task is no protobuf message; the row is kept as it is", Origin: p.Row.Origin})
		p.aside(transcript.KindUnknown, "task", transcript.Time{})
		return
	}
	id, messages := cmp.Or(task.Get("id").Str(), v.Get("task_id").Text()), task.Get("messages")
	c := p.conversationOf(id, task)
	models := map[string]string{} // by request
	for m := range messages.Items() {
		format.Extend(&c.Started, &c.Ended, m.Get("timestamp").ProtobufTime())
		if model := m.Get("model_used", "model_id").Str(); model != "" {
			c.Model = model
			models[m.Get("request_id").Str()] = model
		}
	}
	if c == &p.main {
		p.run.Model = cmp.Or(c.Model, p.run.Model)
	}
	format.Extend(&p.run.Started, &p.run.Ended, c.Started)
	format.Extend(&p.run.Started, &p.run.Ended, c.Ended)
	for m := range messages.Items() {
		if p.Done() {
			return
		}
		p.Within(m, func(m jsontext.Value) {
			e := &entry{parser: p, c: c, id: m.Get("id").Str(), at: m.Get("timestamp").ProtobufTime(), model: models[m.Get("request_id").Str()]}
			e.message(m)
		})
	}
	if summary := task.Get("summary"); !summary.IsBlank() {
		p.Within(summary, func(jsontext.Value) { p.aside(transcript.KindNotice, "summary", transcript.Time{}) })
	}
}

// conversationOf returns the conversation of a task. The first one with messages and without a parent is the main one; a
// version of the program left an empty one beside it.
func (p *parser) conversationOf(id string, task jsontext.Value) *transcript.Conversation {
	title, parent := task.Get("description").Str(), task.Get("dependencies", "parent_task_id").Str()
	if parent == "" && p.root == "" && task.Get("messages").HasItems() {
		p.root, p.run.Title = cmp.Or(id, mainConversation), format.Title(title)
		for _, prefix := range forkPrefixes {
			p.forked = p.forked || strings.HasPrefix(title, prefix)
		}
		return &p.main
	}
	a := p.agents[id]
	c := &transcript.Conversation{ID: cmp.Or(id, "task"), Run: p.Session, Title: format.Title(title), Agent: a.kind, Child: parent != ""}
	if parent != "" && task.Get("messages").HasItems() {
		from := transcript.End{Type: "conversation", ID: p.Session, Conversation: mainConversation}
		to := from
		if to.Conversation = c.ID; p.begun[parent] {
			from.Conversation = parent
		}
		link := &transcript.Link{Kind: "parent", From: from, To: to, Origin: p.Row.Origin}
		link.Attributes.Set("call", a.call)
		p.links = append(p.links, link)
	}
	return c
}

// entry is one message of a task while its events are made.
type entry struct {
	*parser
	c     *transcript.Conversation
	id    string
	at    transcript.Time
	model string
}

// envelope are the members of a message beside what it holds.
var envelope = map[string]bool{"id": true, "task_id": true, "request_id": true, "timestamp": true, otherFields: true}

// heldBy returns the first member that is not among others, and its name.
func heldBy(v jsontext.Value, others map[string]bool) (name string, member jsontext.Value) {
	for key, m := range v.Fields() {
		if !others[key] {
			return key, m
		}
	}
	return "", jsontext.Value{}
}

// message yields the events of a message.
func (m *entry) message(v jsontext.Value) {
	typ, content := heldBy(v, envelope)
	m.place(content.Get("context"))
	switch typ {
	case "user_query":
		m.prompt(content.Get("query"))
		m.say(transcript.KindMessage, "user", typ, content)
	case "invoke_skill":
		m.place(content.Get("user_query", "context"))
		m.prompt(content.Get("user_query", "query"))
		m.say(transcript.KindMessage, "user", typ, content)
	case "code_review":
		m.say(transcript.KindMessage, "user", typ, content)
	case "passive_suggestion_result":
		role, kind := "system", transcript.KindSystem
		if prompt := content.Get("result", "prompt", "prompt"); !prompt.IsBlank() {
			m.prompt(prompt)
			role, kind = "user", transcript.KindMessage
		}
		m.say(kind, role, typ, content)
	case "agent_output":
		m.say(transcript.KindMessage, "assistant", typ, content)
	case "agent_reasoning":
		m.say(transcript.KindReasoning, "assistant", typ, content)
	case "tool_call":
		m.call(content)
	case "tool_call_result":
		m.result(content)
	case "web_search", "web_fetch":
		m.web(typ, content)
	case "system_query":
		m.prompt(content.Get("auto_code_diff", "query"))
		m.say(transcript.KindSystem, "system", typ, content)
	case "messages_received_from_agents":
		m.say(transcript.KindSystem, "system", typ, content)
	case "summarization":
		m.say(transcript.KindCompaction, "system", typ, content)
	case "server_event", "update_todos", "update_review_comments", "debug_output", "artifact_event", "model_used", "events_from_agents", "orchestration_config_snapshot":
		m.uncounted(transcript.KindNotice, typ, content)
	default:
		m.uncounted(transcript.KindUnknown, typ, v)
	}
}

// place notes where the user was.
func (m *entry) place(context jsontext.Value) {
	m.run.Project = cmp.Or(m.run.Project, context.Get("directory", "pwd").Str())
	m.run.Branch = cmp.Or(m.run.Branch, context.Get("git", "branch").Str())
}

// prompt notes what the history at the prompt has, too.
func (m *entry) prompt(text jsontext.Value) {
	if prompt := strings.TrimSpace(text.Str()); prompt != "" {
		m.said[prompt] = true
		if m.c == &m.main {
			m.run.Title = cmp.Or(m.run.Title, format.Title(prompt))
		}
	}
}

// minUnique is the length from which on an id is no number.
const minUnique = 16

// emit yields an event; id tells it from others of the message.
func (m *entry) emit(e *transcript.Event, id string) {
	e.Time = m.at
	if e.Role == "assistant" {
		e.Model = m.model
	}
	if m.id != "" {
		e.ID, e.Global, e.Home = m.id+id, len(m.id) >= minUnique, !m.forked
	}
	m.parser.emit(m.c, e)
}

func (m *entry) uncounted(kind transcript.Kind, typ string, v jsontext.Value) {
	e := m.Event(kind, "", typ, v)
	e.Verdict = transcript.Uncounted
	m.emit(e, "")
}

// say yields a message that is a text.
func (m *entry) say(kind transcript.Kind, role, typ string, v jsontext.Value) {
	e := m.Event(kind, role, typ, v)
	if e.Parts[0].Text == "" {
		e.Kind, e.Verdict = transcript.KindNotice, transcript.Uncounted
	}
	m.emit(e, "")
}
