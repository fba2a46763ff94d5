package rovodev

import (
	"cmp"
	"fmt"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// ofSession is the attribute of usage that is the sum of a session.
const ofSession = "session"

// usage yields what a response used.
func (m *message) usage(v jsontext.Value) {
	stated := v.Get("usage")
	u := m.tokens(stated)
	if u.Rank == 0 {
		return
	}
	// A fork repeats the response with its time and its ids. Without ids two programs may have one in the same second, and
	// without times only its place tells a response from others.
	u.Key = fmt.Sprintf("%s@%d", m.from, m.at.UnixMicro)
	switch {
	case m.id == "" && !m.at.Valid:
		u.Key = fmt.Sprintf("%s/%d/%d/%d", m.Session, m.number, u.Rank, u.Output.N)
	case m.from == "":
		u.Key = fmt.Sprintf("@%d/%d/%d", m.at.UnixMicro, u.Rank, u.Output.N)
	}
	u.Time, u.RequestID, u.Requests = m.at, m.id, transcript.Known(1)
	u.Model, u.Provider = m.model, v.Get("provider_name").Word()
	u.Attributes.Set("stop_reason", v.Get("finish_reason").Str())
	m.Emit(u)
}

// total yields the sum that a session states of what its responses used.
func (p *parser) total(stated jsontext.Value) {
	u := p.tokens(stated)
	if u.Rank == 0 {
		return
	}
	u.Key, u.Time = "session "+p.Session, cmp.Or(p.run.Ended, p.run.Started)
	u.Model, u.Requests = p.run.Model, stated.Get("requests").Count()
	u.Attributes.Set("of", ofSession)
	p.Emit(u)
}

// tokens reads numbers of tokens, under the names of all versions of Pydantic AI. Their sum is the rank: a response that was
// interrupted, or a sum of an earlier state, has less.
func (p *parser) tokens(v jsontext.Value) *transcript.Usage {
	details := v.Get("details")
	u := &transcript.Usage{
		Run: p.Session, Conversation: conversation, Origin: jsontext.OriginIn(p.Row.Origin, p.Row.Value, v),
		Input: v.First("input_tokens", "request_tokens").Tokens(), Output: v.First("output_tokens", "response_tokens").Tokens(),
		CacheRead: v.Get("cache_read_tokens").Tokens(), CacheWrite: v.Get("cache_write_tokens").Tokens(),
		Reasoning: details.First("reasoning_tokens", "thoughts_tokens").Tokens(),
	}
	if !u.CacheRead.Known && !u.CacheWrite.Known {
		u.CacheRead = details.First("cache_read_input_tokens", "cached_tokens", "cached_content_tokens").Tokens()
		u.CacheWrite = details.Get("cache_creation_input_tokens").Tokens()
	}
	if u.Reasoning.N > u.Output.N {
		u.Reasoning = transcript.Count{}
	}
	format.ExcludeCache(u)
	u.Rank = u.Input.N + u.Output.N + u.CacheRead.N + u.CacheWrite.N
	return u
}

// resolveUsage makes the sum of a session a derived total if a response of it states what it used, in any version.
func resolveUsage(f *transcript.Family) {
	requests := false
	for _, u := range f.Usage {
		requests = requests || u.Attributes["of"] != ofSession
	}
	for _, u := range f.Usage {
		if u.Attributes["of"] != ofSession {
			continue
		}
		if u.Verdict = transcript.Counted; requests {
			u.Verdict = transcript.DerivedTotal
		}
	}
}
