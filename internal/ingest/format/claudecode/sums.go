package claudecode

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// sums are what a stream has stated of tokens. Its messages have the few output tokens known when they began, and not all of those of
// sub-agents are in it. The line that ends a turn has two sums: usage, of the turn without sub-agents, and modelUsage, of all requests
// for each model since the process began. What the messages lack is added then, so that all records add up to these sums.
type sums struct {
	requests map[string]*transcript.Usage // since the last modelUsage, by key
	own      map[string]bool              // keys of those of the turn that are not a sub-agent's
	models   map[string]tokens            // the last modelUsage
	began    int64                        // offset of the last line that begins a turn
}

// tokens are numbers of tokens: input, output, read from a cache, written to a cache.
type tokens [4]int64

func clip(n int64) int64 { return max(0, min(jsontext.MaxTokens, n)) }

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
		s.own[key] = true
	}
}

// sumUp adds what a turn's messages lack to the sums of its result.
func (r *reader) sumUp(l *line) {
	s := &r.stream.sums
	now := modelSums(l.raw.Get("modelUsage"))
	kept := l.uuid != "" && keepsSums(r.facts.version)
	s.restart(l.raw.Get("usage"), now, kept)
	r.completeTurn(l, now)
	if len(now) > 0 {
		r.restOfModels(l, now, kept)
		clear(s.requests)
		s.models = now
	}
	clear(s.own)
}

// restart forgets what belongs to the sums of an earlier process whose output is in the same file. A turn that states more than its sum
// includes one that was killed.
func (s *sums) restart(usage jsontext.Value, now map[string]tokens, kept bool) {
	var sum transcript.Usage
	readUsage(&sum, usage)
	known := tokens{}
	for key := range s.own {
		known = known.plus(tokensOf(s.requests[key]))
	}
	another := false
	for name, before := range s.models {
		another = another || len(now) > 0 && !now[name].covers(before)
	}
	if another {
		s.models = map[string]tokens{}
	}
	killed := !tokensOf(&sum).covers(known)
	if !another && !killed {
		return
	}
	for key := range s.own {
		if s.requests[key].Origin.Offset < s.began {
			delete(s.own, key)
		}
	}
	if another || !kept {
		maps.DeleteFunc(s.requests, func(_ string, u *transcript.Usage) bool { return u.Origin.Offset < s.began })
	}
}

// modelSums returns the sums of a result by model. The program tells apart models that were asked for with a longer context, claude-x[1m];
// messages do not.
func modelSums(v jsontext.Value) map[string]tokens {
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
// sum. If several models answered, the last request of each gets what its model lacks. A turn without requests, in the output of a
// result alone, has one record with the sum.
func (r *reader) completeTurn(l *line, models map[string]tokens) {
	var sum transcript.Usage
	readUsage(&sum, l.raw.Get("usage"))
	known, hour, reasoning := tokens{}, int64(0), int64(0)
	s := &r.stream.sums
	last := map[string]*transcript.Usage{} // by model
	var final *transcript.Usage
	for key := range s.own {
		u := s.requests[key]
		known = known.plus(tokensOf(u))
		hour += clip(u.CacheWrite1h.N)
		reasoning += clip(u.Reasoning.N)
		last[u.Model] = later(last[u.Model], u)
		final = later(final, u)
	}
	lacks := tokensOf(&sum).without(known)
	if lacks == (tokens{}) {
		return
	}
	hour = clip(sum.CacheWrite1h.N) - hour
	complete := func(u transcript.Usage, by tokens) {
		long := max(0, min(by[3], hour))
		hour -= long
		u.Run, u.Conversation, u.Origin = r.run, r.conversation, l.origin
		add(&u.Input, by[0])
		add(&u.Output, by[1])
		add(&u.CacheRead, by[2])
		add(&u.CacheWrite, by[3]-long)
		add(&u.CacheWrite1h, long)
		r.emitUsage(l, &u)
	}
	if final == nil {
		final = &transcript.Usage{Key: "result " + resultID(l), Time: l.now, Model: r.modelOf(tokensOf(&sum), models), Tier: sum.Tier, Speed: sum.Speed, Geo: sum.Geo}
	}
	delete(last, final.Model)
	rests, _ := s.beyond(models)
	for _, model := range slices.Sorted(maps.Keys(last)) {
		name := modelIn(models, model)
		by := lacks.without(lacks.without(rests[name])) // no more than either
		if by != (tokens{}) {
			complete(*last[model], by)
			lacks, rests[name] = lacks.without(by), rests[name].without(by)
		}
	}
	u := *final
	add(&u.Reasoning, clip(sum.Reasoning.N)-reasoning)
	complete(u, lacks)
}

// later returns which of two requests was stated later.
func later(u, v *transcript.Usage) *transcript.Usage {
	if u != nil && u.Origin.Offset > v.Origin.Offset {
		return u
	}
	return v
}

func add(to *transcript.Count, n int64) {
	if n > 0 {
		*to = transcript.Known(to.N + n)
	}
}

// restOfModels yields, for each model, what a result's sums have beyond the sums of the result before and the requests since then: what
// sub-agents answered, and requests that are in no line (titles, summaries of pages).
func (r *reader) restOfModels(l *line, now map[string]tokens, kept bool) {
	s := &r.stream.sums
	rests, ok := s.beyond(now)
	if !ok {
		return // what is missing to which sum is unknown
	}
	all := tokens{}
	for _, rest := range rests {
		all = all.plus(rest)
	}
	// The first sums may include all that the session has used before, which other streams state: of several such rests the smallest
	// counts, even if it is nothing, and none if one of the streams has no sums (resolveStreams).
	conversation, key := r.conversation, "rest "+resultID(l)
	if s.models == nil && kept {
		conversation, key = restPrefix+strings.TrimPrefix(r.conversation, streamPrefix), "first "+key
		r.out.Emit(&transcript.Conversation{ID: conversation, Run: r.run, Silent: true, Order: fmt.Sprintf("%020d", all.total())})
	}
	for _, name := range slices.Sorted(maps.Keys(rests)) {
		rest := rests[name]
		if rest == (tokens{}) {
			continue
		}
		r.out.Emit(&transcript.Usage{
			Run: r.run, Conversation: conversation, Time: l.now, Origin: l.origin, Model: name, Attributes: transcript.Attributes{"of": "rest"},
			Key: key + " " + name, Rank: rest.total(), Requests: transcript.Known(0),
			Input: transcript.Known(rest[0]), Output: transcript.Known(rest[1]), CacheRead: transcript.Known(rest[2]), CacheWrite: transcript.Known(rest[3]),
		})
	}
}

// beyond returns what each of a result's sums has beyond that of the result before and the requests since then. It fails if the sum of one of
// these is unclear.
func (s *sums) beyond(now map[string]tokens) (rests map[string]tokens, ok bool) {
	known := map[string]tokens{}
	for _, u := range s.requests {
		name := modelIn(now, u.Model)
		if name == "" {
			return nil, false
		}
		known[name] = known[name].plus(tokensOf(u))
	}
	rests = map[string]tokens{}
	for name, sum := range now {
		rests[name] = sum.without(s.models[name]).without(known[name])
	}
	return rests, true
}

// keepsSums reports whether a version, if it resumes a session in a new process, goes on with the sums of that session. Earlier ones began
// at 0, the earliest of which wrote no uuid either.
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
