package opencode

import (
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// message is a message record, which its parts refer to.
type message struct {
	value              jsontext.Value
	id, session        string
	role, agent        string
	model, provider    string
	project            string
	created, completed transcript.Time
	tokens, cost       jsontext.Value
	failed, synthetic  bool // synthetic: the program wrote it (Z Code)
	origin             transcript.Origin
}

func readMessage(v jsontext.Value) message {
	m := message{value: v}
	for key, f := range v.Fields() {
		switch key {
		case "id":
			m.id = f.Text()
		case "sessionID":
			m.session = f.Text()
		case "role":
			m.role = f.Str()
		case "agent":
			m.agent = f.Str()
		case "modelID":
			m.model = f.Str()
		case "providerID":
			m.provider = f.Str()
		case "path":
			m.project = f.Get("cwd").Str()
		case "time":
			m.created, m.completed = f.Get("created").MilliTime(), f.Get("completed").MilliTime()
		case "tokens":
			m.tokens = f
		case "cost":
			m.cost = f
		case "synthetic":
			m.synthetic = f.Bool() == transcript.Yes
		case "error":
			m.failed = !f.IsNull()
		}
	}
	if m.model == "" {
		m.model = v.Get("model", "modelID").Str()
	}
	if m.provider == "" {
		m.provider = v.Get("model", "providerID").Str()
	}
	return m
}

// treeMessage reads a message of the tree. Missing ids are taken from its path.
func (p *parser) treeMessage() message {
	m := readMessage(p.base)
	m.origin = p.baseOrigin
	if m.id == "" {
		m.id = p.loc.id
	}
	if m.session == "" {
		m.session = p.loc.session
	}
	return m
}

// message yields what a message states about its session, and an uncounted row. From a file of the tree it also yields
// which session the parts of the message belong to, and hints for them.
func (p *parser) message(m message) {
	p.nameRun(m.session, m.id)
	answer := m.role == "assistant"
	if answer {
		p.Emit(&transcript.Run{
			ID: runID(m.session, m.id), Local: true, Anchor: m.session, Anchored: m.session != "",
			Named: p.described == "" || m.session != p.described, Rank: p.rank, Model: m.model, Project: m.project,
		})
		p.Emit(&transcript.Conversation{
			ID: conversation, Run: runID(m.session, m.id), Shared: true, Rank: p.rank, Order: p.order(m.id), Model: m.model, Agent: m.agent,
		})
	}
	e := p.event(transcript.KindLifecycle, "message", m.session, m.id)
	e.ID, e.Role, e.Time, e.Agent = m.id, m.role, m.created, m.agent
	if answer {
		e.Model = m.model
	}
	if m.failed {
		e.Kind = transcript.KindError
	}
	e.Parts = []transcript.Part{p.valuePart(m.value)}
	p.Emit(e)
	p.emitTimeHint(hintV1, m)
	if p.in.Role != roleMessage {
		return // in rows the parts follow
	}
	if m.session != "" {
		p.Emit(&transcript.Run{ID: runID("", m.id), Local: true, Anchor: m.session, Anchored: true, Named: true})
	}
	if m.model != "" {
		p.Hint(runID(m.session, m.id), hintModel, m.id+"\t"+m.model+"\t"+m.provider, p.baseOrigin)
	}
	if at := m.at(); at.Valid {
		p.Hint(runID(m.session, m.id), hintTime, m.id+"\t"+strconv.FormatInt(at.UnixMicro, 10), p.baseOrigin)
	}
	if m.role == "user" || m.role == "assistant" {
		p.Hint(runID(m.session, m.id), hintRole, m.id+"\t"+m.role, p.baseOrigin)
	}
	p.messageUsage(m)
}

// at returns when a message was complete, or else created.
func (m *message) at() transcript.Time {
	if m.completed.Valid {
		return m.completed
	}
	return m.created
}

// messageUsage yields the tokens of a message without steps, or whose steps are in other originals.
func (p *parser) messageUsage(m message) {
	u := p.readUsage(m.tokens, m.cost, m.session, m.id)
	if u == nil || u.Input.N+u.Output.N+u.CacheRead.N+u.CacheWrite.N == 0 && u.Cost.N == 0 {
		return
	}
	u.Key, u.Origin, u.Time = "message "+m.id, m.origin, m.at()
	u.Model, u.Provider, u.Agent = m.model, m.provider, m.agent
	u.Attributes[wholeMark] = true
	p.Emit(u)
}

// The attributes of usage: the message it belongs to, and that it is the message's total.
const (
	messageMark = "message"
	wholeMark   = "whole"
)

// readUsage reads tokens; nil if there are none.
func (p *parser) readUsage(tokens, cost jsontext.Value, session, msg string) *transcript.Usage {
	if !tokens.IsObject() {
		return nil
	}
	reasoning := tokens.Get("reasoning").Count()
	u := &transcript.Usage{
		Run: p.nameRun(session, msg), Conversation: conversation, Rank: int64(p.rank), Origin: p.baseOrigin,
		Input: tokens.Get("input").Count(), Output: tokens.Get("output").Count(), Reasoning: reasoning,
		CacheRead: tokens.Get("cache", "read").Count(), CacheWrite: tokens.Get("cache", "write").Count(), Requests: transcript.Known(1),
		Attributes: transcript.Attributes{messageMark: msg},
	}
	switch {
	case p.inclusive:
		format.ExcludeCache(u)
	case reasoning.N > 0:
		u.Output = transcript.Known(u.Output.N + reasoning.N)
	}
	if n := cost.NanoUSD(); n.Known && (n.N != 0 || p.statesFree) {
		u.Cost, u.CostSource = n, "cost"
	}
	return u
}
