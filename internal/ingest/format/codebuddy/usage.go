package codebuddy

import (
	"cmp"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// usage yields the tokens of the request that a line belongs to, if it states them. The provider's own numbers are preferred to those that the SDK
// made of them.
func (p *parser) usage(l *line) {
	raw, made := l.provider.rawUsage, l.provider.usage
	if l.typ != "message" && l.typ != "function_call" && l.typ != "reasoning" || l.role == "user" {
		return
	}
	u := &transcript.Usage{
		Run: p.run, Conversation: p.run, Key: cmp.Or(l.provider.message, l.id), RequestID: l.provider.message, Time: l.at, Origin: l.origin,
		Model: cmp.Or(l.provider.model, l.provider.asked), Requests: transcript.Known(1),
	}
	switch {
	case raw.IsObject():
		u.Input, u.Output = raw.Get("prompt_tokens").Tokens(), raw.Get("completion_tokens").Tokens()
		prompt, completion := raw.Get("prompt_tokens_details"), raw.Get("completion_tokens_details")
		u.CacheRead = largest(raw.Get("prompt_cache_hit_tokens"), raw.Get("cache_read_input_tokens"), prompt.Get("cached_tokens"), raw.Get("cached_tokens"))
		u.CacheWrite = largest(raw.Get("prompt_cache_write_tokens"), raw.Get("cache_creation_input_tokens"))
		u.Reasoning = largest(completion.Get("reasoning_tokens"), raw.Get("completion_thinking_tokens"))
		if n, ok := raw.Get("credit").Float(); ok && n != 0 {
			u.Attributes.Set("credits", n)
		}
	case made.IsObject():
		u.Input, u.Output = made.Get("inputTokens").Tokens(), made.Get("outputTokens").Tokens()
		u.CacheRead = detail(made.Get("inputTokensDetails"), "cached_tokens")
		u.Reasoning = detail(made.Get("outputTokensDetails"), "reasoning_tokens")
	}
	if !u.Input.Known && !u.Output.Known {
		return
	}
	u.Rank = format.AtHome(u.Input.N+u.Output.N, p.isHome(l)) // another session may replay it
	format.ExcludeCache(u)
	if u.Output.Known {
		u.Reasoning.N = min(u.Reasoning.N, u.Output.N)
	}
	p.Emit(u)
}

// largest returns the largest of the numbers that are stated: the same count has several names, and providers fill in only some.
func largest(values ...jsontext.Value) (most transcript.Count) {
	for _, v := range values {
		if n := v.Tokens(); n.Known && (!most.Known || n.N > most.N) {
			most = n
		}
	}
	return most
}

// detail returns a number of the SDK's details, an object or a list with one.
func detail(v jsontext.Value, name string) transcript.Count {
	all := []jsontext.Value{v.Get(name)}
	for item := range v.Items() {
		all = append(all, item.Get(name))
	}
	return largest(all...)
}
