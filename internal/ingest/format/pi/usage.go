package pi

import (
	"cmp"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// readUsage reads the usage of a request; nil if it has none. Input excludes cached tokens, output includes reasoning.
func (r *reader) readUsage(e *entry, v jsontext.Value) *transcript.Usage {
	u := &transcript.Usage{Run: r.run, Conversation: r.run, Time: e.at, Origin: e.origin, Requests: transcript.Known(1)}
	sum := int64(0)
	count := func(f jsontext.Value) transcript.Count {
		n := f.Tokens()
		sum += n.N
		return n
	}
	for key, f := range v.Fields() {
		switch key {
		case "input":
			u.Input = count(f)
		case "output":
			u.Output = count(f)
		case "cacheRead":
			u.CacheRead = count(f)
		case "cacheWrite":
			u.CacheWrite = count(f)
		case "cacheWrite1h":
			u.CacheWrite1h = f.Count()
		case "cttl": // Oh My Pi
			u.CacheWrite1h = f.Get("ephemeral1h").Count()
		case "reasoning", "reasoningTokens":
			u.Reasoning = f.Count()
		case "cost":
			if total := f.Get("total").NanoUSD(); total.N > 0 {
				u.Cost, u.CostSource = total, "usage.cost.total"
			}
		}
	}
	addOrchestration(u, v.Get("orchestration"), count)
	u.Reasoning.N = min(max(u.Reasoning.N, 0), u.Output.N)
	if u.CacheWrite1h.N = min(max(u.CacheWrite1h.N, 0), u.CacheWrite.N); u.CacheWrite1h.N == 0 {
		u.CacheWrite1h = transcript.Count{}
	}
	u.CacheWrite.N -= u.CacheWrite1h.N
	if sum == 0 && u.Cost.N == 0 {
		return nil
	}
	u.Rank = format.AtHome(0, r.isHome(e))
	return u
}

// addOrchestration adds what a provider used for its own purposes, which is billed, too, and which Oh My Pi states beside the conversation's tokens.
func addOrchestration(u *transcript.Usage, v jsontext.Value, count func(jsontext.Value) transcript.Count) {
	for key, f := range v.Fields() {
		class := &u.Input
		switch key {
		case "input":
		case "output":
			class = &u.Output
		case "cacheRead":
			class = &u.CacheRead
		default:
			continue
		}
		n := count(f)
		class.N, class.Known = class.N+n.N, class.Known || n.Known
	}
}

// answerUsage yields the usage of an answer.
func (r *reader) answerUsage(e *entry, m *message) {
	u := r.readUsage(e, m.usage)
	if u == nil {
		return
	}
	u.Provider, u.Model, u.RequestID, u.Status = m.provider, m.model, m.response.Str(), m.stop.Word()
	if sent, ok := m.ownTime(); ok {
		u.Alias = selfKey(u, sent)
	}
	if r.s.Mirrors != nil && r.s.Mirrors(e.message) {
		u.Verdict = transcript.DerivedTotal
		u.Attributes.Set("of", "codex")
	}
	r.emitUsage(e, u)
}

// selfKey identifies a request by what its message alone states.
func selfKey(u *transcript.Usage, own int64) string {
	var buf [128]byte
	key := strconv.AppendInt(append(buf[:0], 't'), own, 36)
	for _, name := range []string{u.Provider, u.Model, u.RequestID} {
		key = append(append(key, ' '), name...)
	}
	for _, n := range []transcript.Count{u.Input, u.Output, u.CacheRead, u.CacheWrite, u.CacheWrite1h} {
		key = strconv.AppendInt(append(key, ' '), n.N, 36)
	}
	return string(key)
}

// toolUsage yields the usage of the models that a tool asked. It is a derived total if the tool ran sessions that have files of their own.
func (r *reader) toolUsage(e *entry, m *message) {
	u := r.readUsage(e, m.usage)
	if u == nil {
		return
	}
	u.Attributes.Set("of", "tool")
	if u.Requests = (transcript.Count{}); namesSession(m.details) {
		u.Verdict = transcript.DerivedTotal
	}
	r.emitUsage(e, u)
}

// namesSession reports whether a tool ran in sessions of its own, which have files.
func namesSession(details jsontext.Value) bool {
	if details.Get("sessionFile").IsString() {
		return true
	}
	for result := range details.Get("results").Items() {
		if result.Get("sessionFile").IsString() {
			return true
		}
	}
	return false
}

// entryUsage yields the usage of an entry that is not an answer.
func (r *reader) entryUsage(e *entry, v jsontext.Value, provider, model, of string) {
	if u := r.readUsage(e, v); u != nil {
		u.Provider, u.Model = provider, model
		u.Attributes.Set("of", of)
		r.emitUsage(e, u)
	}
}

// recordUsage yields the usage of an entry of type usage: a request that kept a cache warm, or, in version 4, any request, most of
// which other entries state, too.
func (r *reader) recordUsage(e *entry) {
	of := e.value.Get("kind").Str()
	if e.kind == "record" {
		if of = e.value.Get("cause").Str(); of != "adjustment" && r.stated[e.value.Get("entryId").Str()] {
			return
		}
	}
	r.entryUsage(e, e.usage, e.value.Get("provider").Str(), e.value.Get("model").Str(), of)
}

// emitUsage sets the key of a request, from its entry or, if the entry may be rewritten, from its message alone.
func (r *reader) emitUsage(e *entry, u *transcript.Usage) {
	switch {
	case e.duplicate:
		return
	case u.Alias != "" && (r.s.Rewritten || e.id == ""):
		u.Key, u.Alias = u.Alias, ""
	case e.key != "" && e.global:
		u.Key = e.key
	case e.key != "":
		u.Key = r.run + " " + e.key
	default:
		u.Key = r.run + " #" + strconv.Itoa(e.origin.Line)
	}
	switch e.kind {
	case "record":
		if u.Attributes["of"] != "adjustment" {
			r.recorded[e.value.Get("entryId").Str()] = u.Key
		}
	case "entry":
		// An entry states the request of its last attempt; those before are in records only.
		u.Alias = cmp.Or(r.recorded[e.id], u.Alias)
		r.stated[e.id] = e.id != ""
	}
	r.Emit(u)
}
