package openhands

import (
	"cmp"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// outcomes are the states of a conversation. One that is idle or paused may go on.
var outcomes = map[string]transcript.Outcome{
	"running": transcript.Running, "waiting_for_confirmation": transcript.Running, "finished": transcript.Succeeded, "error": transcript.Failed,
	"stuck": transcript.Failed, "deleting": transcript.Other, "idle": transcript.Other, "paused": transcript.Other,
}

// state yields the records of base_state.json.
func (p *parser) state(doc jsontext.Value, at transcript.Origin) {
	agent := doc.Get("agent")
	status := cmp.Or(doc.Get("execution_status").Word(), doc.Get("agent_status").Word())
	r := &transcript.Run{
		ID: p.run, Rank: rankState, Named: true, Child: p.at.parent != "", Title: format.Title(doc.Get("tags", "title").Str()),
		Status: status, Outcome: outcomes[status], Model: cmp.Or(agent.Get("llm", "model").Str(), agent.Get("acp_model").Str()),
		Project: doc.Get("workspace", "working_dir").Str(),
	}
	if kind := agent.Get("kind").Str(); kind != "Agent" {
		r.Agent = kind
	}
	p.Emit(r)
	if p.at.parent != "" {
		p.Emit(&transcript.Link{Kind: "parent", From: transcript.RunEnd(p.at.parent), To: transcript.RunEnd(p.run), Origin: at})
	}
	p.about(doc, at, roleState)
	apart := strings.HasPrefix(agent.Get("kind").Str(), "ACP")
	stats := doc.Get("stats", "usage_to_metrics")
	if !stats.IsObject() {
		stats = doc.Get("stats", "service_to_metrics")
	}
	for use, v := range stats.Fields() {
		p.use(&ledger{value: v, base: doc, origin: at, use: use, apart: apart, rank: rankOwn})
	}
}

// use yields the requests to a model for one use. Those of a sub-agent are repeated here, and are also in its own state, if that exists.
func (p *parser) use(l *ledger) {
	repeated := strings.HasPrefix(l.use, "task:") || strings.HasPrefix(l.use, "delegate:")
	if repeated {
		l.rank = rankRepeated
		l.apart = false
	}
	n, priced := p.ledger(l)
	u := l.total()
	if u == nil || n > 0 && (priced || !u.Cost.Known) {
		return
	}
	u.Run, u.Conversation, u.Key = p.run, p.run, "total of "+l.use+" "+p.run
	u.Model = cmp.Or(l.value.Get("model_name").Str(), u.Model)
	u.Attributes = transcript.Attributes{"of": ofModel, "use": l.use}
	if n > 0 || repeated {
		u.Verdict = transcript.DerivedTotal
	}
	p.Emit(u)
}

// about yields an uncounted row for a file about a conversation.
func (p *parser) about(doc jsontext.Value, at transcript.Origin, typ string) {
	p.Emit(&transcript.Event{
		Run: p.run, Verdict: transcript.Uncounted, Kind: transcript.KindNotice, Type: typ, Origin: at, Parts: []transcript.Part{{Text: aboutText(doc)}},
	})
}

// meta yields the records of the metadata that servers keep of a conversation.
func (p *parser) meta(doc jsontext.Value, at transcript.Origin) {
	parent := runID(doc.Get("parent_conversation_id").Str())
	r := &transcript.Run{
		ID: p.run, Rank: rankState, Named: true, Title: format.Title(doc.Get("title").Str()), Branch: doc.Get("selected_branch").Str(),
		Model: doc.Get("llm_model").Str(), Project: cmp.Or(doc.Get("workspace", "working_dir").Str(), doc.Get("selected_repository").Str()),
		Started: doc.Get("created_at").Time(), Child: p.at.parent != "" || parent != "" && parent != p.run,
	}
	for _, key := range []string{"trigger", "git_provider"} {
		r.Attributes.Set(key, doc.Get(key).Str())
	}
	p.Emit(r)
	if parent != "" && parent != p.run {
		p.Emit(&transcript.Link{Kind: "parent", From: transcript.RunEnd(parent), To: transcript.RunEnd(p.run), Origin: at})
	}
	p.about(doc, at, roleMeta)
	l := ledger{value: doc.Get("metrics"), base: doc, origin: at}
	u := l.total()
	if u == nil { // version 0
		l.value = doc
		if u = l.total(); u == nil {
			u = &transcript.Usage{Origin: at}
		}
		u.Input, u.Output = doc.Get("prompt_tokens").Tokens(), doc.Get("completion_tokens").Tokens()
		u.Rank = u.Input.N + u.Output.N
	}
	if u.Rank == 0 && !u.Cost.Known {
		return
	}
	u.Run, u.Conversation, u.Key, u.Time = p.run, p.run, "metadata "+p.run, cmp.Or(doc.Get("last_updated_at").Time(), doc.Get("updated_at").Time())
	u.Model = cmp.Or(u.Model, r.Model)
	u.Attributes = transcript.Attributes{"of": ofMeta}
	p.Emit(u)
}
