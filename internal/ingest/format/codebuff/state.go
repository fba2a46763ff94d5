package codebuff

import (
	"io"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// state yields what the agent's state says about the run, and what it knows as rows that do not count: it holds the whole output of tools.
func (p *parser) state(r io.Reader) {
	v, at := p.Document(r, p.SessionProblem)
	if !v.Exists() {
		return
	}
	agent, files := v.Get("sessionState", "mainAgentState"), v.Get("sessionState", "fileContext")
	if !agent.IsObject() && !files.IsObject() {
		p.SessionProblem(&transcript.Problem{Kind: "not a state", Reason: "there is no sessionState", Origin: at})
		return
	}
	run := &transcript.Run{
		ID: p.Session, Named: true, Rank: rankState, Project: files.First("cwd", "projectRoot").Str(), Agent: agent.Get("agentType").Str(), Started: startOf(p.Session),
	}
	if n, ok := agent.Get("creditsUsed").Float(); ok && n > 0 {
		run.Attributes.Set("credits", n)
	}
	if n, ok := agent.Get("contextTokenCount").Int(); ok && n > 0 {
		run.Attributes.Set("context_tokens", n)
	}
	p.Emit(run)
	p.Row = jsontext.Object{Origin: at, Value: v}
	for m := range agent.Get("messageHistory").Items() {
		if p.Done() {
			return
		}
		p.Within(m, func(m jsontext.Value) { p.Uncounted(transcript.KindNotice, m.Get("role").Word(), transcript.Time{}) })
	}
}
