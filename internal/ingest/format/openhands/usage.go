package openhands

import (
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// The values of the attribute "of" of usage that is no request.
const (
	ofTotal = "total" // of a conversation of version 0 up to an event
	ofMeta  = "metadata"
	ofModel = "model" // of one use of a model in a conversation
)

// The ranks of statements of a request: that of the conversation that made it outranks that of one that repeats it, and then one with a cost.
const (
	rankRepeated = 0
	rankPriced   = 1
	rankOwn      = 2
)

// tokens are the classes as the program states them: the prompt with what was read from a cache and written to it.
type tokens struct{ prompt, output, read, write, reasoning transcript.Count }

// usage returns the disjoint classes, nil if all are 0. apart says that the prompt does not include what was cached. It also cannot if there was more of
// that.
func (t tokens) usage(apart bool) *transcript.Usage {
	if t.prompt.N+t.output.N+t.read.N+t.write.N == 0 {
		return nil
	}
	u := &transcript.Usage{Input: t.prompt, Output: t.output, CacheRead: t.read, CacheWrite: t.write}
	if !apart {
		format.ExcludeCache(u)
	}
	if t.reasoning.N <= t.output.N {
		u.Reasoning = t.reasoning
	}
	return u
}

// recorded reads the tokens that the program has recorded.
func recorded(v jsontext.Value) tokens {
	return tokens{
		prompt: v.Get("prompt_tokens").Tokens(), output: v.Get("completion_tokens").Tokens(), read: v.Get("cache_read_tokens").Tokens(),
		write: v.Get("cache_write_tokens").Tokens(), reasoning: v.Get("reasoning_tokens").Tokens(),
	}
}

// responded reads the tokens in a response.
func responded(v jsontext.Value) tokens {
	first := func(paths ...[]string) (n transcript.Count) {
		for _, at := range paths {
			if c := v.Get(at...).Tokens(); c.N > n.N || !n.Known {
				n = c
			}
		}
		return n
	}
	return tokens{
		prompt: v.Get("prompt_tokens").Tokens(), output: v.Get("completion_tokens").Tokens(),
		read:      first([]string{"prompt_tokens_details", "cached_tokens"}, []string{"cache_read_input_tokens"}),
		write:     first([]string{"cache_creation_input_tokens"}, []string{"prompt_tokens_details", "cache_creation_tokens"}),
		reasoning: v.Get("completion_tokens_details", "reasoning_tokens").Tokens(),
	}
}

// ledger is what the program has recorded of the requests to one model for one use.
type ledger struct {
	value  jsontext.Value
	base   jsontext.Value // in which places are stated
	origin transcript.Origin
	use    string // what the model is used for
	apart  bool   // see usage
	rank   int64
}

// place returns where a value of the ledger is.
func (l *ledger) place(v jsontext.Value) transcript.Origin {
	at := l.origin
	if off := jsontext.OffsetIn(l.base, v); off >= 0 {
		at.Offset, at.Length = at.Offset+off, int64(v.Len())
	}
	return at
}

// ledger yields the requests in a ledger, and returns how many there are and whether their costs are among them. Costs have no id: they belong to the
// requests in their order if there are as many, of the same models.
func (p *parser) ledger(l *ledger) (n int, priced bool) {
	costs := l.costs()
	seen := map[string]int{}
	for v := range l.value.Get("token_usages").Items() {
		at := n
		n++
		u := recorded(v).usage(l.apart)
		if u == nil {
			continue
		}
		u.Run, u.Conversation, u.Origin, u.Rank = p.run, p.run, l.place(v), l.rank
		u.Model, u.RequestID, u.Requests = v.Get("model").Str(), v.Get("response_id").Str(), transcript.Known(1)
		u.Key = requestKey(u.RequestID)
		if costs != nil {
			priced = true
			u.Cost, u.Time = costs[at].Get("cost").NanoUSD(), costs[at].Get("timestamp").UnixTime()
			u.CostSource = "costs"
			u.Rank += rankPriced
		}
		switch n := seen[u.RequestID]; {
		case u.RequestID == "" && u.Time.Valid:
			u.Key = "at " + strconv.FormatInt(u.Time.UnixMicro, 10)
		case u.RequestID == "":
			u.Key = "number " + strconv.Itoa(at) + " of " + l.use + " " + p.run
		case n > 0: // behind the Agent Client Protocol all requests of a session have its id
			u.Key += "#" + strconv.Itoa(n+1)
		}
		seen[u.RequestID]++
		u.Attributes.Set("use", l.use)
		p.Emit(u)
	}
	return n, priced
}

func requestKey(response string) string { return "request " + response }

// costs returns the costs of the requests, nil if they cannot be told apart.
func (l *ledger) costs() (all []jsontext.Value) {
	for v := range l.value.Get("costs").Items() {
		all = append(all, v)
	}
	n := 0
	for v := range l.value.Get("token_usages").Items() {
		if n >= len(all) || all[n].Get("model").Str() != v.Get("model").Str() {
			return nil
		}
		n++
	}
	if n != len(all) {
		return nil
	}
	return all
}

// total returns the total of a ledger, nil if it is 0.
func (l *ledger) total() *transcript.Usage {
	sum := l.value.Get("accumulated_token_usage")
	u := recorded(sum).usage(l.apart)
	cost := l.value.Get("accumulated_cost").NanoUSD()
	if cost.N <= 0 {
		cost = transcript.Count{}
	}
	if u == nil && !cost.Known {
		return nil
	}
	if u == nil {
		u = &transcript.Usage{}
	}
	u.Origin, u.Rank = l.place(l.value), u.Input.N+u.Output.N+u.CacheRead.N+u.CacheWrite.N
	if u.Model = sum.Get("model").Str(); u.Model == "default" {
		u.Model = ""
	}
	if u.Cost = cost; cost.Known {
		u.CostSource = "accumulated_cost"
	}
	return u
}

// requests yields what an event of version 0 states of requests: the one it is the answer of, and the total so far.
func (p *parser) requests(e *entry) {
	if !e.action.IsString() { // an observation repeats the response of its action
		p.ledger(&ledger{value: e.metrics, base: e.value, origin: e.origin, use: "edit", rank: rankOwn})
		return
	}
	usage := e.metadata.Get("model_response", "usage")
	if u := responded(usage).usage(false); u != nil {
		u.Run, u.Conversation, u.Time, u.Requests = p.run, p.run, e.at, transcript.Known(1)
		u.Model, u.RequestID, u.Rank = e.model, e.response, rankOwn
		switch {
		case e.response != "":
			u.Key = requestKey(e.response)
		case e.id != "":
			u.Key = "event " + e.id
		}
		l := ledger{base: e.value, origin: e.origin}
		u.Origin = l.place(usage)
		p.Emit(u)
	}
	l := ledger{value: e.metrics, base: e.value, origin: e.origin, rank: rankOwn}
	p.ledger(&l)
	if u := l.total(); u != nil && e.id != "" {
		u.Run, u.Conversation, u.Time, u.Key = p.run, p.run, e.at, "total "+e.id
		u.Attributes = transcript.Attributes{"of": ofTotal, "event": strconv.FormatInt(e.number, 10)}
		p.Emit(u)
	}
}
