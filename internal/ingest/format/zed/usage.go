package zed

import (
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// tokens are the token classes of a request or of a sum. Zed leaves out those that are 0.
type tokens struct{ input, output, cacheRead, cacheWrite int64 }

func readTokens(v jsontext.Value) tokens {
	n := func(key string) int64 { return v.Get(key).Tokens().N }
	return tokens{n("input_tokens"), n("output_tokens"), n("cache_read_input_tokens"), n("cache_creation_input_tokens")}
}

func (t tokens) total() int64 { return t.input + t.output + t.cacheRead + t.cacheWrite }

// minus returns t without other, if t includes it.
func (t tokens) minus(other tokens) (left tokens, ok bool) {
	left = tokens{t.input - other.input, t.output - other.output, t.cacheRead - other.cacheRead, t.cacheWrite - other.cacheWrite}
	return left, min(left.input, left.output, left.cacheRead, left.cacheWrite) >= 0
}

// request is the last request that a prompt caused.
type request struct {
	prompt string
	v      jsontext.Value
	tokens
}

// usage yields the sum of a thread's requests, and the last request of each prompt, which counts for itself if the sum cannot include it.
func (p *parser) usage(data jsontext.Value, at transcript.Time) {
	v := data.Get("cumulative_token_usage")
	sum := readTokens(v)
	if sum.total() > 0 {
		u := p.newUsage(data, v, sum, "thread "+p.thread, at)
		u.Rank = sum.total() // it only grows: a copy may be older
		u.Attributes.Set("total", true)
		p.Emit(u)
	}
	all := lastRequests(data)
	from, to := included(all, sum, data.Get("initial_project_snapshot", "timestamp").Time())
	for i, r := range all {
		u := p.newUsage(data, r.v, r.tokens, "prompt "+r.prompt, at)
		u.Requests, u.Rank = transcript.Known(1), r.total() // a copy may be older
		if !format.IsUUID(r.prompt) {
			u.Key = "prompt " + p.thread + " " + r.prompt
		}
		if i < to || i >= from {
			u.Verdict = transcript.DerivedTotal
		}
		p.Emit(u)
	}
}

// stoppedAdding is a time from which on no version of Zed was in use that still added up tokens, before one did so again.
var stoppedAdding = timestamp.Parse("2025-12-01T00:00:00Z")

// included returns which requests the sum may include: those from one on, and for a thread that may have begun before Zed stopped adding, those up
// to another. That is as many as fit into it.
func included(all []request, sum tokens, started transcript.Time) (from, to int) {
	from = len(all)
	for left, ok := sum, true; from > 0; from-- {
		if left, ok = left.minus(all[from-1].tokens); !ok {
			break
		}
	}
	if started.Valid && started.UnixMicro >= stoppedAdding.UnixMicro {
		return from, 0
	}
	for left, ok := sum, true; to < len(all); to++ {
		if left, ok = left.minus(all[to].tokens); !ok {
			break
		}
	}
	return from, to
}

// lastRequests returns the last request of each prompt, in the order of the prompts. Early payloads have a list with an entry for each message
// instead: it has copies of requests, which all are in the sum.
func lastRequests(data jsontext.Value) (all []request) {
	stated := data.Get("request_token_usage")
	if !stated.IsObject() {
		return nil
	}
	byPrompt := map[string]jsontext.Value{}
	for prompt, v := range stated.Fields() {
		byPrompt[prompt] = v
	}
	for m := range data.Get("messages").Items() {
		prompt := m.Get("User", "id").Text()
		if v, ok := byPrompt[prompt]; ok {
			delete(byPrompt, prompt)
			if t := readTokens(v); t.total() > 0 {
				all = append(all, request{prompt, v, t})
			}
		}
	}
	return all
}

// newUsage returns what a statement of tokens says.
func (p *parser) newUsage(data, v jsontext.Value, t tokens, key string, at transcript.Time) *transcript.Usage {
	return &transcript.Usage{
		Run: p.thread, Conversation: conversation, Key: key, Time: at, Origin: p.origin(v),
		Model: data.Get("model", "model").Str(), Provider: data.Get("model", "provider").Str(), Speed: data.Get("speed").Str(),
		Input: transcript.Known(t.input), Output: transcript.Known(t.output), CacheRead: transcript.Known(t.cacheRead), CacheWrite: transcript.Known(t.cacheWrite),
	}
}
