package claudecode

import (
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// mostTokens is more than any request has; what is said beyond it must not overflow a sum.
const mostTokens = 1 << 40

// usage tells the tokens of a line's request, unless this file told as many of the same request already: every line of
// a response repeats them.
func (r *reader) usage(l *line, m message) {
	if l.kind != "assistant" || !m.usage.IsObject() || m.model.Is("<synthetic>") {
		return
	}
	u := &r.spent
	*u = transcript.Usage{
		Run: r.run, Conversation: r.conversation, Time: l.now, Origin: l.origin,
		Model: again(r.facts.model, m.model), RequestID: id(l.request), Requests: transcript.Known(1),
	}
	var steps, written format.Value
	for key, value := range m.usage.Fields() {
		switch key {
		case "input_tokens":
			u.Input = value.Count()
		case "output_tokens":
			u.Output = value.Count()
		case "cache_read_input_tokens":
			u.CacheRead = value.Count()
		case "cache_creation_input_tokens":
			u.CacheWrite = value.Count()
		case "cache_creation":
			written = value
		case "output_tokens_details":
			u.Reasoning = value.Get("thinking_tokens").Count()
		case "iterations":
			steps = value
		case "service_tier":
			u.Tier = value.Str()
		case "speed":
			u.Speed = value.Str()
		case "inference_geo":
			u.Geo = value.Str()
		case "server_tool_use":
			for name, n := range value.Fields() {
				if count, ok := n.Int(); ok && count > 0 {
					u.Attributes.Set(name, count)
				}
			}
		}
	}
	splitWritten(u, written)
	if l.effort.IsString() {
		u.Attributes.Set("effort", l.effort.Str())
	}
	if cost := l.cost.NanoUSD(); cost.Known {
		u.Cost, u.CostSource = cost, "costUSD"
	}
	r.requestKey(u, l, m.id)
	key, alias := u.Key, u.Alias
	r.spend(l, u)
	r.beside(l, u, key, alias, steps)
}

// beside tells the tokens of the steps of a response that its sums leave out: of each model that the answering one asked for advice, of
// compactions, and of models that had begun to answer when they were stopped, so that another one answered.
func (r *reader) beside(l *line, u *transcript.Usage, key, alias string, steps format.Value) {
	answering, named := u.Model, map[string]int{}
	for step := range steps.Items() {
		model := step.Get("model").Str()
		of := ""
		switch step.Get("type").Str() {
		case "advisor_message":
			of = "advisor"
		case "compaction":
			of, model = "compaction", newest(answering, model)
		case "message": // what is refused before it says anything is not charged
			if model != "" && model != answering && step.Get("output_tokens").Count().N > 0 && fellBack(steps) {
				of = "refused"
			}
		}
		if of == "" {
			continue
		}
		named[of]++
		*u = transcript.Usage{
			Run: u.Run, Conversation: u.Conversation, Time: u.Time, Origin: u.Origin, RequestID: u.RequestID, Requests: u.Requests,
			Tier: u.Tier, Geo: u.Geo, Model: model, Input: step.Get("input_tokens").Count(), Output: step.Get("output_tokens").Count(),
			CacheRead: step.Get("cache_read_input_tokens").Count(), CacheWrite: step.Get("cache_creation_input_tokens").Count(),
			Attributes: transcript.Attributes{"of": of},
		}
		splitWritten(u, step.Get("cache_creation"))
		mark := " " + of + " " + itoa(named[of])
		if key != "" {
			u.Key = key + mark
		}
		if alias != "" {
			u.Alias = alias + mark
		}
		r.spend(l, u)
	}
}

// fellBack says that another model answered than was asked.
func fellBack(steps format.Value) bool {
	for step := range steps.Items() {
		if step.Get("type").Is("fallback_message") {
			return true
		}
	}
	return false
}

// splitWritten divides what went to the cache where it is told apart.
func splitWritten(u *transcript.Usage, v format.Value) {
	short, long := v.Get("ephemeral_5m_input_tokens").Count(), v.Get("ephemeral_1h_input_tokens").Count()
	if short.N+long.N != 0 {
		u.CacheWrite, u.CacheWrite1h = short, long
	}
}

// spend tells a request, unless this file told as much of it already.
func (r *reader) spend(l *line, u *transcript.Usage) {
	total := int64(0)
	for _, n := range []transcript.Count{u.Input, u.Output, u.CacheRead, u.CacheWrite, u.CacheWrite1h} {
		total += max(-mostTokens, min(mostTokens, n.N))
	}
	// Of equals the one in the file that it was first written to is preferred.
	u.Rank = total << 1
	if r.home(l) {
		u.Rank |= 1
	}
	if u.Key != "" {
		if told, seen := r.told[u.Key]; seen && u.Rank <= told {
			return
		}
		r.told[u.Key] = u.Rank
	}
	given := *u
	r.out.Emit(&given)
}

// requestKey gives a request its identity. On a side chain message.id alone is the request, and whoever has it outside
// of one stands for it.
func (r *reader) requestKey(u *transcript.Usage, l *line, message format.Value) {
	response := id(message)
	switch {
	case response == "" && l.uuid != "":
		u.Key = "uuid " + l.uuid
	case response == "":
	case l.sidechain:
		u.Key = response
	default:
		u.Key, u.Alias = response+" "+u.RequestID, response
	}
}
