package claudecode

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// sums are what a stream has stated of tokens. Its messages have the few output tokens known when they began, and not all of those of
// sub-agents are in it. The line that ends a turn has two sums: usage, of the turn without sub-agents, and modelUsage, of all requests
// for each model since the process began. What the messages lack is added then, so that all records add up to these sums.
type sums struct {
	requests map[string]*transcript.Usage // since the last modelUsage, by key
	own      map[string]bool              // keys of those of the turn that are not a sub-agent's
	last     string                       // the last of these
	models   map[string]tokens            // the last modelUsage
}

// tokens are numbers of tokens: input, output, read from a cache, written to a cache.
type tokens [4]int64

func clip(n int64) int64 { return max(0, min(format.MaxTokens, n)) }

func tokensOf(u *transcript.Usage) tokens {
	return tokens{clip(u.Input.N), clip(u.Output.N), clip(u.CacheRead.N), clip(u.CacheWrite.N) + clip(u.CacheWrite1h.N)}
}

func (t tokens) total() int64 { return t[0] + t[1] + t[2] + t[3] }

func (t tokens) plus(u tokens) tokens {
	for i := range t {
		t[i] += u[i]
	}
	return t
}

// without returns what is in t and not in u.
func (t tokens) without(u tokens) tokens {
	for i := range t {
		t[i] = max(0, t[i]-u[i])
	}
	return t
}

// covers reports whether no number of t is smaller than that of u.
func (t tokens) covers(u tokens) bool { return u.without(t) == tokens{} }

// note adds a request, or a larger statement of one.
func (s *sums) note(u *transcript.Usage, own bool) {
	key := cmp.Or(u.Key, fmt.Sprint("@", u.Origin.Offset))
	if s.requests[key] = u; own {
		s.own[key], s.last = true, key
	}
}

// sumUp adds what a turn's messages lack to the sums of its result.
func (r *reader) sumUp(l *line) {
	s := &r.stream.sums
	now := modelSums(l.raw.Get("modelUsage"))
	r.completeTurn(l, now)
	if len(now) > 0 {
		r.restOfModels(l, now)
		clear(s.requests)
		s.models = now
	}
	clear(s.own)
}

// modelSums returns the sums of a result by model. The program tells apart models that were asked for with a longer context, claude-x[1m];
// messages do not.
func modelSums(v format.Value) map[string]tokens {
	all := map[string]tokens{}
	for name, sum := range v.Fields() {
		name, _, _ = strings.Cut(name, "[")
		var t tokens
		for i, key := range []string{"inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens"} {
			t[i] = clip(sum.Get(key).Count().N)
		}
		all[name] = all[name].plus(t)
	}
	return all
}

// completeTurn yields the last request of a turn again, with what all requests of the turn outside of sub-agents lack to the turn's
// sum. A turn without requests, in the output of a result alone, has one record with the sum.
func (r *reader) completeTurn(l *line, models map[string]tokens) {
	var sum, u transcript.Usage
	readUsage(&sum, l.raw.Get("usage"))
	known, hour, reasoning := tokens{}, int64(0), int64(0)
	s := &r.stream.sums
	for key := range s.own {
		request := s.requests[key]
		known = known.plus(tokensOf(request))
		hour += clip(request.CacheWrite1h.N)
		reasoning += clip(request.Reasoning.N)
	}
	lacks := tokensOf(&sum).without(known)
	if lacks == (tokens{}) {
		return
	}
	if len(s.own) > 0 {
		u = *s.requests[s.last]
	} else {
		u = transcript.Usage{Key: "result " + resultID(l), Time: l.now, Model: r.modelOf(tokensOf(&sum), models), Tier: sum.Tier, Speed: sum.Speed, Geo: sum.Geo}
	}
	u.Run, u.Conversation, u.Origin = r.run, r.conversation, l.origin
	hour = max(0, min(lacks[3], clip(sum.CacheWrite1h.N)-hour))
	add(&u.Input, lacks[0])
	add(&u.Output, lacks[1])
	add(&u.CacheRead, lacks[2])
	add(&u.CacheWrite, lacks[3]-hour)
	add(&u.CacheWrite1h, hour)
	add(&u.Reasoning, clip(sum.Reasoning.N)-reasoning)
	r.emitUsage(l, &u)
}

func add(to *transcript.Count, n int64) {
	if n > 0 {
		*to = transcript.Known(to.N + n)
	}
}

// restOfModels yields, for each model, what a result's sums have beyond the sums of the result before and the requests since then: what
// sub-agents answered, and requests that are in no line (titles, summaries of pages).
func (r *reader) restOfModels(l *line, now map[string]tokens) {
	s := &r.stream.sums
	known := map[string]tokens{}
	for _, u := range s.requests {
		name := modelIn(now, u.Model)
		if name == "" {
			return // what is missing to which sum is unknown
		}
		known[name] = known[name].plus(tokensOf(u))
	}
	// The first sums may include all that the session has used before, which other streams state: of several such rests the smallest
	// counts, even if it is nothing, and none if one of the streams has no sums (resolveStreams).
	unclear := s.models == nil && keepsSums(r.facts.version)
	conversation := r.conversation
	if unclear {
		conversation = restPrefix + strings.TrimPrefix(r.conversation, streamPrefix)
		r.out.Emit(&transcript.Conversation{ID: conversation, Run: r.run, Silent: true})
	}
	before := s.models
	for name, sum := range before {
		if !now[name].covers(sum) { // another process, which has counted from 0
			before = nil
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		rest := now[name].without(before[name]).without(known[name])
		u := &transcript.Usage{
			Run: r.run, Conversation: conversation, Time: l.now, Origin: l.origin, Model: name, Attributes: transcript.Attributes{"of": "rest"},
			Key: "rest " + resultID(l) + " " + name, Rank: rest.total(), Requests: transcript.Known(0),
			Input: transcript.Known(rest[0]), Output: transcript.Known(rest[1]), CacheRead: transcript.Known(rest[2]), CacheWrite: transcript.Known(rest[3]),
		}
		if unclear {
			u.Key, u.Rank = "rest "+r.run+" "+name, -rest.total()
		}
		if unclear || rest != (tokens{}) {
			r.out.Emit(u)
		}
	}
}

// keepsSums reports whether a version, if it resumes a session in a new process, goes on with the sums of that session. Earlier ones began
// at 0.
func keepsSums(version string) bool {
	var v [3]int
	if n, _ := fmt.Sscanf(version, "%d.%d.%d", &v[0], &v[1], &v[2]); n < len(v) {
		return true
	}
	return slices.Compare(v[:], []int{2, 1, 277}) >= 0
}

// modelIn returns which of the sums is that of a model, "" if that is unclear. The sums have the names by which models were asked for:
// claude-x or us.anthropic.claude-x-20260101-v1:0 for claude-x-20260101.
func modelIn(sums map[string]tokens, model string) string {
	if _, ok := sums[model]; ok {
		return model
	}
	found := ""
	for name := range sums {
		if len(sums) > 1 && !strings.Contains(name, model) && !strings.Contains(model, name) {
			continue
		}
		if found != "" {
			return ""
		}
		found = name
	}
	return found
}

// modelOf returns the model of a turn of which only the sum is known: the one that has used most, of those that have used so much.
func (r *reader) modelOf(sum tokens, models map[string]tokens) string {
	found := ""
	for _, name := range slices.Sorted(maps.Keys(models)) {
		if models[name].covers(sum) && (found == "" || models[name].total() > models[found].total()) {
			found = name
		}
	}
	return cmp.Or(found, r.facts.model)
}

// resultID identifies a result. Older versions wrote no uuid.
func resultID(l *line) string { return cmp.Or(l.uuid, hashOf(l.raw)) }
