package pi

import (
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// mostTokens is more than any request has; what is said beyond it must not overflow a sum.
const mostTokens = 1 << 40

// request reads what a request took; nil where that is nothing. Input is what was not cached, output has what was thought.
func (r *reader) request(e *entry, v format.Value) *transcript.Usage {
	u := &transcript.Usage{Run: r.run, Conversation: r.run, Time: e.at, Origin: e.origin, Requests: transcript.Known(1)}
	sum := int64(0)
	count := func(f format.Value) transcript.Count {
		n := f.Count()
		n.N = min(max(n.N, 0), mostTokens)
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
		case "reasoning":
			u.Reasoning = f.Count()
		case "cost":
			if total := f.Get("total").NanoUSD(); total.N > 0 {
				u.Cost, u.CostSource = total, "usage.cost.total"
			}
		}
	}
	u.Reasoning.N = min(max(u.Reasoning.N, 0), u.Output.N)
	if u.CacheWrite1h.N = min(max(u.CacheWrite1h.N, 0), u.CacheWrite.N); u.CacheWrite1h.N == 0 {
		u.CacheWrite1h = transcript.Count{}
	}
	u.CacheWrite.N -= u.CacheWrite1h.N
	if sum == 0 && u.Cost.N == 0 {
		return nil
	}
	if r.home(e) {
		u.Rank = 1
	}
	return u
}

// answered tells the tokens of an answer.
func (r *reader) answered(e *entry, m *message) {
	u := r.request(e, m.usage)
	if u == nil {
		return
	}
	u.Provider, u.Model, u.RequestID, u.Status = m.provider, m.model, m.response.Str(), m.stop.Word()
	if own, ok := m.own(); ok {
		u.Alias = bySelf(u, own)
	}
	r.spend(e, u)
}

// bySelf is a request as its message alone tells it.
func bySelf(u *transcript.Usage, own int64) string {
	var room [128]byte
	key := strconv.AppendInt(append(room[:0], 't'), own, 36)
	for _, name := range []string{u.Provider, u.Model, u.RequestID} {
		key = append(append(key, ' '), name...)
	}
	for _, n := range []transcript.Count{u.Input, u.Output, u.CacheRead, u.CacheWrite, u.CacheWrite1h} {
		key = strconv.AppendInt(append(key, ' '), n.N, 36)
	}
	return string(key)
}

// worked tells the tokens of the models that a tool asked, unless it says that they are other sessions' own.
func (r *reader) worked(e *entry, m *message) {
	u := r.request(e, m.usage)
	if u == nil {
		return
	}
	u.Attributes.Set("of", "tool")
	if u.Requests = (transcript.Count{}); namesSession(m.details) {
		u.Verdict = transcript.DerivedTotal
	}
	r.spend(e, u)
}

// namesSession says that a tool ran in sessions of their own, which have files.
func namesSession(details format.Value) bool {
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

// spent tells the tokens of an entry that is no answer.
func (r *reader) spent(e *entry, v format.Value, provider, model, of string) {
	if u := r.request(e, v); u != nil {
		u.Provider, u.Model = provider, model
		u.Attributes.Set("of", of)
		r.spend(e, u)
	}
}

// warmed tells the tokens of an entry that is nothing else: what kept a cache warm or, in version 4, any request, most of
// which an entry has told already.
func (r *reader) warmed(e *entry) {
	of := e.value.Get("kind").Str()
	if e.kind == "record" {
		entry := e.value.Get("entryId").Str()
		if r.paid[entry] {
			return
		}
		of, r.paid[entry] = e.value.Get("cause").Str(), entry != ""
	}
	r.spent(e, e.usage, e.value.Get("provider").Str(), e.value.Get("model").Str(), of)
}

// spend gives a request its identity: its entry's or, where that may change, what its message alone tells.
func (r *reader) spend(e *entry, u *transcript.Usage) {
	if e.kind == "entry" {
		if r.paid[e.id] {
			return
		}
		r.paid[e.id] = e.id != ""
	}
	switch {
	case e.again:
		return
	case u.Alias != "" && (r.s.Again || e.id == ""):
		u.Key, u.Alias = u.Alias, ""
	case e.key != "" && e.global:
		u.Key = e.key
	case e.key != "":
		u.Key = r.run + " " + e.key
	default:
		u.Key = r.run + " #" + itoa(e.origin.Line)
	}
	r.Emit(u)
}
