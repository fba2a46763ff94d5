package auggie

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// transactionOf returns the transaction in a node of a response that states what it cost.
func transactionOf(node jsontext.Value) string {
	if node.Get("type").Text() != responseBilling {
		return ""
	}
	return node.Get("billing_metadata", "transaction_id").Str()
}

// usage yields the request of an exchange. What a transaction cost is what the last exchange states that names it.
func (x *exchange) usage() {
	var tokens, billing jsontext.Value
	bills := map[string]jsontext.Value{} // the last statement of each transaction
	for node := range x.response.Items() {
		switch node.Get("type").Text() {
		case responseTokens:
			tokens = node
		case responseBilling:
			billing = node
			if id := transactionOf(node); id != "" {
				bills[id] = node.Get("billing_metadata")
			}
		}
	}
	at, bill := tokens, billing.Get("billing_metadata")
	if !at.Exists() {
		at = billing
	}
	stated := tokens.Get("token_usage")
	u := x.requestOf(stated, x.key, at)
	u.Time = cmp.Or(at.Get("timestamp_ms").MilliTime(), x.ended)
	u.Model = cmp.Or(bill.Get("effective_model_name").Str(), x.model)
	for _, id := range slices.Sorted(maps.Keys(bills)) { // sums of decimals depend on their order
		x.bill(u, bills[id], x.lastOf[id] == x.n)
	}
	if stated.IsObject() || u.Cost.Known || u.Attributes != nil {
		x.Emit(u)
	}
}

// summarization yields the request for a summary, which the session states if the program was told to record them.
func (p *parser) summarization(v jsontext.Value) {
	u := p.requestOf(v, v.Get("request_id").Str(), v)
	u.Time, u.Model = v.Get("finishedAt").Time(), cmp.Or(v.Get("model").Str(), p.model)
	if cost := dollars(v.Get("cost_usd")); cost.Known {
		u.Cost, u.CostSource = cost, "cost_usd"
	} else if n, ok := v.Get("credits_consumed").Float(); ok {
		u.Attributes.Set("credits", n)
	}
	p.Emit(u)
}

// requestOf returns the usage of a request with its tokens, whose classes are disjoint. at is where it is stated.
func (p *parser) requestOf(v jsontext.Value, id string, at jsontext.Value) *transcript.Usage {
	return &transcript.Usage{
		Run: p.Session, Conversation: p.conversation, Agent: p.agent, Key: id, Rank: int64(p.rank), RequestID: id, Requests: transcript.Known(1),
		Input: v.Get("input_tokens").Tokens(), Output: v.Get("output_tokens").Tokens(), CacheRead: v.Get("cache_read_input_tokens").Tokens(),
		CacheWrite: v.Get("cache_creation_input_tokens").Tokens(), Origin: jsontext.OriginIn(p.Row.Origin, p.Row.Value, at),
	}
}

// The units of a cost.
const (
	unitUnknown = "0"
	unitDollars = "2"
)

// bill adds what a transaction cost, in dollars or in credits, to its request: all of it if that is the last request of it, else nothing.
func (p *parser) bill(u *transcript.Usage, v jsontext.Value, isLast bool) {
	switch v.Get("usage_unit").Text() {
	case unitUnknown:
	case unitDollars:
		cost := dollars(v.Get("cost_usd"))
		if !cost.Known {
			return
		}
		if !isLast {
			cost.N = 0
		}
		u.Cost, u.CostSource = transcript.Known(u.Cost.N+min(cost.N, math.MaxInt64-max(u.Cost.N, 0))), "cost_usd"
		if p.agent != "" {
			p.recorded.dollars += cost.N
		}
	default:
		n, ok := v.Get("credits_consumed").Float()
		if !ok || !isLast {
			return
		}
		before, _ := u.Attributes["credits"].(float64)
		u.Attributes.Set("credits", before+n)
		if p.agent != "" {
			p.recorded.credits += n
		}
	}
}

// dollars returns an amount, which is text.
func dollars(v jsontext.Value) transcript.Count { return v.Unwrap().NanoUSD() }

// subAgentCosts yields what sub-agents cost whose requests the session does not have.
func (p *parser) subAgentCosts(v jsontext.Value) {
	sum := v.Get("subAgentCostUsd")
	u := &transcript.Usage{
		Run: p.Session, Conversation: mainConversation, Key: p.Session + "/sub-agents", Rank: int64(p.rank), Time: v.Get("modified").Time(),
	}
	u.Attributes.Set("of", "sub-agents")
	if n := sum.NanoUSD().N - p.recorded.dollars; n >= 1000 { // less is only how the program has rounded
		u.Cost, u.CostSource = transcript.Known(n), "subAgentCostUsd"
	} else {
		sum = v.Get("subAgentCreditsUsed")
		n, _ := sum.Float()
		if n -= p.recorded.credits; n < 0.001 {
			return
		}
		u.Attributes.Set("credits", n)
	}
	u.Origin = jsontext.OriginIn(p.Row.Origin, p.Row.Value, sum)
	p.Emit(u)
}
