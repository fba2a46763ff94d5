package claudecode

import (
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// usage yields the tokens of a line's request, unless this file had as many for the same request already: every line of a
// response repeats them.
func (r *reader) usage(l *line, m message) {
	if l.kind != "assistant" || !m.usage.IsObject() || m.model.Is("<synthetic>") {
		return
	}
	u := &r.usageBuf
	*u = transcript.Usage{
		Run: r.run, Conversation: r.conversation, Time: l.now, Origin: l.origin,
		Model: reuse(r.facts.model, m.model), RequestID: idText(l.request), Requests: transcript.Known(1),
	}
	steps, qoder := readUsage(u, m.usage)
	if l.effort.IsString() {
		u.Attributes.Set("effort", l.effort.Str())
	}
	if cost := l.cost.NanoUSD(); cost.Known {
		u.Cost, u.CostSource = cost, "costUSD"
	}
	if nothing := (transcript.Count{Known: true}); u.Input == nothing && u.Output == nothing && u.CacheRead.N|u.CacheWrite.N|u.CacheWrite1h.N == 0 &&
		!u.Cost.Known && !steps.Exists() {
		if u.Attributes["credits"] == nil {
			return // iFlow's zeros, of a provider that states no tokens
		}
		u.Input, u.Output, u.CacheRead, u.CacheWrite = transcript.Count{}, transcript.Count{}, transcript.Count{}, transcript.Count{}
	}
	r.requestKey(u, l, m.id)
	key, alias := u.Key, u.Alias
	r.emitUsage(l, u)
	if qoder && !r.spent {
		r.spent = true
		r.out.Hint(r.run, hintSpent, "usage", l.origin)
	}
	r.stepUsage(l, u, key, alias, steps)
}

// readUsage fills in what the usage of a request states, and returns its steps, and whether it is Qoder's. That has members of its own and counts
// the cached tokens as input, too, and unless QODER_EXPOSE_TOKEN_USAGE is set it has zeros for all of them.
func readUsage(u *transcript.Usage, v jsontext.Value) (steps jsontext.Value, qoder bool) {
	var written jsontext.Value
	for key, value := range v.Fields() {
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
		case "credits":
			qoder = true
			if n, ok := value.Float(); ok && n != 0 {
				u.Attributes.Set("credits", n)
			}
		case "original_credits", "context_usage_ratio":
			qoder = true
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
	if qoder {
		format.ExcludeCache(u)
	}
	splitCacheWrite(u, written)
	return steps, qoder
}

// stepUsage yields the tokens of those steps of a response that its sums omit: of each model that the answering one asked
// for advice, of compactions, and of models that had begun to answer when they were stopped, so that another one answered.
func (r *reader) stepUsage(l *line, u *transcript.Usage, key, alias string, steps jsontext.Value) {
	answering, count := u.Model, map[string]int{}
	for step := range steps.Items() {
		model := step.Get("model").Str()
		of := ""
		switch step.Get("type").Str() {
		case "advisor_message":
			of = "advisor"
		case "compaction":
			of, model = "compaction", newest(answering, model)
		case "message": // a refusal before any output is not charged
			if model != "" && model != answering && step.Get("output_tokens").Count().N > 0 && fellBack(steps) {
				of = "refused"
			}
		}
		if of == "" {
			continue
		}
		count[of]++
		*u = transcript.Usage{
			Run: u.Run, Conversation: u.Conversation, Time: u.Time, Origin: u.Origin, RequestID: u.RequestID, Requests: u.Requests,
			Tier: u.Tier, Geo: u.Geo, Model: model, Input: step.Get("input_tokens").Count(), Output: step.Get("output_tokens").Count(),
			CacheRead: step.Get("cache_read_input_tokens").Count(), CacheWrite: step.Get("cache_creation_input_tokens").Count(),
			Attributes: transcript.Attributes{"of": of},
		}
		splitCacheWrite(u, step.Get("cache_creation"))
		suffix := " " + of + " " + strconv.Itoa(count[of])
		if key != "" {
			u.Key = key + suffix
		}
		if alias != "" {
			u.Alias = alias + suffix
		}
		r.emitUsage(l, u)
	}
}

// fellBack reports whether another model answered than was asked.
func fellBack(steps jsontext.Value) bool {
	for step := range steps.Items() {
		if step.Get("type").Is("fallback_message") {
			return true
		}
	}
	return false
}

// splitCacheWrite splits cache writes by their lifetime if that is stated.
func splitCacheWrite(u *transcript.Usage, v jsontext.Value) {
	short, long := v.Get("ephemeral_5m_input_tokens").Count(), v.Get("ephemeral_1h_input_tokens").Count()
	if short.N+long.N != 0 {
		u.CacheWrite, u.CacheWrite1h = short, long
	}
}

// emitUsage yields a request's usage, unless this file had as much of it already.
func (r *reader) emitUsage(l *line, u *transcript.Usage) {
	total := int64(0)
	for _, n := range []transcript.Count{u.Input, u.Output, u.CacheRead, u.CacheWrite, u.CacheWrite1h} {
		total += max(-jsontext.MaxTokens, min(jsontext.MaxTokens, n.N)) // their sum must not overflow
	}
	u.Rank = format.AtHome(total, r.isHome(l))
	if u.Key != "" {
		if best, seen := r.bestRank[u.Key]; seen && u.Rank <= best {
			return
		}
		r.bestRank[u.Key] = u.Rank
	}
	given := *u
	r.out.Emit(&given)
	if s := r.stream; s != nil {
		s.sums.note(&given, !l.sidechain && u.Attributes["of"] == nil)
		if !u.Time.Valid && u.Key != "" && len(s.undated) < maxWaiting {
			s.undated = append(s.undated, &given)
		}
	}
}

// requestKey sets the identity of a request. On a side chain and in a stream, message.id alone identifies it, and a record outside
// of both with that id takes precedence.
func (r *reader) requestKey(u *transcript.Usage, l *line, message jsontext.Value) {
	response := idText(message)
	switch {
	case response == "" && l.uuid != "":
		u.Key = "uuid " + l.uuid
	case response == "":
	case l.sidechain, l.printed:
		u.Key = response
	default:
		u.Key, u.Alias = response+" "+u.RequestID, response
	}
}
