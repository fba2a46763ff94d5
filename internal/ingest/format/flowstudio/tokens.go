package flowstudio

import (
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Key prefixes of the usage that transcripts state; Resolve distinguishes cost and tokens by them.
const (
	costKey   = "cost:"
	tokensKey = "tokens:"
)

// usage yields the usage of a line as two records: its cost, which no receipt has and which counts, and its tokens, which
// the step's receipt states again and which therefore never count. It ignores usage of single messages (message.usage),
// which the result line includes.
func (s *session) usage(o jsontext.Value, place transcript.Origin, at transcript.Time) {
	cost := o.Get("total_cost_usd").NanoUSD()
	tokens, stated := readTokens(o)
	if !cost.Known && !stated {
		return
	}
	s.usageCount++
	// Attempts that overwrote each other all cost something; the time distinguishes them.
	key := s.place.run + "/" + s.id + ":" + strconv.Itoa(s.usageCount) + "@" + stamp(at)
	base := transcript.Usage{
		Run: s.place.run, Conversation: s.id, Time: at, Origin: place,
		Model: o.Get("model").Str(), Flow: s.place.flow,
	}
	if base.Model == "" {
		base.Model = s.model
	}
	if cost.Known {
		u := base
		u.Key, u.Cost, u.CostSource = costKey+key, cost, "total_cost_usd"
		u.Attributes = transcript.Attributes{}
		flatten(u.Attributes, "", o.Get("usage"))
		if o.Get("type").Str() != "result" {
			u.Verdict = transcript.OutsideReceipt
		}
		s.Emit(&u)
	}
	if stated {
		u := tokens
		u.Run, u.Conversation, u.Time, u.Origin = base.Run, base.Conversation, base.Time, base.Origin
		u.Model, u.Flow = base.Model, base.Flow
		u.Key, u.Verdict = tokensKey+key, transcript.OutsideReceipt
		s.Emit(&u)
	}
}

// readTokens reads the token counts of a line in any of the engines' shapes. It returns false if there are none.
func readTokens(o jsontext.Value) (transcript.Usage, bool) {
	var u transcript.Usage
	if o.First("promptTokenCount", "candidatesTokenCount").Exists() {
		return geminiTokens(o)
	}
	t := o.Get("usage")
	if !t.Exists() {
		return geminiTokens(o.Get("stats"))
	}
	u.Input = t.First("input_tokens", "prompt", "prompt_tokens").Count()
	u.Output = t.First("output_tokens", "completion", "completion_tokens").Count()
	u.CacheRead = t.Get("cache_read_input_tokens").Count()
	u.CacheWrite = t.Get("cache_creation_input_tokens").Count()
	if hour := t.Get("cache_creation", "ephemeral_1h_input_tokens").Count(); hour.Known {
		u.CacheWrite1h = hour
		if u.CacheWrite.Known {
			u.CacheWrite.N = max(0, u.CacheWrite.N-max(0, hour.N))
		}
	}
	if !u.Input.Known && !u.Output.Known {
		return geminiTokens(t)
	}
	return u, true
}

// geminiTokens reads Gemini's own names, as in its API or in the stats that end its stream. The prompt includes cached
// tokens; candidates exclude thoughts.
func geminiTokens(t jsontext.Value) (transcript.Usage, bool) {
	u := transcript.Usage{
		Input:     t.First("promptTokenCount", "input_tokens").Count(),
		Output:    t.First("candidatesTokenCount", "output_tokens").Count(),
		CacheRead: t.First("cachedContentTokenCount", "cached").Count(),
		Reasoning: t.Get("thoughtsTokenCount").Count(),
	}
	if u.Input.Known {
		u.Input.N = max(0, u.Input.N-max(0, u.CacheRead.N))
	}
	if u.Reasoning.Known {
		u.Output = transcript.Known(u.Output.N + u.Reasoning.N)
	}
	return u, u.Input.Known || u.Output.Known
}
