package warp

import (
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// usage notes the sums of the conversation and, if it used several models, what it used of each. The tokens of a model are not told apart by
// classes, so they are attributes.
func (p *parser) usage(v jsontext.Value) {
	if v.Get("was_summarized").Bool() == transcript.Yes {
		p.run.Attributes.Set("summarized", true)
	}
	sum := p.newUsage("")
	var models []*transcript.Usage
	for m := range v.Get("token_usage").Items() {
		if u := p.modelUsage(m); u != nil {
			models = append(models, u)
			sum.Rank += u.Rank
		}
	}
	switch len(models) {
	case 0:
	case 1:
		sum = models[0]
		models = nil
	default:
		sum.Attributes.Set("total_tokens", sum.Rank)
	}
	sum.Key, sum.Verdict = "conversation "+p.Session, ""
	sum.Attributes.Set("total", true)
	for key, name := range map[string]string{"credits_spent": "credits", "platform_credits_spent": "platform_credits"} {
		if n, ok := v.Get(key).Float(); ok && n > 0 {
			sum.Attributes.Set(name, n)
		}
	}
	p.charge(sum, v)
	if len(sum.Attributes) > 1 || sum.Input.Known || sum.Cost.Known {
		p.spent = append(append(p.spent, sum), models...)
	}
}

func (p *parser) newUsage(model string) *transcript.Usage {
	return &transcript.Usage{
		Run: p.Session, Conversation: mainConversation, Origin: p.Row.Origin, Model: model, Key: "conversation " + p.Session + " " + model,
		Verdict: transcript.DerivedTotal, // a share of the sum
	}
}

// modelUsage returns what the conversation used of a model: on Warp's account, with the user's own key, and at the user's own endpoint.
func (p *parser) modelUsage(m jsontext.Value) *transcript.Usage {
	u := p.newUsage(m.Get("model_id").Str())
	u.Rank = m.First("warp_tokens", "total_tokens").Tokens().N
	for _, name := range []string{"byok_tokens", "custom_endpoint_tokens"} {
		if n := m.Get(name).Tokens().N; n > 0 {
			u.Attributes.Set(name, n)
			u.Rank += n
		}
	}
	if u.Rank == 0 {
		return nil
	}
	u.Attributes.Set("total_tokens", u.Rank)
	return u
}

// maxCost bounds each of the amounts that are added up.
const maxCost = 1 << 59

// charge adds what was charged, by classes of tokens, if the server states it, and the cost, which else is that of the models' providers. A cost of 0
// says nothing: the user's own key was used.
func (p *parser) charge(u *transcript.Usage, v jsontext.Value) {
	charged := v.Get("total_charged_usage")
	input, output := charged.Get("input_tokens").Tokens(), charged.Get("output_tokens").Tokens()
	read, write := charged.Get("input_cache_read_tokens").Tokens(), charged.Get("input_cache_write_tokens").Tokens()
	if n := input.N + output.N + read.N + write.N; n > 0 { // not costs alone
		u.Input, u.Output, u.CacheRead, u.CacheWrite = input, output, read, write
		u.Rank = max(u.Rank, n)
	}
	var cents int64 // in nano
	for _, name := range []string{"input", "output", "input_cache_read", "input_cache_write", "platform", "web_search"} {
		cents += min(max(charged.Get(name+"_cost_in_cents").NanoUSD().N, 0), maxCost)
	}
	source := "total_charged_usage"
	if cents == 0 {
		cents, source = v.Get("total_provider_cost_in_cents").NanoUSD().N, "total_provider_cost_in_cents"
	}
	if cents > 0 {
		u.Cost, u.CostSource = transcript.Known(cents/100), source
	}
}
