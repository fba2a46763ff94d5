package grok

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// hintIncludes says that a turn includes the tokens of a subagent:
// "<session>\t<start in microseconds>\t<end>\t<tokens of the turn>".
const hintIncludes = "includes"

// child is a subagent, as the session that started it knows it.
type child struct {
	prompt         string // turn that started it
	started, ended transcript.Time
	done           bool
}

// subagentUpdate yields the link to a subagent, and notes when it was started and ended.
func (l *log) subagentUpdate(u update) {
	id := u.value.Get("child_session_id").Str()
	switch c := l.children[id]; {
	case id == "" || id == l.run:
	case u.kind == "subagent_finished":
		c.ended, c.done = u.at, true
		l.children[id] = c
	default:
		l.children[id] = child{prompt: u.value.Get("parent_prompt_id").Str(), started: u.at}
		l.emitChild(id, u.value, u.at, u.origin)
	}
	l.uncounted(u, transcript.KindLifecycle)
}

// emitChild yields what a session states about its subagent, and the link to it. In a fork it is still that of the first session.
func (p *parser) emitChild(id string, v jsontext.Value, at transcript.Time, origin transcript.Origin) {
	p.Emit(&transcript.Run{
		ID: id, Named: true, Child: true, Rank: rankUpdates, Title: format.Title(v.Get("description").Str()), Agent: v.Get("subagent_type").Str(),
		Model: v.First("effective_model_id", "model").Str(),
	})
	parent := cmp.Or(v.Get("parent_session_id").Str(), p.run)
	p.Emit(&transcript.Link{Kind: "parent", From: transcript.RunEnd(parent), To: transcript.RunEnd(id), Time: at, Origin: origin})
}

// turn yields the end of a turn, and its usage by model.
func (l *log) turn(u update) {
	kind := transcript.KindLifecycle
	if u.value.Get("stop_reason").Is("error") {
		kind = transcript.KindError
	}
	l.uncounted(u, kind)
	total := u.value.Get("usage")
	prompt := u.value.Get("prompt_id").Str()
	models := 0
	for model, v := range total.Get("modelUsage").Fields() {
		models++
		l.usage(u, v, total, prompt, model)
	}
	if models == 0 {
		l.usage(u, total, total, prompt, l.model)
	}
	if prompt == "" || !total.IsObject() {
		return
	}
	tokens := total.Get("inputTokens").Tokens().N + total.Get("outputTokens").Tokens().N
	for _, id := range slices.Sorted(maps.Keys(l.children)) {
		if c := l.children[id]; c.done && c.prompt == prompt {
			l.Hint(l.run, hintIncludes, fmt.Sprintf("%s\t%d\t%d\t%d", id, c.started.UnixMicro, c.ended.UnixMicro, tokens), u.origin)
			delete(l.children, id)
		}
	}
}

// usage yields the tokens of one model in a turn. Input includes what was read from the cache or written to it. The cost is left out where the
// program says that it is not all: it removes it itself.
func (l *log) usage(u update, v, total jsontext.Value, prompt, model string) {
	read, written := v.Get("cachedReadTokens").Tokens(), v.Get("cacheCreationTokens").Tokens()
	r := &transcript.Usage{
		Run: l.run, Time: u.at, Origin: u.origin, Model: model, Input: v.Get("inputTokens").Tokens(), Output: v.Get("outputTokens").Tokens(),
		CacheRead: read, CacheWrite: written, Reasoning: v.Get("reasoningTokens").Tokens(), Requests: v.Get("modelCalls").Tokens(),
	}
	if r.Input.N+r.Output.N == 0 {
		return
	}
	r.CacheRead.N = min(read.N, r.Input.N)
	r.CacheWrite.N = min(written.N, r.Input.N-r.CacheRead.N)
	r.Rank = format.AtHome(r.Input.N+r.Output.N, u.home) // before what a fork has copied
	r.Input.N -= r.CacheRead.N + r.CacheWrite.N
	r.Reasoning.N = min(r.Reasoning.N, r.Output.N)
	switch id := prompt; {
	case id != "":
		r.Key = id + " " + model
	case u.id != "":
		r.Key = u.id + " " + model
	}
	partial := false
	for _, x := range []jsontext.Value{v, total} {
		partial = partial || x.Get("costIsPartial").Bool() == transcript.Yes || x.Get("usageIsIncomplete").Bool() == transcript.Yes
	}
	if ticks, ok := v.Get("costUsdTicks").Int(); ok && ticks > 0 && !partial { // of 10^-10 dollars
		r.Cost, r.CostSource = transcript.Known(ticks/10+ticks%10/5), "costUsdTicks"
	}
	if total.Get("usageIsIncomplete").Bool() == transcript.Yes {
		r.Attributes = transcript.Attributes{"incomplete": true}
	}
	l.Emit(r)
}

// Resolve sets the fields of a conversation from summary.json, and marks the tokens of a subagent that a turn of its parent includes.
func (grok) Resolve(f *transcript.Family) {
	format.InheritRun(f)
	var spans []included
	for _, hints := range f.Related {
		for _, h := range hints {
			if s, ok := readIncluded(h); ok && s.id == f.Run.ID {
				spans = append(spans, s)
			}
		}
	}
	for _, u := range f.Usage {
		if slices.ContainsFunc(spans, func(s included) bool { return s.has(u) }) {
			u.Verdict = transcript.DuplicateOf
		}
	}
}

// ResolvesUsage makes the format a format.UsageResolver.
func (grok) ResolvesUsage() {}

// included is the time in which a subagent ran within a turn that includes its tokens.
type included struct {
	id                     string
	started, ended, tokens int64
}

func readIncluded(h *transcript.Hint) (s included, ok bool) {
	if h.Key != hintIncludes {
		return s, false
	}
	fields := strings.Split(h.Value, "\t")
	if len(fields) != 4 {
		return s, false
	}
	s.id = fields[0]
	for i, to := range []*int64{&s.started, &s.ended, &s.tokens} {
		n, err := strconv.ParseInt(fields[i+1], 10, 64)
		if err != nil {
			return s, false
		}
		*to = n
	}
	return s, true
}

// slack is how much later than its end, as its parent saw it, a subagent's turn may be written, in microseconds.
const slack = 2e6

// has reports whether a turn of the subagent was in this time. A turn with more tokens than the parent's is not in it.
func (s included) has(u *transcript.Usage) bool {
	at := u.Time.UnixMicro
	return at >= s.started && at <= s.ended+slack && u.Input.N+u.CacheRead.N+u.CacheWrite.N+u.Output.N <= s.tokens
}
