package atif

import (
	"cmp"
	"fmt"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// native are the agents of Harbor that keep a session of their own, which lies beside the trajectory that Harbor converts from it and which
// the archive reads by itself: there the same requests count.
var native = map[string]bool{
	"claude-code": true, "codex": true, "gemini-cli": true, "qwen-coder": true, "qwen-code": true, "opencode": true, "openhands": true,
	"copilot-cli": true, "rovodev-cli": true,
}

// The attribute of is what usage is that is not of one step.
const (
	ofTotal = "trajectory" // of a whole trajectory
	ofTrial = "trial"      // of a trial, as its result says
	ofOther = "elsewhere"  // the same, where what it sums up counts in other runs
)

// usage yields the tokens of a step. A key has what the step states, and not its content: a step is rewritten when its results arrive.
func (p *parser) usage(s *step, n string) {
	m := s.value.Get("metrics")
	u := stepTokens(m)
	if u == nil {
		return
	}
	u.Key = fmt.Sprintf("%s/%s@%s %d %d %d", s.trajectory.id, n, s.value.Get("timestamp").Text(), m.Get("prompt_tokens").Tokens().N, u.Output.N, u.CacheRead.N)
	u.Run, u.Conversation, u.Time, u.Model, u.Origin = s.run, s.trajectory.id, s.at, s.model, p.origin(m)
	if u.Requests = s.value.Get("llm_call_count").Tokens(); !u.Requests.Known {
		u.Requests = transcript.Known(1)
	}
	if !s.child && isUnique(s.session) && s.session != s.trajectory.id {
		u.Attributes.Set("session", s.session) // for Resolve
	}
	u.Tier = m.Get("extra", "service_tier").Str()
	switch {
	case s.copied:
		u.Verdict = transcript.CopiedHistory
	case s.derived:
		u.Verdict = transcript.DerivedTotal
	}
	p.Emit(u)
}

// total yields the sums of a trajectory if none of its steps, and of those in it, states any, and reports whether it did.
func (p *parser) total(t *trajectory, v jsontext.Value, ended transcript.Time, totalled bool) bool {
	m := v.Get("final_metrics")
	u := tokens(m, "total_prompt_tokens", "total_completion_tokens", "total_cached_tokens", "total_cost_usd")
	if p.cut || totalled || u == nil || isZero(u) || measured(v, 0) {
		return false
	}
	u.Run, u.Conversation, u.Model, u.Time, u.Origin = t.run, t.id, t.model, ended, p.origin(m)
	u.Key = "total " + t.id
	if !t.child && isUnique(t.session) {
		u.Key = totalOf(t.session)
	}
	u.Rank = u.Input.N + u.Output.N + u.CacheRead.N + u.CacheWrite.N
	u.Attributes.Set("of", ofTotal)
	if t.derived {
		u.Attributes.Set("of", ofOther)
		u.Verdict = transcript.DerivedTotal
	}
	p.Emit(u)
	return true
}

// measured reports whether a step of a trajectory, or of one in it, states tokens.
func measured(v jsontext.Value, depth int) bool {
	for s := range v.Get("steps").Items() {
		if u := stepTokens(s.Get("metrics")); u != nil && !isZero(u) {
			return true
		}
	}
	for sub := range v.Get("subagent_trajectories").Items() {
		if depth < maxNested && measured(sub, depth+1) {
			return true
		}
	}
	return false
}

func isZero(u *transcript.Usage) bool {
	return u.Input.N+u.Output.N+u.CacheRead.N+u.CacheWrite.N+u.CacheWrite1h.N+u.Cost.N == 0
}

func stepTokens(metrics jsontext.Value) *transcript.Usage {
	return tokens(metrics, "prompt_tokens", "completion_tokens", "cached_tokens", "cost_usd")
}

// tokens reads counts, whose members have these names; nil if there are none.
func tokens(m jsontext.Value, prompt, output, cached, cost string) *transcript.Usage {
	u := &transcript.Usage{Input: m.Get(prompt).Tokens(), Output: m.Get(output).Tokens(), CacheRead: m.Get(cached).Tokens()}
	if c := m.Get(cost).NanoUSD(); c.Known && c.N >= 0 {
		u.Cost, u.CostSource = c, cost
	}
	if !u.Input.Known && !u.Output.Known && !u.CacheRead.Known && !u.Cost.Known {
		return nil
	}
	extra := m.Get("extra")
	write := extra.First("cache_creation_input_tokens", "cache_write_tokens", "cache_creation_tokens").Tokens()
	if u.Input.Known {
		read := min(u.CacheRead.N, u.Input.N)
		if rest := u.Input.N - read; write.N <= rest {
			u.Input.N = rest - write.N
		} else {
			u.Input.N = rest // it does not include what was written
		}
	}
	u.CacheWrite = write
	if long := extra.Get("cache_creation", "ephemeral_1h_input_tokens").Tokens(); long.N > 0 && long.N <= write.N {
		u.CacheWrite, u.CacheWrite1h = transcript.Known(write.N-long.N), long
	}
	if r := extra.First("reasoning_tokens", "reasoning_output_tokens", "thoughts_tokens").Tokens(); r.Known && r.N <= u.Output.N {
		u.Reasoning = r
	}
	return u
}

// ResolvesUsage makes the format a format.UsageResolver.
func (atif) ResolvesUsage() {}

// totalOf returns the key of the sums of a session. In a continuation they go on counting.
func totalOf(session string) string {
	if m := continued.FindStringSubmatch(session); m != nil {
		session = m[1]
	}
	return "total " + session
}

// Resolve lets sums count only where nothing that they sum up states tokens: those of a trial, and those of a continued session.
func (atif) Resolve(f *transcript.Family) {
	stated, steps := false, map[string]bool{}
	for _, u := range f.Usage {
		of := u.Attributes["of"]
		stated = stated || of != ofTrial && of != ofOther && !isZero(u)
		if of == nil && !isZero(u) {
			session, _ := u.Attributes["session"].(string)
			steps[totalOf(cmp.Or(session, u.Conversation))] = true
		}
	}
	for _, u := range f.Usage {
		switch of := u.Attributes["of"]; {
		case of == ofTrial && stated, of == ofTotal && steps[u.Key]:
			u.Verdict = transcript.DerivedTotal
		case of == ofTrial, of == ofTotal:
			u.Verdict = transcript.Counted
		}
	}
}
