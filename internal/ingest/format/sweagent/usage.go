package sweagent

import (
	"cmp"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// total yields the sum of an attempt's requests. total_cost, which early versions of SWE-agent also state, is that of a whole batch.
func (p *parser) total(stats jsontext.Value, key, agent string, estimated bool, verdict transcript.Verdict) {
	u := &transcript.Usage{
		Run: p.run, Conversation: p.conversation, Key: key, Verdict: verdict, Model: p.model, Agent: agent,
		Input: stats.Get("tokens_sent").Tokens(), Output: stats.Get("tokens_received").Tokens(), Requests: stats.Get("api_calls").Tokens(),
	}
	u.Cost, u.CostSource = costOf(stats.Get("instance_cost"), "instance_cost")
	u.Estimated = estimated && u.Input.N+u.Output.N > 0
	if u.Rank = u.Input.N + u.Output.N + u.Requests.N; u.Rank+u.Cost.N == 0 {
		return
	}
	u.Origin = p.origin(stats)
	u.Attributes.Set("total", true)
	p.Emit(u)
}

// costOf returns a cost and where it comes from. The programs write 0 for a cost that they do not know.
func costOf(v jsontext.Value, source string) (transcript.Count, string) {
	if cost := v.NanoUSD(); cost.N > 0 {
		return cost, source
	}
	return transcript.Count{}, ""
}

// response yields the tokens that a message states of its response, and reports whether it states any.
func (p *parser) response(m jsontext.Value, key string) bool {
	extra := m.Get("extra")
	response := extra.Get("response")
	if !response.Get("usage").IsObject() && m.Get("object").Is("response") {
		response = m
	}
	usage := response.Get("usage")
	u := readTokens(usage)
	u.Cost, u.CostSource = costOf(extra.Get("cost"), "cost")
	if !u.Cost.Known {
		u.Cost, u.CostSource = costOf(usage.Get("cost"), "usage.cost")
	}
	if u.Input.N+u.Output.N+u.CacheRead.N+u.CacheWrite.N+u.CacheWrite1h.N == 0 {
		return false
	}
	u.Run, u.Conversation, u.Key, u.Origin, u.Requests = p.run, p.conversation, key, p.origin(usage), transcript.Known(1)
	u.Model, u.RequestID, u.Time = cmp.Or(response.Get("model").Str(), p.model), response.Get("id").Str(), p.at
	p.Emit(u)
	return true
}

// readTokens reads the tokens of a response of the completions or the responses API, as LiteLLM has them: the prompt includes what was read from
// and written to a cache. If that is more than the prompt, it cannot.
func readTokens(usage jsontext.Value) *transcript.Usage {
	in, out := usage.First("prompt_tokens_details", "input_tokens_details"), usage.First("completion_tokens_details", "output_tokens_details")
	read := largest(in.Get("cached_tokens"), usage.Get("cache_read_input_tokens"), usage.Get("prompt_cache_hit_tokens"))
	written := largest(in.Get("cache_creation_tokens"), in.Get("cache_write_tokens"), usage.Get("cache_creation_input_tokens"))
	u := &transcript.Usage{
		Input: largest(usage.Get("prompt_tokens"), usage.Get("input_tokens")), Output: largest(usage.Get("completion_tokens"), usage.Get("output_tokens")),
		CacheRead: read, CacheWrite: written, Reasoning: out.Get("reasoning_tokens").Tokens(),
	}
	format.ExcludeCache(u)
	if hour := in.Get("cache_creation_token_details", "ephemeral_1h_input_tokens").Tokens(); hour.N > 0 && hour.N <= written.N {
		u.CacheWrite.N, u.CacheWrite1h = written.N-hour.N, hour
	}
	if u.Reasoning.N > u.Output.N {
		u.Reasoning = transcript.Count{}
	}
	return u
}

// largest returns the largest of the numbers that are stated.
func largest(values ...jsontext.Value) (n transcript.Count) {
	for _, v := range values {
		if c := v.Tokens(); c.N > n.N || !n.Known {
			n = c
		}
	}
	return n
}
