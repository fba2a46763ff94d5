package langgraph

import (
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// usage yields what the request of an answer used: LangChain has the same members for every provider, and what the provider says in early versions.
func (m *message) usage(meta jsontext.Value) {
	u := &transcript.Usage{
		Run: m.Session, Conversation: m.conversation, Origin: m.Row.Origin, Time: m.at, Model: m.model, Provider: meta.Get("model_provider").Str(),
		Requests: transcript.Known(1), Rank: format.AtHome(0, m.isHome(m.id)),
	}
	if u.Key = m.id; !m.global {
		u.Key = m.Session + "/" + m.conversation + "/" + m.id
	}
	if v := m.body.Get("usage_metadata"); v.IsObject() {
		readUsage(u, v)
	} else {
		readProviderUsage(u, meta.First("token_usage", "tokenUsage"))
	}
	if u.Input.N+u.Output.N+u.CacheRead.N+u.CacheWrite.N+u.CacheWrite1h.N > 0 {
		m.Emit(u)
	}
}

// readUsage reads LangChain's counts. The input has all of what its details tell apart. What is written to a cache for five minutes or an hour is there
// by itself, or also in the sum of both.
func readUsage(u *transcript.Usage, v jsontext.Value) {
	details := v.Get("input_token_details")
	u.Input, u.Output = v.Get("input_tokens").Tokens(), v.Get("output_tokens").Tokens()
	u.Reasoning = v.Get("output_token_details", "reasoning").Tokens()
	u.CacheRead, u.CacheWrite = details.Get("cache_read").Tokens(), details.Get("cache_creation").Tokens()
	short, long := details.Get("ephemeral_5m_input_tokens").Tokens(), details.Get("ephemeral_1h_input_tokens").Tokens()
	if short.N > 0 && short.N > u.CacheWrite.N-long.N || long.N > u.CacheWrite.N {
		u.CacheWrite = transcript.Known(short.N + long.N)
	}
	format.ExcludeCache(u)
	if long.N > 0 {
		u.CacheWrite1h = long
		u.CacheWrite = transcript.Known(max(u.CacheWrite.N-long.N, 0))
	}
	if u.Reasoning.N > u.Output.N {
		u.Reasoning = transcript.Count{}
	}
}

// readProviderUsage reads counts in OpenAI's form, as Python or JavaScript has them.
func readProviderUsage(u *transcript.Usage, v jsontext.Value) {
	u.Input, u.Output = v.First("prompt_tokens", "promptTokens").Tokens(), v.First("completion_tokens", "completionTokens").Tokens()
	u.CacheRead = v.Get("prompt_tokens_details", "cached_tokens").Tokens()
	u.Reasoning = v.Get("completion_tokens_details", "reasoning_tokens").Tokens()
	format.ExcludeCache(u)
}
