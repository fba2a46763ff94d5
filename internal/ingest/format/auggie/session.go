package auggie

import (
	"cmp"
	"io"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// parser is one parse of one session.
type parser struct {
	format.Rows
	rank  int               // rankBackup or rankSession
	model string            // that the session is set to
	tools map[string]string // names, by the ids of calls

	conversation string         // the current one
	agent        string         // sub-agent that acts in it, "" for the main one
	lastOf       map[string]int // the last exchange that states what a transaction cost
	recorded     struct {
		dollars int64 // nano-USD
		credits float64
	} // what sub-agents cost whose requests the session has
}

// mainConversation is the id of the session's own conversation.
const mainConversation = "main"

// document yields the records of a session.
func (p *parser) document(r io.Reader) {
	v, at := p.Document(r, p.SessionProblem)
	if !v.Exists() {
		return
	}
	history := v.Get("chatHistory")
	if !history.IsArray() {
		p.SessionProblem(&transcript.Problem{Kind: "not a session", Reason: "there is no chatHistory", Origin: at})
		return
	}
	p.Row = jsontext.Object{Origin: at, Value: v}
	p.Session = cmp.Or(v.Get("sessionId").Str(), p.Session)
	p.model = v.Get("agentState", "modelId").Str()
	p.run(v, history)
	p.history(mainConversation, history)
	for n, sub := range v.Get("subAgents").Numbered() {
		p.subAgent(sub, n)
	}
	p.conversation = mainConversation
	for sum := range v.Get("summarizations").Items() {
		p.summarization(sum)
	}
	p.subAgentCosts(v)
	for queued := range v.Get("queue", "messages").Items() {
		p.Within(queued, func(v jsontext.Value) { p.Uncounted(transcript.KindNotice, "queue", transcript.Time{}) })
	}
}

// run yields the run and its conversation. A session in which nothing was said does not count.
func (p *parser) run(v, history jsontext.Value) {
	run := &transcript.Run{
		ID: p.Session, Rank: p.rank, Named: !history.HasItems(), Model: p.model, Project: projectOf(history),
		Title:   cmp.Or(format.Title(v.Get("customTitle").Str()), format.Title(v.Get("title").Str()), firstPrompt(history)),
		Started: v.Get("created").Time(), Ended: v.Get("modified").Time(),
	}
	parent := v.Get("parentConversationId").Str()
	run.Child = parent != ""
	run.Attributes.Set("workspace", v.Get("workspaceId").Str())
	run.Attributes.Set("cloud_agent", v.Get("poseidonAgentId").Str())
	p.Emit(run)
	if parent != "" {
		p.Emit(&transcript.Run{ID: parent, Named: true})
		p.Emit(&transcript.Link{Kind: "parent", From: transcript.RunEnd(parent), To: transcript.RunEnd(p.Session), Origin: p.Row.Origin})
	}
	if run.Named {
		return
	}
	p.Emit(&transcript.Conversation{
		ID: mainConversation, Run: p.Session, Rank: run.Rank, Title: run.Title, Model: run.Model, Project: run.Project, Started: run.Started, Ended: run.Ended,
		Child: run.Child,
	})
}

// projectOf returns the directory that the first exchanges name.
func projectOf(history jsontext.Value) string {
	for turn := range history.Items() {
		for node := range turn.Get("exchange", "request_nodes").Items() {
			for folder := range node.Get("ide_state_node", "workspace_folders").Items() {
				if dir := folder.First("folder_root", "repository_root").Str(); dir != "" {
					return dir
				}
			}
		}
	}
	return ""
}

func firstPrompt(history jsontext.Value) string {
	for turn := range history.Items() {
		if title := format.Title(turn.Get("exchange", "request_message").Str()); title != "" {
			return title
		}
	}
	return ""
}

// history yields the exchanges of a conversation.
func (p *parser) history(conversation string, history jsontext.Value) {
	p.conversation, p.lastOf = conversation, map[string]int{}
	for n, turn := range history.Numbered() {
		for node := range turn.Get("exchange", "response_nodes").Items() {
			if id := transactionOf(node); id != "" {
				p.lastOf[id] = n
			}
		}
	}
	for n, turn := range history.Numbered() {
		if p.Done() {
			return
		}
		p.Within(turn, func(turn jsontext.Value) { p.exchange(turn, n) })
	}
}

// subAgent yields the conversation of a sub-agent, which the session has if the program was told to record them.
func (p *parser) subAgent(v jsontext.Value, n int) {
	history := v.Get("chatHistory")
	if !history.HasItems() {
		return
	}
	id := strconv.Itoa(n)
	for turn := range history.Items() {
		id = cmp.Or(turn.Get("exchange", "request_id").Str(), id)
		break
	}
	model := p.model
	p.agent, p.model = v.Get("name").Str(), cmp.Or(v.Get("model").Str(), p.model)
	c := &transcript.Conversation{
		ID: id, Run: p.Session, Rank: p.rank, Agent: p.agent, Model: p.model, Title: firstPrompt(history), Project: projectOf(history), Ended: v.Get("finishedAt").Time(),
		Child: true,
	}
	p.Emit(c)
	end := transcript.End{Type: "conversation", ID: p.Session, Conversation: mainConversation}
	to := end
	to.Conversation = id
	p.Emit(&transcript.Link{Kind: "parent", From: end, To: to, Origin: jsontext.OriginIn(p.Row.Origin, p.Row.Value, v)})
	p.history(id, history)
	p.agent, p.model = "", model
}
