package hermes

import (
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// modelUsage yields what one model was used for in a session, which is a sum of requests. The sums of a session that were archived before
// there were any of models are the same requests.
func (p *parser) modelUsage(v jsontext.Value) {
	u := p.sums(v, "")
	if u.Rank = weight(u); u.Rank == 0 && !u.Cost.Known {
		return
	}
	model, provider, task := v.Get("model").Str(), v.Get("billing_provider").Str(), v.Get("task").Str()
	u.Key = strings.Join([]string{"model", p.Session, model, provider, v.Get("billing_base_url").Str(), v.Get("billing_mode").Str(), task}, "|")
	if task == "" || task == voice {
		u.Alias = totalKey(p.Session)
	}
	if model != "unknown" {
		u.Model = model
	}
	u.Provider, u.Step, u.Time = provider, task, v.Get("first_seen").TimeOrUnix()
	p.emitSums(u, v)
}

// voice is the only kind of work with a name whose requests are also in the sums of their session.
const voice = "voice_chat"

func totalKey(session string) string { return "session " + session }

// sessionTotal yields the sums of a session. Where there are sums of its models, they are a derived total, and what counts is how much more
// they are: the program has no sums of models for what it has imported, and it overwrites those of a session with what an agent has used
// since it was started.
func (p *parser) sessionTotal(v jsontext.Value) {
	total, main := p.sums(v, ""), p.sums(v, "main_")
	total.Key, total.Rank = totalKey(p.Session), weight(total)
	total.Model, total.Provider, total.Time = v.Get("model").Str(), v.Get("billing_provider").Str(), v.Get("started_at").TimeOrUnix()
	if weight(total) == 0 && !total.Cost.Known {
		return
	}
	if weight(main) == 0 {
		p.emitSums(total, v)
		return
	}
	rest := *total
	rest.Key, rest.Rank = "rest of "+total.Key, weight(total)+weight(main)
	for _, c := range [][2]*transcript.Count{{&rest.Input, &main.Input}, {&rest.Output, &main.Output}, {&rest.CacheRead, &main.CacheRead}, {&rest.CacheWrite, &main.CacheWrite},
		{&rest.Reasoning, &main.Reasoning}, {&rest.Requests, &main.Requests}, {&rest.Cost, &main.Cost}} {
		c[0].N = max(0, c[0].N-c[1].N)
	}
	rest.Reasoning.N = min(rest.Reasoning.N, rest.Output.N)
	if rest.Cost.N == 0 {
		rest.Cost, rest.CostSource = transcript.Count{}, ""
	}
	total.Verdict = transcript.DerivedTotal
	p.emitSums(total, v)
	if weight(&rest) > 0 {
		p.emitSums(&rest, v)
	}
}

// sums reads sums of tokens, requests and cost. The input is without what was read from or written to a cache, the output with reasoning. A
// cost of 0 is not stated: so are subscriptions, and models whose price the program does not know.
func (p *parser) sums(v jsontext.Value, prefix string) *transcript.Usage {
	u := &transcript.Usage{
		Run: p.Session, Conversation: conversation, Origin: p.Row.Origin, Input: v.Get(prefix + "input_tokens").Tokens(), Output: v.Get(prefix + "output_tokens").Tokens(),
		CacheRead: v.Get(prefix + "cache_read_tokens").Tokens(), CacheWrite: v.Get(prefix + "cache_write_tokens").Tokens(),
	}
	if n := v.Get(prefix + "reasoning_tokens").Tokens(); n.N > 0 {
		u.Reasoning = transcript.Known(min(n.N, u.Output.N))
	}
	if n := v.Get(prefix + "api_call_count").Tokens(); n.N > 0 {
		u.Requests = n
	}
	for _, name := range []string{"actual_cost_usd", "estimated_cost_usd"} {
		if n := v.Get(prefix + name).NanoUSD(); n.N > 0 {
			u.Cost, u.CostSource = n, name
			break
		}
	}
	return u
}

// weight is a number that grows with each request.
func weight(u *transcript.Usage) int64 {
	return u.Input.N + u.Output.N + u.CacheRead.N + u.CacheWrite.N
}

// emitSums yields usage that is a sum.
func (p *parser) emitSums(u *transcript.Usage, v jsontext.Value) {
	u.Attributes.Set("total", true)
	for _, name := range []string{"cost_status", "cost_source", "billing_mode"} {
		u.Attributes.Set(name, v.Get(name).Str())
	}
	p.Emit(u)
}
