package continuedev

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Resolve dates usage by the start of its session, which other files state.
func (continuedev) Resolve(f *transcript.Family) {
	for _, u := range f.Usage {
		if !u.Time.Valid {
			u.Time = f.Run.Started
		}
	}
}

// ResolvesUsage does nothing: see format.UsageResolver.
func (continuedev) ResolvesUsage() {}

// usage yields the sum of a session's requests; without one, the usage of its messages.
func (p *parser) usage(history jsontext.Value) {
	sum := p.doc.Get("usage")
	u := p.readUsage(sum, true)
	if cost := sum.Get("totalCost").NanoUSD(); cost.Known && cost.N > 0 {
		u.Cost, u.CostSource = cost, "totalCost"
	}
	if tokensOf(u)+u.Cost.N == 0 {
		p.messageUsage(history)
		return
	}
	u.Key, u.Rank, u.Origin = "session "+p.id, tokensOf(u), p.origin(sum)
	u.Model, u.Provider = p.onlyModel(history)
	u.Attributes.Set("total", true)
	p.Emit(u)
}

// onlyModel returns the model of a session's answers if it is the same in all, and else what the session says is selected.
func (p *parser) onlyModel(history jsontext.Value) (model, provider string) {
	for item := range history.Items() {
		m, by := modelOf(item)
		if m == "" {
			continue
		}
		if model != "" && m != model {
			return "", ""
		}
		model, provider = m, by
	}
	return cmp.Or(model, p.doc.Get("chatModelTitle").Str()), provider
}

// messageUsage yields the usage of messages. An edit replaces messages: what they used stays counted, unless it was the same.
func (p *parser) messageUsage(history jsontext.Value) {
	for n, item := range history.Numbered() {
		v := item.Get("message", "usage")
		model, provider := modelOf(item)
		u := p.readUsage(v, strings.Contains(provider+model, "anthropic") || strings.Contains(model, "claude"))
		if tokens := tokensOf(u); tokens > 0 {
			u.Key = fmt.Sprintf("%s/%d/%d/%d", p.id, n, u.Input.N+u.CacheRead.N+u.CacheWrite.N, u.Output.N)
			u.Rank, u.Origin, u.Requests = tokens, p.origin(v), transcript.Known(1)
			u.Model, u.Provider = cmp.Or(model, p.doc.Get("chatModelTitle").Str()), provider
			p.Emit(u)
		}
	}
}

// readUsage reads token counts. apart says that the cache is not part of the prompt.
func (p *parser) readUsage(v jsontext.Value, apart bool) *transcript.Usage {
	u := &transcript.Usage{
		Run: p.id, Conversation: conversation, Input: count(v.Get("promptTokens")), Output: count(v.Get("completionTokens")),
		CacheRead: count(v.Get("promptTokensDetails", "cachedTokens")), CacheWrite: count(v.Get("promptTokensDetails", "cacheWriteTokens")),
		Reasoning: count(v.Get("completionTokensDetails", "reasoningTokens")),
	}
	if !apart {
		format.ExcludeCache(u)
	}
	return u
}

// count reads a number of tokens, which is unknown if it is negative.
func count(v jsontext.Value) transcript.Count {
	if n := v.Count(); n.N >= 0 {
		return n
	}
	return transcript.Count{}
}

func tokensOf(u *transcript.Usage) int64 {
	return u.Input.N + u.Output.N + u.CacheRead.N + u.CacheWrite.N
}
