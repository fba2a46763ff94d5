package reasonix

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// The runs of requests that name no session.
const (
	noSession = "(ephemeral)" // as version 0 calls them
	statsRun  = "stats"       // those of the Go versions
)

// counts are the names of token counts.
type counts struct{ prompt, completion, hit, reasoning string }

var (
	kernelCounts = counts{"prompt_tokens", "completion_tokens", "prompt_cache_hit_tokens", ""}
	ledgerCounts = counts{"promptTokens", "completionTokens", "cacheHitTokens", "reasoningTokens"}
	statsCounts  = counts{"prompt", "completion", "cache_hit", "reasoning"}
)

// usage returns the usage with the counts of a value, and what identifies it: its numbers, and how often this file has stated
// them. It returns nil if there are none.
func (p *parser) usage(v jsontext.Value, names counts, scope string) (u *transcript.Usage, key string) {
	u = &transcript.Usage{Run: p.Session, Origin: p.Row.Origin}
	u.Input, u.Output = v.Get(names.prompt).Tokens(), v.Get(names.completion).Tokens()
	if u.CacheRead = v.Get(names.hit).Tokens(); u.Input.N <= 0 && u.Output.N <= 0 {
		return nil, ""
	}
	if names.reasoning != "" {
		u.Reasoning = v.Get(names.reasoning).Tokens()
	}
	key = fmt.Sprintf("%s%d/%d/%d", scope, u.Input.N, u.Output.N, u.CacheRead.N)
	if p.spent[key]++; p.spent[key] > 1 {
		key += " #" + strconv.Itoa(p.spent[key])
	}
	format.ExcludeCache(u)
	return u, key
}

// dollars sets the cost that was stated. None is not the same as no cost: requests without a price have 0.
func dollars(u *transcript.Usage, v jsontext.Value, field string) {
	if cost := v.Unwrap().NanoUSD(); cost.N > 0 {
		u.Cost, u.CostSource = cost, field
	}
}

var oneRequest = transcript.Known(1)

// request yields the usage in the log of version 0.
func (p *parser) request(v jsontext.Value, at transcript.Time) {
	u, key := p.usage(v.Get("usage"), kernelCounts, "0 "+p.Session+" ")
	if u == nil {
		return
	}
	u.Key, u.Rank, u.Time, u.Model, u.Requests = key, 1, at, p.facts.Model, oneRequest
	if p.spoken {
		u.Conversation = conversation
	}
	dollars(u, v.Get("costUsd"), "costUsd")
	p.Emit(u)
}

// ledgerRow yields a row of the ledger of version 0: a request, which is in the log of its session, too, or all that a
// sub-agent has used.
func (p *parser) ledgerRow(v jsontext.Value) {
	session, _ := sessionOf(cmp.Or(v.Get("session").Str(), noSession))
	if p.Begin(session); !p.Named {
		p.NameRun()
	}
	at := v.Get("ts").MilliTime()
	agent := v.Get("kind").Is("subagent")
	scope := "0 " + session + " "
	if agent {
		scope += "agent " + milliseconds(at) + " "
	}
	u, key := p.usage(v, ledgerCounts, scope)
	if u == nil {
		p.Uncounted(transcript.KindUnknown, ledgerName, at)
		return
	}
	u.Key, u.Time, u.Model, u.Provider = key, at, v.Get("model").Word(), v.Get("provider").Word()
	dollars(u, v.Get("costUsd"), "costUsd")
	if agent {
		u.Agent = v.Get("subagent", "skillName").Str()
		u.Attributes.Set("of", "subagent")
		p.Uncounted(transcript.KindNotice, "subagent", at)
	} else {
		u.Requests = oneRequest
	}
	p.Emit(u)
}

// statsRow yields a row of the ledger of a day.
func (p *parser) statsRow(v jsontext.Value) {
	at := v.Get("ts").Time()
	u, key := p.usage(v, statsCounts, "1 ")
	if u == nil || v.Get("turn").Bool() == transcript.Yes {
		kind := transcript.KindUnknown
		if v.Get("ts").Exists() {
			kind = transcript.KindLifecycle
		}
		p.Uncounted(kind, statsRun, at)
		return
	}
	u.Key, u.Time, u.Model, u.Requests = key, at, v.Get("model").Word(), oneRequest
	if n := v.Get("requests").Tokens(); n.N > 0 {
		u.Requests = n
	}
	u.Attributes.Set("source", v.Get("source").Word())
	u.Attributes.Set("of", v.Get("usage_source").Word())
	switch {
	case v.Get("cost_currency").Is("USD"):
		dollars(u, v.Get("cost_amount"), "cost_amount")
	default:
		dollars(u, v.Get("valuation_usd"), "valuation_usd")
	}
	u.Estimated = v.Get("cost_estimated").Bool() == transcript.Yes
	p.Emit(u)
}

// repeated are the frames that repeat what is in the messages.
var repeated = map[string]bool{"message": true, "tool_dispatch": true, "tool_result": true, "text": true, "reasoning": true}

// frame yields a frame of what was shown of a session.
func (p *parser) frame(v jsontext.Value) {
	p.note(v)
	for _, key := range []string{"startedAt", "endedAt"} {
		if at := v.Get("tool", key).MilliTime(); at.Valid {
			p.at = at
		}
	}
	if v.Get("kind").Is("usage") {
		p.spent[""]++
	}
	p.shown(v, p.Session+" "+strconv.Itoa(p.spent[""]))
}

// turn yields a line of what late versions 1 keep of turns: a frame with a time, or one of their own.
func (p *parser) turn(v jsontext.Value) {
	at, shown := v.Get("createdAt").MilliTime(), v.Get("event")
	if !shown.IsObject() {
		p.Uncounted(transcript.KindLifecycle, v.Get("recordType").Word(), at)
		return
	}
	p.note(shown)
	p.at = at
	p.shown(shown, p.Session+" turns "+string(v.Get("seq").Raw()))
}

// shown yields a frame. Those with usage state requests of the ledger of their day.
func (p *parser) shown(v jsontext.Value, key string) {
	kind := v.Get("kind").Word()
	if kind == "usage" {
		if u := p.framed(v.Get("usage"), "2 "+key); u != nil {
			p.Emit(u)
			return
		}
	}
	if !repeated[kind] {
		p.Uncounted(transcript.KindNotice, kind, p.at)
		return
	}
	e := p.Event(transcript.KindNotice, "", kind, v.Get("kind"))
	e.Run, e.Verdict, e.Time = p.Session, transcript.Uncounted, p.at
	p.Emit(e)
}

// note notes what a frame tells of those that follow.
func (p *parser) note(v jsontext.Value) {
	if !v.Get("kind").Is("turn_started") {
		return
	}
	p.facts.Model, p.at, p.n = v.Get("modelRef").Word(), transcript.Time{}, -1
	if n, ok := v.Get("msgIndex").Int(); ok {
		p.n = int(n)
	}
}

// framed returns the usage of a frame.
func (p *parser) framed(v jsontext.Value, key string) *transcript.Usage {
	u, alias := p.usage(v, ledgerCounts, "1 ")
	if u == nil {
		return nil
	}
	u.Key, u.Alias, u.Requests, u.Time = key, alias, oneRequest, p.at
	u.Estimated = v.Get("estimated").Bool() == transcript.Yes
	source := v.Get("source").Word()
	u.Model = cmp.Or(v.Get("costQuote", "modelRef").Word(), v.Get("model").Word())
	if u.Model == "" && (source == "" || source == "executor") {
		u.Model = p.facts.Model
	}
	u.Attributes.Set("of", source)
	if p.n >= 0 {
		u.Attributes.Set("message", p.n)
	}
	if v.Get("currencyCode").Is("USD") {
		dollars(u, v.Get("cost"), "cost")
	} else {
		dollars(u, v.Get("costQuote", "valuations", "USD", "money", "amount"), "costQuote")
	}
	return u
}

func milliseconds(at transcript.Time) string {
	if !at.Valid {
		return ""
	}
	return strconv.FormatInt(at.UnixMicro/1000, 10)
}
