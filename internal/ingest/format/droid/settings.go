package droid

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// The keys of hints.
const (
	hintParent = "parent" // session that this one was forked from, or continues
	hintHead   = "head"   // id of the summary that the session begins with
	hintTotal  = "total"  // tokens so far, of one state of the settings
)

// The values of the attribute "of" of usage.
const (
	ofSession   = "session"   // total of a session
	ofInherited = "inherited" // no tokens: states that a session's total includes its parent's
)

// settings yields the records of the settings of a session.
func (p *parser) settings() {
	p.run = sessionOf(p.in.Path)
	doc, at := p.Document(p.in.Reader, p.problem)
	if !doc.Exists() {
		return
	}
	if !doc.IsObject() {
		p.problem(&transcript.Problem{Kind: "not settings", Reason: "no object", Origin: at})
		return
	}
	r := &transcript.Run{ID: p.run, Rank: rankSettings, Named: true, Model: modelOf(doc)}
	if ms, ok := doc.Get("assistantActiveTimeMs").Int(); ok && ms > 0 {
		r.Attributes.Set("active_ms", ms)
	}
	if archived := doc.Get("archivedAt"); archived.Exists() && !archived.IsNull() {
		r.Attributes.Set("archived", true)
	}
	r.Attributes.Set("tags", tagsOf(doc))
	p.Emit(r)
	p.Emit(&transcript.Event{
		Run: p.run, Verdict: transcript.Uncounted, Kind: transcript.KindNotice, Type: roleSettings, Origin: at,
		Parts: []transcript.Part{{Text: textOf(doc)}},
	})
	p.total(doc, at, r.Model)
}

// modelOf returns the model of a session. A router chooses it if it is "auto".
func modelOf(doc jsontext.Value) string {
	model := doc.Get("model").Str()
	if model == "" || model == "auto" {
		return cmp.Or(doc.Get("effectiveFactoryRouterModel", "modelId").Str(), doc.Get("effectiveFactoryRouterModel").Str(), model)
	}
	return model
}

// tagsOf returns the names of the tags, separated by commas.
func tagsOf(doc jsontext.Value) string {
	var names []string
	for v := range doc.Get("tags").Items() {
		if name := cmp.Or(v.Get("name").Str(), v.Str()); name != "" {
			names = append(names, name)
		}
	}
	return strings.Join(names, ",")
}

// total yields the tokens of the session so far. Of several states of the settings the highest counts.
func (p *parser) total(doc jsontext.Value, at transcript.Origin, model string) {
	stated := doc.Get("tokenUsage")
	if !stated.IsObject() && !doc.Get("childInclusiveTokenUsageBySessionId").IsObject() {
		stated = doc.Get("inclusiveTokenUsage") // without subagents it is the same
	}
	p.sessionTotal(stated, settingsKeys, at, model, transcript.Usage{Provider: doc.Get("providerLock").Str(), Time: doc.Get("providerLockTimestamp").Time()})
}

// tokenKeys are the names of token classes.
type tokenKeys struct{ input, output, cacheRead, cacheWrite, thinking string }

var (
	settingsKeys = tokenKeys{"inputTokens", "outputTokens", "cacheReadTokens", "cacheCreationTokens", "thinkingTokens"}
	outputKeys   = tokenKeys{"input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "thinking_tokens"}
)

// sessionTotal yields a total of the session, in which u has what else is stated.
func (p *parser) sessionTotal(stated jsontext.Value, keys tokenKeys, at transcript.Origin, model string, u transcript.Usage) {
	u.Run, u.Conversation, u.Key, u.Origin, u.Model, u.Attributes = p.run, p.run, sessionKey(p.run), at, model, transcript.Attributes{"of": ofSession}
	u.Input, u.Output = stated.Get(keys.input).Tokens(), stated.Get(keys.output).Tokens()
	u.CacheRead, u.CacheWrite = stated.Get(keys.cacheRead).Tokens(), stated.Get(keys.cacheWrite).Tokens()
	if u.Rank = u.Input.N + u.Output.N + u.CacheRead.N + u.CacheWrite.N; u.Rank == 0 {
		return
	}
	// Not every provider includes reasoning in the output.
	if thought := stated.Get(keys.thinking).Tokens(); thought.N <= u.Output.N {
		u.Reasoning = thought
	} else {
		u.Attributes["thinking_tokens"] = thought.N
	}
	if credits, ok := stated.Get("factoryCredits").Float(); ok && credits > 0 {
		u.Attributes["credits"] = credits
	}
	p.Hint(p.run, hintTotal, strconv.FormatInt(u.Rank, 10), at)
	p.Emit(&u)
}

func sessionKey(session string) string { return "session " + session }

// summarised reads the summary that a session begins with: its total may include that of its parent. Resolve decides.
func (p *parser) summarised(l *line) {
	if l.id != "" {
		p.Hint(p.run, hintHead, l.id, l.origin)
	}
	if p.forkedOf == "" || p.forkedOf == p.run {
		return
	}
	p.Emit(&transcript.Usage{
		Run: p.run, Conversation: p.run, Key: "inherited " + p.run, Alias: sessionKey(p.forkedOf), Time: l.at, Origin: l.origin,
		Input: transcript.Known(0), Output: transcript.Known(0), Requests: transcript.Known(0), Attributes: transcript.Attributes{"of": ofInherited},
	})
}
