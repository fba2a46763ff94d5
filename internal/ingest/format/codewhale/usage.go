package codewhale

import (
	"cmp"

	"github.com/txarchive/txarchive/internal/transcript"
)

// costs are the sums of a session.
var costs = []struct{ field, of string }{{"session_cost_usd", "session"}, {"subagent_cost_usd", "subagents"}}

// cost yields what the session has cost so far. A fork begins with the sums of its parent: of the statements of both, the greatest counts. The records name
// no conversation, as they are none of the messages that a fork has copied.
func (p *parser) cost() {
	for _, c := range costs {
		v := p.meta.Get("cost", c.field)
		if early := p.meta.Get(c.field); v.NanoUSD().N <= 0 && early.Exists() {
			v = early
		}
		n := v.NanoUSD()
		if n.N <= 0 {
			continue
		}
		u := &transcript.Usage{
			Run: p.Session, Key: cmp.Or(p.parent, p.Session) + " " + c.of, Rank: n.N, Time: p.meta.First("updated_at", "created_at").Time(), Origin: p.metaAt,
			Model: p.model, Provider: p.meta.Get("model_provider").Word(), Cost: n, CostSource: c.field,
		}
		u.Attributes.Set("of", c.of)
		if turns := p.meta.Get("cost", "unpriced_turns").Tokens(); turns.N > 0 {
			u.Attributes.Set("unpriced_turns", turns.N)
		}
		p.Emit(u)
	}
}
