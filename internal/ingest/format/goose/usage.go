package goose

import (
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// carried is the source of what the program made of the sums of a session when the ledger came.
const carried = "carried_forward"

// usage yields a row of the ledger, which is a request.
func (p *parser) usage(v format.Value) {
	p.named()
	source := v.Get("cost_source").Str()
	u := p.tokens(v, "", v.Get("cost"))
	u.Key, u.Time, u.Model, u.Provider = p.session+"/"+v.Get("request").Text(), stamp(v.Get("created_timestamp")), v.Get("model").Str(), v.Get("provider").Str()
	if u.Model == "" {
		u.Model = modelOf(v.Get("model_config"))
	}
	u.Requests = transcript.Known(1)
	if u.Cost.Known && source != "" {
		u.CostSource = "cost: " + source
	}
	if n, _ := v.Get("is_compaction").Int(); n != 0 || v.Get("is_compaction").Bool() == transcript.Yes {
		u.Attributes.Set("compaction", true)
	}
	if source == carried {
		u.Verdict, u.Requests = transcript.DerivedTotal, transcript.Count{}
	}
	p.Emit(u)
}

// total yields the sums of a session of which there are no requests, or what its last request took where there are not even sums.
func (p *parser) total(v format.Value, model string, at transcript.Time) {
	if n, _ := v.Get("calls").Int(); n > 0 {
		return
	}
	u := p.tokens(v, "accumulated_", v.Get("accumulated_cost"))
	if !u.Input.Known && !u.Output.Known {
		u = p.tokens(v, "", format.Value{})
	}
	if u.Input.N+u.Output.N+u.CacheRead.N+u.CacheWrite.N == 0 && !u.Cost.Known {
		return
	}
	u.Key, u.Time, u.Model, u.Provider = "session "+p.session, at, model, v.Get("provider_name").Str()
	u.Rank = u.Input.N + u.Output.N + u.CacheRead.N + u.CacheWrite.N // sums grow: a copy may be of an earlier day
	u.Attributes.Set("total", true)
	p.Emit(u)
}

// tokens reads counts. The input is the whole prompt, with what came from a cache and went to one.
func (p *parser) tokens(v format.Value, prefix string, cost format.Value) *transcript.Usage {
	u := &transcript.Usage{
		Run: p.session, Conversation: conversation, Origin: p.at, Input: v.Get(prefix + "input_tokens").Count(), Output: v.Get(prefix + "output_tokens").Count(),
		CacheRead: v.Get(prefix + "cache_read_tokens").Count(), CacheWrite: v.Get(prefix + "cache_write_tokens").Count(),
	}
	if u.Input.Known {
		u.Input.N = max(0, u.Input.N-u.CacheRead.N-u.CacheWrite.N)
	}
	if n := cost.NanoUSD(); n.Known && n.N >= 0 {
		u.Cost, u.CostSource = n, "accumulated_cost"
	}
	return u
}
