package forge

import (
	"fmt"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// usage yields the usage of an answer, which is one request, or of a summary, which is the sum of the requests that it replaces. It
// reports whether there is any.
func (p *parser) usage(entry jsontext.Value, hash string, at transcript.Time, model string) bool {
	v, text := entry.Get("usage"), inner(entry).Get("text")
	u := p.readUsage(v)
	if u == nil {
		return false
	}
	u.Key, u.Time, u.Model = p.unique(hash+" "+numbers(v)), at, text.Get("model").Str()
	if text.Get("role").Is("Assistant") {
		u.Requests = transcript.Known(1)
	} else {
		u.Model = model
		u.Attributes.Set(sumMark, true)
	}
	p.Emit(u)
	return true
}

// lastRequest yields the last request of a conversation, of which early versions stated no other.
func (p *parser) lastRequest(v jsontext.Value, at transcript.Time, model string) {
	if u := p.readUsage(v); u != nil {
		u.Key, u.Time, u.Model, u.Requests = p.origin+"/last "+numbers(v), at, model, transcript.Known(1)
		u.Rank = format.AtHome(u.Rank, p.home)
		p.Emit(u)
	}
}

// sumMark is the attribute of usage that is a sum.
const sumMark = "total"

// readUsage reads a statement of tokens, nil if nothing is stated: providers that do not report tokens have zeros.
func (p *parser) readUsage(v jsontext.Value) *transcript.Usage {
	prompt, estimated := tokens(v.Get("prompt_tokens"))
	output, estimatedOutput := tokens(v.Get("completion_tokens"))
	cached, _ := tokens(v.Get("cached_tokens"))
	total, _ := tokens(v.Get("total_tokens"))
	cost, hasTokens := v.Get("cost").NanoUSD(), prompt.N+output.N+cached.N > 0
	if !hasTokens && cost.N <= 0 {
		return nil
	}
	u := &transcript.Usage{
		Run: p.Session, Conversation: conversation, Origin: jsontext.OriginIn(p.Row.Origin, p.Row.Value, v),
		Input: prompt, Output: output, CacheRead: cached, Estimated: estimated || estimatedOutput, Rank: prompt.N + output.N,
	}
	if !hasTokens {
		u.Input, u.Output, u.CacheRead = transcript.Count{}, transcript.Count{}, transcript.Count{}
	}
	switch outside := cached.N > prompt.N || total.N == prompt.N+output.N+cached.N; {
	case prompt.N == 0 && total.N > output.N:
		u.Input = transcript.Count{} // cleared when the conversation was shortened
	case !outside:
		u.Input.N -= cached.N
	}
	if cost.N > 0 { // 0 is a subscription, or not known
		u.Cost, u.CostSource = cost, "cost"
	}
	if total.N != prompt.N+output.N {
		u.Attributes.Set("total_tokens", total.N)
	}
	return u
}

// tokens reads a number of tokens: {"actual": n}, or {"approx": n} where it is estimated; in early versions a number.
func tokens(v jsontext.Value) (n transcript.Count, estimated bool) {
	if v.IsObject() {
		if n := v.First("actual", "Actual").Tokens(); n.Known {
			return n, false
		}
		return v.First("approx", "Approx").Tokens(), true
	}
	return v.Tokens(), false
}

// numbers are the numbers of a statement that the program does not change later.
func numbers(v jsontext.Value) string {
	output, _ := tokens(v.Get("completion_tokens"))
	total, _ := tokens(v.Get("total_tokens"))
	return fmt.Sprintf("%d of %d", output.N, total.N)
}
