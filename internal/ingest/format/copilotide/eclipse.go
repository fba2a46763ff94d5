package copilotide

import (
	"cmp"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// document yields a conversation of Eclipse.
func (p *parser) document() {
	p.Session = format.Stem(p.in.Path)
	p.start()
	v, at := p.Document(p.in.Reader, p.SessionProblem)
	if !v.Exists() {
		return
	}
	turns := v.Get("turns")
	if !turns.IsArray() {
		p.SessionProblem(&transcript.Problem{Kind: "not a session", Reason: "there are no turns", Origin: at})
		return
	}
	p.Session = cmp.Or(v.Get("conversationId").Str(), p.Session)
	p.Row = jsontext.Object{Origin: at, Value: v}
	run := eclipseRun(v)
	run.ID = p.Session
	p.run = transcript.Run{ID: run.ID, Local: run.Local, Anchor: run.Anchor, Anchored: run.Anchored}
	run.Named, run.Project = !turns.HasItems(), workspaceOf(p.in.Path)
	c := transcript.Conversation{
		ID: conversation, Run: run.ID, Rank: run.Rank, Silent: run.Named, Agent: v.Get("responderUsername").Str(), Project: run.Project, Title: run.Title,
		Started: run.Started, Ended: run.Ended,
	}
	first := run
	p.Emit(&first)
	begun := c
	p.Emit(&begun)
	p.Begun, p.Titled = !run.Named, run.Title != ""
	for key, member := range v.Fields() {
		switch {
		case key == "turns" && member.Offset() == turns.Offset():
			for turn := range turns.Items() {
				if p.Done() {
					return
				}
				p.Within(turn, p.eclipseTurn)
			}
		case key == "todos" || key == "data":
			if len(textOf(member)) > 0 {
				p.Within(member, func(jsontext.Value) { p.Uncounted(transcript.KindNotice, key, transcript.Time{}) })
			}
		}
	}
	if p.model != "" || p.mode != "" {
		run.Model, c.Model, c.Mode = p.model, p.model, p.mode
		p.Emit(&run)
		p.Emit(&c)
	}
}

// eclipseRun returns what a document states of its run. Only the time of its creation, with whom it was, stays when it gets another id. Of
// the documents that it was until then, and of copies, the last one holds, by the time of the last answer.
func eclipseRun(v jsontext.Value) transcript.Run {
	run := transcript.Run{
		Title: format.Title(v.Get("title").Str()), Started: v.Get("creationDate").Time(), Ended: v.Get("lastMessageDate").Time(),
	}
	run.Rank = int(max(run.Ended.UnixMicro/1_000_000, 0))
	if run.Started.Valid {
		run.Local, run.Anchored, run.Anchor = true, true, v.Get("creationDate").Str()+" "+v.Get("requesterUsername").Str()
	}
	run.Attributes.Set("ide", "eclipse")
	return run
}

// eclipseTurn yields the events of a turn of Eclipse. Most are a prompt or an answer; the class of early versions has room for both.
func (p *parser) eclipseTurn(v jsontext.Value) {
	text, reply := v.Get("message", "text"), v.Get("reply")
	role := strings.ToLower(v.Get("role").Word())
	if role == "copilot" || role == "" && reply.Exists() {
		role = "assistant"
	}
	id, at := v.Get("turnId").Text(), v.Get("timestamp").Time()
	if role == "assistant" {
		if !text.IsBlank() {
			p.eclipsePrompt(p.newTurn(id, "user", at), v, text)
		}
		p.eclipseAnswer(p.newTurn(id, role, at), v, reply).end(p.Row.Value)
		return
	}
	asked := p.eclipsePrompt(p.newTurn(id, cmp.Or(role, "user"), at), v, text)
	if !reply.Get("text").IsBlank() || reply.Get("editAgentRounds").HasItems() || reply.Get("errorMessages").HasItems() {
		p.eclipseAnswer(p.newTurn(id, "assistant", at), v, reply)
		return
	}
	asked.end(p.Row.Value)
}

// eclipsePrompt yields the events of a turn's prompt.
func (p *parser) eclipsePrompt(t *turn, v, text jsontext.Value) *turn {
	p.asked, p.mode = cmp.Or(v.Get("model").Word(), p.asked), cmp.Or(v.Get("chatMode").Word(), p.mode)
	t.facts.Set("custom_mode", v.Get("customChatModeId").Str())
	t.prompt(text)
	t.allBeside(v)
	return t
}

// eclipseAnswer yields the events of a turn's answer.
func (p *parser) eclipseAnswer(t *turn, v, reply jsontext.Value) *turn {
	parent, call := v.Get("parentTurnId").Str(), v.Get("subagentToolCallId").Str()
	t.answerFacts(reply, parent)
	if t.model == "" && !strings.EqualFold(p.asked, "auto") {
		t.model = p.asked
	}
	if parent == "" {
		p.model = cmp.Or(t.model, p.model)
	}
	switch {
	case call != "":
		t.subagent = format.ShortID(call)
	case parent != "":
		t.subagent = true
	}
	t.say("", reply.Get("text"))
	t.rounds("", reply.Get("editAgentRounds"))
	t.errors(reply.Get("errorMessages"))
	t.allBeside(reply)
	return t
}

// allBeside yields what a prompt or an answer of Eclipse has beside what was said.
func (t *turn) allBeside(v jsontext.Value) {
	for _, key := range []string{
		"currentDocument", "references", "annotations", "notifications", "steps", "panelMessages", "agentMessages", "followups",
	} {
		t.beside(key, v.Get(key))
	}
}
