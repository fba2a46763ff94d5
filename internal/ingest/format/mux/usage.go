package mux

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// splitModel splits "anthropic:claude-opus-4-8", or "mux-gateway:anthropic/claude-opus-4-8", into provider and model.
func splitModel(s string) (provider, model string) {
	provider, model, ok := strings.Cut(s, ":")
	if !ok {
		return "", s
	}
	if real, name, ok := strings.Cut(model, "/"); ok && strings.HasSuffix(provider, "-gateway") {
		return real, name
	}
	return provider, model
}

// usage yields the requests of an answer, which states their sum, and those of its tools.
func (p *parser) usage(v, meta jsontext.Value) {
	if p.isDuplicate {
		return
	}
	key := cmp.Or(p.id, p.Session+" #"+strconv.Itoa(p.Row.Origin.Line))
	if u := p.requests(meta, key, p.at); u != nil {
		u.Status = meta.Get("finishReason").Word()
		p.Emit(u)
	}
	for n, tool := range meta.Get("toolModelUsages").Numbered() {
		id := cmp.Or(tool.Get("toolCallId").Str(), "#")
		u := p.requests(tool, key+"/"+id+"/"+strconv.Itoa(n), cmp.Or(tool.Get("timestamp").MilliTime(), p.at))
		if u != nil {
			u.Attributes.Set("of", tool.Get("toolName").Str())
			p.Emit(u)
		}
	}
}

// headless yields a request without a message: for a title, a status or a memory.
func (p *parser) headless(v jsontext.Value) {
	at := v.Get("timestamp").MilliTime()
	p.NameRun()
	h := fnv.New64a()
	h.Write(v.Raw())
	if u := p.requests(v, fmt.Sprintf("%s/headless/%016x", p.Session, h.Sum64()), at); u != nil {
		u.Attributes.Set("of", v.Get("source").Str())
		p.Emit(u)
	}
	e := p.Event(transcript.KindLifecycle, "", roleHeadless, cmp.Or(v.Get("source"), v))
	e.Run, e.Verdict, e.Time = p.Session, transcript.Uncounted, at
	p.Emit(e)
}

// requests returns what requests used, with the members usage, model and providerMetadata of v; nil if nothing. The prompt includes the cache, except in
// early statements of Anthropic's models.
func (p *parser) requests(v jsontext.Value, key string, at transcript.Time) *transcript.Usage {
	n, more := v.Get("usage"), v.Get("providerMetadata")
	u := &transcript.Usage{
		Run: p.Session, Conversation: p.Session, Key: key, Time: at, Origin: jsontext.OriginIn(p.Row.Origin, p.Row.Value, n), Agent: p.head.Agent,
		Input: n.Get("inputTokens").Tokens(), Output: n.Get("outputTokens").Tokens(), CacheRead: n.Get("cachedInputTokens").Tokens(),
		CacheWrite: more.Get("anthropic", "cacheCreationInputTokens").Tokens(), Reasoning: n.Get("reasoningTokens").Tokens(),
	}
	if !n.IsObject() {
		return nil
	}
	u.Provider, u.Model = splitModel(v.Get("model").Str())
	format.ExcludeCache(u)
	if u.Output.Known && u.Reasoning.N > u.Output.N { // early statements of Google's models have it apart
		u.Output.N = min(u.Output.N, 1<<50) + min(u.Reasoning.N, 1<<50)
	}
	u.Reasoning.N = min(u.Reasoning.N, u.Output.N)
	if ticks := more.Get("xai", "costInUsdTicks").Tokens(); ticks.N > 0 { // tens of billions in a dollar
		u.Cost, u.CostSource = transcript.Known(ticks.N/10), "xai.costInUsdTicks"
	}
	if u.Input.N+u.Output.N+u.CacheRead.N+u.CacheWrite.N == 0 && !u.Cost.Known {
		return nil
	}
	return u
}
