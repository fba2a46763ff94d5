package junie

import (
	"fmt"
	"hash/fnv"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// usage yields what requests cost. Each line states one, of one model.
func (p *parser) usage(v jsontext.Value) {
	all := v.Get("modelUsage")
	h := fnv.New64a()
	h.Write(all.Raw())
	for n, m := range all.Numbered() {
		u := &transcript.Usage{
			Run: p.Session, Conversation: conversation, Time: p.at, Origin: jsontext.OriginIn(p.Row.Origin, p.Row.Value, m),
			Model: m.Get("model").Str(), Agent: p.agent, Requests: transcript.Known(1),
			Input: m.Get("inputTokens").Tokens(), CacheRead: m.Get("cacheInputTokens").Tokens(),
			CacheWrite: m.Get("cacheCreateTokens").Tokens(), Output: m.Get("outputTokens").Tokens(),
		}
		if cost := m.Get("cost").NanoUSD(); cost.N > 0 {
			u.Cost, u.CostSource = cost, "cost"
		}
		prompt := u.Input.N + u.CacheRead.N + u.CacheWrite.N
		if prompt+u.Output.N == 0 && !u.Cost.Known {
			continue
		}
		if p.at.Valid {
			u.Key = fmt.Sprintf("%s/%d/%016x/%d", p.Session, p.at.UnixMicro, h.Sum64(), n)
		}
		p.Emit(u)
		p.setModel(u.Model, prompt)
	}
}

// setModel makes the model of the largest prompt that of the conversation: smaller ones make titles and summaries.
func (p *parser) setModel(model string, prompt int64) {
	if p.agent != "" || model == "" || prompt <= p.largest {
		return
	}
	p.largest = prompt
	if p.head.Model != model {
		p.head.Model = model
		p.emitHead()
	}
}
