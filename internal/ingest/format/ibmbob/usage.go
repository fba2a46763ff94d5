package ibmbob

import (
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// spend yields what the request of an answer used.
func (p *parser) spend(m *message) {
	if u := p.used(m.data.Get("_meta", "spend")); u != nil {
		u.Key, u.Time, u.Requests = m.id, m.at, transcript.Known(1)
		if p.Begun {
			u.Conversation = conversation
		}
		if !m.isGlobal() && m.id != "" {
			u.Key = p.Session + "/" + m.id
		}
		u.Rank = format.AtHome(0, m.own) // a sub-agent may begin with it
		p.Emit(u)
	}
}

// sum yields what a task states that all of its requests used.
func (p *parser) sum(v jsontext.Value, at transcript.Time) {
	if u := p.used(v); u != nil {
		u.Key, u.Time = sumKey+p.Session, at
		u.Attributes.Set("of", "task")
		p.Emit(u)
	}
}

const sumKey = "task "

// isSum reports whether usage is the sum of a task.
func isSum(u *transcript.Usage) bool { return u.Attributes["of"] == "task" }

// used returns what a request or a task states, nil if it states nothing. Versions before 2.1 state the cost alone. The input is the whole prompt.
func (p *parser) used(v jsontext.Value) *transcript.Usage {
	u := &transcript.Usage{
		Run: p.Session, Origin: p.Row.Origin, Input: v.Get("input").Tokens(), Output: v.Get("output").Tokens(),
		CacheRead: v.Get("cacheRead").Tokens(), CacheWrite: v.Get("cacheWrite").Tokens(), Reasoning: v.Get("reasoningTokens").Tokens(), Model: v.Get("model").Str(),
	}
	coins, _ := v.Get("cost").Float()
	if u.Input.N+u.Output.N+u.CacheRead.N+u.CacheWrite.N == 0 && coins <= 0 {
		return nil
	}
	format.ExcludeCache(u)
	if coins > 0 {
		u.Attributes.Set("bobcoins", coins)
	}
	if n, ok := v.Get("contextTokens").Int(); ok && n > 0 {
		u.Attributes.Set("context_tokens", n)
	}
	return u
}
