package aiderdesk

import (
	"bytes"
	"cmp"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// step is a step of the agent: an answer and the results of its calls, each of which may state what the step used.
type step struct {
	id      string // of the answer, or of the first result
	reports []report
}

// report is what one message states.
type report struct {
	value, of jsontext.Value // of: what has it
	id        string
	at        transcript.Time
}

// answered adds a message to the current step.
func (p *parser) answered(t *talk, m *message) {
	s := &t.step
	s.id = cmp.Or(s.id, m.id)
	if !m.report.IsObject() {
		return
	}
	for _, r := range s.reports {
		if bytes.Equal(r.value.Raw(), m.report.Raw()) {
			return
		}
	}
	id := m.id
	if len(s.reports) == 0 {
		id = s.id
	}
	s.reports = append(s.reports, report{m.report, m.value, id, m.at})
}

// request yields what the current step used, and ends it.
func (p *parser) request(t *talk) {
	for _, r := range t.step.reports {
		p.used(t, r.value, r.id, r.of, r.at)
	}
	t.step = step{}
}

// used yields the request of a report. Aider's are what it prints: rounded, and with what was read from the cache or written to it in what was sent.
func (p *parser) used(t *talk, n jsontext.Value, id string, of jsontext.Value, at transcript.Time) {
	if !n.IsObject() {
		return
	}
	u := &transcript.Usage{
		Run: p.run, Conversation: t.id, Time: at, Origin: jsontext.OriginIn(p.at, p.doc, of), Model: n.Get("model").Word(), Requests: transcript.Known(1), Key: id,
		Input: n.Get("sentTokens").Tokens(), Output: n.Get("receivedTokens").Tokens(), CacheRead: n.Get("cacheReadTokens").Tokens(),
		CacheWrite: n.Get("cacheWriteTokens").Tokens(),
	}
	if n.Get("aiderTotalCost").Exists() && !n.Get("agentTotalCost").Exists() {
		u.Estimated = true
		format.ExcludeCache(u)
	}
	if cost := n.Get("messageCost").NanoUSD(); cost.N > 0 {
		u.Cost, u.CostSource = cost, "usageReport.messageCost"
	}
	if u.Input.N+u.Output.N+u.CacheRead.N+u.CacheWrite.N == 0 && !u.Cost.Known {
		return
	}
	p.Emit(u)
}
