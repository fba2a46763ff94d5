package chatjsonl

import (
	"cmp"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// lineUsage yields the usage of a line, or if it states none, that of its new messages.
func (p *parser) lineUsage(c *chat, known int) {
	x := &p.exchange
	response := x.response.Get("id").Str()
	if response == "" {
		response = p.whole.Get("id").Str()
	}
	if !isUnique(response) {
		response = ""
	}
	for _, at := range []jsontext.Value{x.response, p.whole, p.whole.Get("response"), p.whole.Get("metadata"), p.whole.Get("response", "body")} {
		for _, key := range []string{"usage", "usage_metadata"} {
			if usage := at.Get(key); usage.IsObject() {
				p.usage(c, usage, response, p.time, p.model)
				return
			}
		}
	}
	if x.single {
		return
	}
	for _, all := range [][]item{x.input[known:], x.answer} {
		for i, it := range all {
			for _, key := range []string{"usage", "usage_metadata"} {
				if usage := it.v.Get(key); usage.IsObject() {
					sum := p.hash.next(p.hash.of(c.id, strconv.Itoa(known+i)), it)
					p.usage(c, usage, cmp.Or(it.v.Get("id").Str(), sum.uuid()), cmp.Or(timeOf(it.v), p.time), cmp.Or(it.v.Get("model").Str(), p.model))
					break
				}
			}
		}
	}
}

// usage yields the tokens of one request. Its key is the id of the response, else the hash of the whole line.
func (p *parser) usage(c *chat, v jsontext.Value, response string, at transcript.Time, model string) {
	u := tokens(v)
	if u == nil {
		return
	}
	u.Key = "response " + response
	if response == "" {
		u.Key = "line " + c.id + " " + p.hash.bytes(p.whole.Raw()).uuid()
	}
	u.Run, u.Conversation, u.Time, u.Model, u.Requests = c.id, c.id, at, model, transcript.Known(1)
	u.RequestID = response
	u.Tier = p.exchange.response.Get("service_tier").Str()
	u.Origin = jsontext.OriginIn(p.at, p.whole, v)
	p.Emit(u)
}

// tokens reads usage in the spellings of Chat Completions, Responses and Anthropic. The prompt includes cached tokens,
// except in Anthropic's, which is recognised by its own names for them. It returns nil if there are none.
func tokens(v jsontext.Value) *transcript.Usage {
	u := &transcript.Usage{Input: count(v, "prompt_tokens", "input_tokens"), Output: count(v, "completion_tokens", "output_tokens")}
	if v.Get("cache_read_input_tokens").Exists() || v.Get("cache_creation_input_tokens").Exists() {
		u.CacheRead, u.CacheWrite = count(v, "cache_read_input_tokens"), count(v, "cache_creation_input_tokens")
		split := v.Get("cache_creation")
		if short, long := count(split, "ephemeral_5m_input_tokens"), count(split, "ephemeral_1h_input_tokens"); short.N+long.N > 0 {
			u.CacheWrite, u.CacheWrite1h = short, long
		}
	} else {
		for _, key := range []string{"prompt_tokens_details", "input_tokens_details", "input_token_details"} {
			if details := v.Get(key); details.IsObject() {
				u.CacheRead, u.CacheWrite = count(details, "cached_tokens", "cache_read"), count(details, "cache_write_tokens", "cache_creation")
			}
		}
		if !u.CacheRead.Known {
			u.CacheRead = count(v, "prompt_cache_hit_tokens")
		}
		u.Input.N = max(0, u.Input.N-u.CacheRead.N-u.CacheWrite.N)
	}
	for _, key := range []string{"completion_tokens_details", "output_tokens_details", "output_token_details"} {
		if details := v.Get(key); details.IsObject() {
			u.Reasoning = count(details, "reasoning_tokens", "reasoning")
		}
	}
	if !u.Input.Known && !u.Output.Known && !u.CacheRead.Known && !u.CacheWrite.Known {
		return nil
	}
	return u
}

// count returns the first of some members that is a number.
func count(v jsontext.Value, keys ...string) (n transcript.Count) {
	for _, key := range keys {
		if n = v.Get(key).Tokens(); n.Known {
			return n
		}
	}
	return n
}
