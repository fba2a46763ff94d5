package openwebui

import (
	"cmp"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// usage yields what the requests of an answer used. Its first names are the producer's own, which are sums; then those of OpenAI, which may be of the
// last request only, of Ollama, and of llama.cpp, which counts the prompt without what it had cached.
func (m *message) usage() {
	v := m.node.message.Get("usage")
	if !v.IsObject() {
		info := m.node.message.Get("info")
		if v = info.Get("usage"); !v.IsObject() {
			v = info // of the first versions, as Ollama stated it
		}
	}
	if !v.IsObject() {
		return
	}
	u := &transcript.Usage{
		Run: m.parser.id, Conversation: m.parser.id, Origin: m.origin(v), Key: m.parser.id + "/" + m.id(), Time: m.node.at, Model: m.model(),
		Input:     firstCount(v, "input_tokens", "prompt_tokens", "prompt_eval_count"),
		Output:    firstCount(v, "output_tokens", "completion_tokens", "eval_count", "predicted_n"),
		Reasoning: cmp.Or(detail(v, "output_tokens_details", "reasoning_tokens"), detail(v, "completion_tokens_details", "reasoning_tokens")),
	}
	if format.IsUUID(m.id()) {
		u.Key = m.id()
	}
	m.cache(u, v)
	for _, key := range []string{"cost", "total_cost"} {
		if n := v.Get(key).NanoUSD(); n.Known && n.N > 0 && !u.Cost.Known {
			u.Cost, u.CostSource = n, key
		}
	}
	if u.Input.N+u.Output.N+u.CacheRead.N+u.CacheWrite.N == 0 && !u.Cost.Known {
		return
	}
	if m.called == 0 { // else there was one for each round of calls
		u.Requests = transcript.Known(1)
	}
	u.Rank = format.AtHome(u.Input.N+u.Output.N+u.CacheRead.N+u.CacheWrite.N, m.isHome())
	m.Emit(u)
}

// cache reads what of the input came out of a cache or went into one. OpenAI and those who use its form count it as a part of the input; Anthropic
// does not. With llama.cpp, the input is either what it read anew (prompt_n), or that and what it had cached (cache_n).
func (m *message) cache(u *transcript.Usage, v jsontext.Value) {
	read := cmp.Or(detail(v, "input_tokens_details", "cached_tokens"), detail(v, "prompt_tokens_details", "cached_tokens"))
	written := cmp.Or(detail(v, "input_tokens_details", "cache_write_tokens"), detail(v, "prompt_tokens_details", "cache_write_tokens"),
		detail(v, "prompt_tokens_details", "cache_creation_tokens"))
	if read.Known || written.Known {
		u.CacheRead, u.CacheWrite = read, written
		format.ExcludeCache(u)
		return
	}
	u.CacheRead, u.CacheWrite = v.Get("cache_read_input_tokens").Tokens(), v.Get("cache_creation_input_tokens").Tokens()
	anew, cached := v.Get("prompt_n").Tokens(), v.Get("cache_n").Tokens()
	switch {
	case !anew.Known:
	case u.CacheRead.Known || !cached.Known:
		u.Input = cmp.Or(u.Input, anew)
	case !u.Input.Known, u.Input.N == anew.N, u.Input.N == anew.N+cached.N: // else it is the sum of several requests
		u.Input, u.CacheRead = anew, cached
	}
}

func detail(v jsontext.Value, of, key string) transcript.Count { return v.Get(of, key).Tokens() }

// firstCount returns the first of some members that is a number over 0, else the first that is known.
func firstCount(v jsontext.Value, keys ...string) (known transcript.Count) {
	for _, key := range keys {
		n := v.Get(key).Tokens()
		if n.N > 0 {
			return n
		}
		known = cmp.Or(known, n)
	}
	return known
}
