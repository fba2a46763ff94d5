package inspect

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// modelOf splits the name of a model: "openai/gpt-5", "openrouter/anthropic/claude-sonnet-5".
func modelOf(name string) (provider, model string) {
	if provider, model, ok := strings.Cut(name, "/"); ok {
		return provider, model
	}
	return "", name
}

// tokens returns the usage that an object states, nil if it states none.
//
// What input and output have depends on version and provider. total_tokens is the sum of what is disjoint: if it is input and output alone, the input
// has what was read from and written to the cache, unless that is more than it.
func (p *parser) tokens(v jsontext.Value, run, name string, at transcript.Time, key string) *transcript.Usage {
	if !v.IsObject() {
		return nil
	}
	u := &transcript.Usage{Run: run, Conversation: run, Key: key, Time: at, Origin: p.origin(v)}
	u.Provider, u.Model = modelOf(name)
	u.Input, u.Output = v.Get("input_tokens").Tokens(), v.Get("output_tokens").Tokens()
	u.CacheRead, u.CacheWrite = v.Get("input_tokens_cache_read").Tokens(), v.Get("input_tokens_cache_write").Tokens()
	u.Reasoning = v.Get("reasoning_tokens").Tokens()
	cost := v.Get("total_cost").NanoUSD()
	cached := u.CacheRead.N + u.CacheWrite.N
	if u.Input.N+u.Output.N+cached == 0 && cost.N <= 0 {
		return nil
	}
	if cost.Known && cost.N >= 0 {
		u.Cost, u.CostSource = cost, "total_cost"
	}
	more := v.Get("total_tokens").Tokens().N - u.Input.N - u.Output.N
	if (more == 0 || more == u.Reasoning.N && more != cached) && cached <= u.Input.N {
		u.Input.N -= cached
	} else {
		more -= cached
	}
	if more == u.Reasoning.N && more > 0 {
		u.Output.N += more
	}
	u.Reasoning.N = min(u.Reasoning.N, u.Output.N)
	return u
}

// request yields what a model event spent. What the program read from its own cache was spent before.
func (s *sample) request(e jsontext.Value) {
	s.requests++
	key := e.Get("uuid").Str()
	if key == "" {
		key = s.run + "#" + strconv.Itoa(s.requests)
	}
	u := s.tokens(e.Get("output", "usage"), s.run, cmp.Or(e.Get("model").Str(), e.Get("output", "model").Str()), e.Get("timestamp").Time(), key)
	if u == nil {
		return
	}
	u.Requests = transcript.Known(1)
	u.Agent = e.Get("role").Str()
	if e.Get("cache").Is("read") {
		u.Verdict = transcript.CopiedHistory
	}
	u.Attributes.Set("cache", e.Get("cache").Str())
	if n, ok := e.Get("retries").Int(); ok && n > 0 {
		u.Attributes.Set("retries", n)
	}
	s.stated = true
	s.spent = true
	s.Emit(u)
}

// totals yields the sums of a sample, which count if no model event states tokens.
func (s *sample) totals() {
	for model, v := range s.v.Get("model_usage").Fields() {
		u := s.tokens(v, s.run, model, s.ended, s.run+"/"+model)
		if u == nil {
			continue
		}
		u.Attributes.Set("total", true)
		if s.stated {
			u.Verdict = transcript.DerivedTotal
		}
		s.spent = true
		s.Emit(u)
	}
}
