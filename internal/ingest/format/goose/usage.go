package goose

import (
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// carriedForward is the cost_source of rows that Goose made from a session's sums when it introduced the ledger.
const carriedForward = "carried_forward"

// usage yields a row of the ledger, which is one request.
func (p *parser) usage(v jsontext.Value) {
	p.NameRun()
	source := v.Get("cost_source").Str()
	u := p.readUsage(v, "", v.Get("cost"))
	u.Key, u.Time, u.Model, u.Provider = p.Session+"/"+v.Get("request").Text(), parseTime(v.Get("created_timestamp")), v.Get("model").Str(), v.Get("provider").Str()
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
	if source == carriedForward {
		u.Verdict, u.Requests = transcript.DerivedTotal, transcript.Count{}
	}
	p.Emit(u)
}

// sessionTotal yields the sums of a session without requests in the ledger, or, without sums, the counts of its last request.
func (p *parser) sessionTotal(v jsontext.Value, model string, at transcript.Time) {
	if n, _ := v.Get("calls").Int(); n > 0 {
		return
	}
	u := p.readUsage(v, "accumulated_", v.Get("accumulated_cost"))
	if !u.Input.Known && !u.Output.Known {
		u = p.readUsage(v, "", jsontext.Value{})
	}
	if u.Input.N+u.Output.N+u.CacheRead.N+u.CacheWrite.N == 0 && !u.Cost.Known {
		return
	}
	u.Key, u.Time, u.Model, u.Provider = "session "+p.Session, at, model, v.Get("provider_name").Str()
	u.Rank = u.Input.N + u.Output.N + u.CacheRead.N + u.CacheWrite.N // sums only grow: a copy may be older
	u.Attributes.Set("total", true)
	p.Emit(u)
}

// readUsage reads token counts. The input is the whole prompt, including what was read from and written to a cache.
func (p *parser) readUsage(v jsontext.Value, prefix string, cost jsontext.Value) *transcript.Usage {
	u := &transcript.Usage{
		Run: p.Session, Conversation: conversation, Origin: p.Row.Origin, Input: v.Get(prefix + "input_tokens").Count(), Output: v.Get(prefix + "output_tokens").Count(),
		CacheRead: v.Get(prefix + "cache_read_tokens").Count(), CacheWrite: v.Get(prefix + "cache_write_tokens").Count(),
	}
	if u.Input.Known && !format.ExcludeCache(u) {
		u.Input.N = 0
	}
	if n := cost.NanoUSD(); n.Known && n.N >= 0 {
		u.Cost, u.CostSource = n, "accumulated_cost"
	}
	return u
}
