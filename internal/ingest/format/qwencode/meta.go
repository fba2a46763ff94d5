package qwencode

import (
	"cmp"
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// meta reads the note beside a subagent.
func (p *parser) meta() {
	p.run = agentRun(p.place.session, p.place.agent)
	doc, at := p.Document(p.in.Reader, func(pr *transcript.Problem) { p.Problem(p.run, pr) })
	if !doc.Exists() {
		return
	}
	session, agent := doc.Get("parentSessionId").Str(), doc.Get("agentId").Str()
	if session == "" {
		session = p.place.session
	}
	if agent == "" {
		agent = p.place.agent
	}
	p.run = agentRun(session, agent)
	status := doc.Get("status").Str()
	r := &transcript.Run{
		ID: p.run, Rank: rankMeta, Named: true, Child: true, Title: format.Title(doc.Get("description").Str()), Agent: doc.Get("agentType").Str(),
		Model: modelOf(doc), Status: status, Outcome: outcomes[status], Error: doc.Get("lastError").Str(), Started: doc.Get("createdAt").Time(),
	}
	r.Attributes.Set("call", doc.Get("toolUseId").Str())
	p.Emit(r)
	if above := doc.Get("parentAgentId").Str(); above != "" { // both lie side by side, as the session's
		p.Emit(&transcript.Link{Kind: "call", From: transcript.RunEnd(agentRun(session, above)), To: transcript.RunEnd(p.run), Time: r.Started, Origin: at, Uncounted: true})
	}
	p.Emit(&transcript.Event{
		Run: p.run, Verdict: transcript.Uncounted, Kind: transcript.KindNotice, Type: "meta", Time: r.Started, Origin: at,
		Parts: []transcript.Part{{Text: textOf(doc)}},
	})
}

// modelOf is the model that a subagent asks: its own, or that of the session as it was told on the command line.
func modelOf(doc format.Value) string {
	return cmp.Or(doc.Get("model").Str(), doc.Get("persistedCliFlags", "model").Str())
}

var outcomes = map[string]transcript.Outcome{
	"running": transcript.Running, "paused": transcript.Running, "completed": transcript.Succeeded, "failed": transcript.Failed,
	"cancelled": transcript.Cancelled,
}

// Resolve names a subagent by the note beside its transcript, which alone says what model answers in it.
func (qwen) Resolve(f *transcript.Family) {
	if !f.Run.Child {
		return
	}
	for _, c := range f.Conversations {
		if f.Run.Title != "" {
			c.Title = f.Run.Title
		}
		if f.Run.Agent != "" {
			c.Agent = f.Run.Agent
		}
		if c.Model == "" {
			c.Model = f.Run.Model
		}
	}
	for _, u := range f.Usage {
		if u.Model == "" {
			u.Model = f.Run.Model
		}
	}
}

// ResolvesUsage makes the format a format.UsageResolver.
func (qwen) ResolvesUsage() {}
