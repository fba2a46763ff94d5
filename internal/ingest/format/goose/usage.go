package goose

import (
	"cmp"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// carriedForward is the cost_source of rows that Goose makes of what a session's sums have beyond the ledger: of what was used before there was one.
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
		p.carry(u, v.Get("began").Time())
	}
	p.Emit(u)
}

// carry makes a usage the sum of a session before its requests. An archive may have an earlier state of the session with the same sum, or a lower
// one.
func (p *parser) carry(u *transcript.Usage, began transcript.Time) {
	u.Requests = transcript.Count{}
	u.Attributes.Set("total", true)
	if !p.carried {
		p.carried = true
		u.Key, u.Rank = sumKey(p.Session), sizeOf(u)
		u.Time = cmp.Or(began, u.Time)
	}
}

// sumKey identifies the sum of a session without requests, or before them.
func sumKey(session string) string { return "session " + session }

// sizeOf is the rank of a sum. Sums only grow: a copy may be older.
func sizeOf(u *transcript.Usage) int64 {
	return u.Input.N + u.Output.N + u.CacheRead.N + u.CacheWrite.N
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
	if sizeOf(u) == 0 && !u.Cost.Known {
		return
	}
	u.Key, u.Time, u.Model, u.Provider = sumKey(p.Session), at, model, v.Get("provider_name").Str()
	u.Rank = sizeOf(u)
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
