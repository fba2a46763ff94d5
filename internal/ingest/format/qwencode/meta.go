package qwencode

import (
	"cmp"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// meta reads the meta.json of a subagent.
func (p *parser) meta() {
	p.run = agentRun(p.loc.session, p.loc.agent)
	doc, at := p.Document(p.in.Reader, func(pr *transcript.Problem) { p.Problem(p.run, pr) })
	if !doc.Exists() {
		return
	}
	session, agent := doc.Get("parentSessionId").Str(), doc.Get("agentId").Str()
	if session == "" {
		session = p.loc.session
	}
	if agent == "" {
		agent = p.loc.agent
	}
	p.run = agentRun(session, agent)
	status := doc.Get("status").Str()
	r := &transcript.Run{
		ID: p.run, Rank: rankMeta, Named: true, Child: true, Title: format.Title(doc.Get("description").Str()), Agent: doc.Get("agentType").Str(),
		Model: modelOf(doc), Status: status, Outcome: outcomes[status], Error: doc.Get("lastError").Str(), Started: doc.Get("createdAt").Time(),
	}
	r.Attributes.Set("call", doc.Get("toolUseId").Str())
	p.Emit(r)
	if parentAgent := doc.Get("parentAgentId").Str(); parentAgent != "" { // both are children of the session
		p.Emit(&transcript.Link{Kind: "call", From: transcript.RunEnd(agentRun(session, parentAgent)), To: transcript.RunEnd(p.run), Time: r.Started, Origin: at, Uncounted: true})
	}
	p.Emit(&transcript.Event{
		Run: p.run, Verdict: transcript.Uncounted, Kind: transcript.KindNotice, Type: "meta", Time: r.Started, Origin: at,
		Parts: []transcript.Part{{Text: textOf(doc)}},
	})
}

// modelOf returns the model of a subagent: its own, or the session's as given on the command line.
func modelOf(doc jsontext.Value) string {
	return cmp.Or(doc.Get("model").Str(), doc.Get("persistedCliFlags", "model").Str())
}

var outcomes = map[string]transcript.Outcome{
	"running": transcript.Running, "paused": transcript.Running, "completed": transcript.Succeeded, "failed": transcript.Failed,
	"cancelled": transcript.Cancelled,
}

// Resolve sets the fields of a subagent's conversation from its meta.json, which alone states the model. Saved output of a session
// is a copy, with its usage, if there is the session.
func (qwen) Resolve(f *transcript.Family) {
	if !f.Run.Child {
		format.CopyOutputUsage(f, ofOutput)
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
