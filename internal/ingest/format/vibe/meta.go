package vibe

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// The keys of hints.
const (
	hintFirst  = "first"  // id of the first message
	hintParent = "parent" // run that the session was forked from, or that it continues after a compaction
	hintModel  = "model"  // "<alias>\t<model>\t<provider>"
	hintActive = "active" // "<generation>\t<model>" that a session in the unified store uses; a subagent that states none has its parent's
	hintTotal  = "total"  // "<prompt tokens>\t<completion tokens>" so far, of one state of meta.json
)

// meta yields the records of a meta.json.
func (p *parser) meta() {
	doc, at := p.Document(p.in.Reader, p.problem)
	if !doc.Exists() {
		return
	}
	if !doc.IsObject() {
		p.problem(&transcript.Problem{Kind: "not a session", Reason: "no object", Origin: at})
		return
	}
	p.metadata(doc, at)
}

// metadata yields what the program states about a session.
func (p *parser) metadata(doc jsontext.Value, at transcript.Origin) {
	r := &transcript.Run{
		ID: p.run, Rank: rankMeta, Named: p.in.Role == roleMeta, Child: p.loc.parent != "", Title: format.Title(doc.Get("title").Str()),
		Agent: doc.Get("agent_profile", "name").Str(), Branch: doc.Get("git_branch").Str(),
		Project: cmp.Or(doc.Get("origin_directory").Str(), doc.Get("environment", "working_directory").Str()),
		Started: doc.Get("start_time").Time(), Ended: doc.Get("end_time").Time(),
	}
	var alias, provider string
	alias, r.Model, provider = modelOf(doc)
	r.Attributes.Set("git_commit", doc.Get("git_commit").Str())
	p.Emit(r)
	p.parentLink(at)
	p.links(doc, at)
	if alias != "" && alias != r.Model {
		p.Hint(p.run, hintModel, alias+"\t"+r.Model+"\t"+provider, at)
	}
	p.Emit(&transcript.Event{
		Run: p.run, Verdict: transcript.Uncounted, Kind: transcript.KindNotice, Type: roleMeta, Time: r.Started, Origin: at,
		Parts: []transcript.Part{{Text: textOf(doc)}},
	})
	if p.loc.unified == "" {
		p.sessionUsage(doc, at, r, provider)
	}
}

// links yields links to the session that this one was forked from or continues, and to its subagents.
func (p *parser) links(doc jsontext.Value, at transcript.Origin) {
	if p.loc.unified != "" {
		p.unifiedLink("fork", doc.Get("parent_session_id").Str(), at)
		return
	}
	if parent := runOf(doc.Get("parent_session_id").Str()); parent != "" && parent != p.run && p.loc.parent == "" {
		p.Emit(&transcript.Link{Kind: "fork", From: transcript.RunEnd(parent), To: transcript.RunEnd(p.run), Origin: at})
		p.Hint(p.run, hintParent, parent, at)
	}
	for v := range doc.Get("child_sessions").Items() {
		child := runOf(v.Get("session_id").Str())
		if child == "" || child == p.run {
			continue
		}
		l := &transcript.Link{Kind: "parent", From: transcript.RunEnd(p.run), To: transcript.RunEnd(child), Origin: at}
		l.Attributes.Set("call", v.Get("tool_call_id").Str())
		p.Emit(l)
	}
}

// modelOf returns the model that a session uses, with its alias and its provider. The configuration names it by an alias; its list of models is an array or, in
// newer versions, an object by alias.
func modelOf(doc jsontext.Value) (alias, model, provider string) {
	config := doc.Get("config")
	if !config.IsObject() {
		config = doc.Get("agent_config")
	}
	alias = cmp.Or(config.Get("active_model").Str(), config.Get("active_model", "alias").Str())
	if alias == "" {
		return "", "", ""
	}
	found := config.Get("models", alias)
	for v := range config.Get("models").Items() {
		if v.Get("alias").Is(alias) || v.Get("name").Is(alias) {
			found = v
			break
		}
	}
	return alias, cmp.Or(found.Get("name").Str(), alias), found.Get("provider").Str()
}

// The values of the attribute "of" of usage that is a total of a session.
const (
	ofSession = "session" // counts for this session alone
	ofLineage = "lineage" // the same numbers, for all sessions that go on counting from one to the next
	ofUnified = "unified" // of a session in the unified store, up to the first state in a file
	ofRequest = "request" // one request of such a session: the difference of two sums
)

// setCounts sets the tokens of a request or a total. The prompt includes what was read from the cache.
func setCounts(u *transcript.Usage, prompt, completion, cached jsontext.Value) bool {
	u.Input, u.Output, u.CacheRead = prompt.Tokens(), completion.Tokens(), cached.Tokens()
	u.CacheRead.N = min(u.CacheRead.N, u.Input.N)
	u.Input.N -= u.CacheRead.N
	return u.Input.N+u.Output.N+u.CacheRead.N > 0
}

// sessionUsage yields the totals of the session, twice: Resolve decides which of the two counts, if any.
func (p *parser) sessionUsage(doc jsontext.Value, at transcript.Origin, r *transcript.Run, provider string) {
	stats := doc.Get("stats")
	u := transcript.Usage{Run: p.run, Conversation: p.loc.name, Time: r.Ended, Origin: at, Model: r.Model, Provider: provider}
	if !setCounts(&u, stats.Get("session_prompt_tokens"), stats.Get("session_completion_tokens"), stats.Get("session_cached_tokens")) {
		return
	}
	if u.Cost = stats.Get("session_cost").NanoUSD(); u.Cost.N > 0 {
		u.CostSource = "stats.session_cost"
	} else {
		u.Cost = transcript.Count{} // a model without a price in the configuration
	}
	id := cmp.Or(doc.Get("session_id").Str(), p.run)
	prompt, completion := strconv.FormatInt(promptOf(&u), 10), strconv.FormatInt(u.Output.N, 10)
	p.Hint(p.run, hintTotal, prompt+"\t"+completion, at)
	session, lineage := u, u
	session.Key = id + " " + doc.Get("end_time").Str() + " " + prompt + "/" + completion
	session.Attributes = transcript.Attributes{"of": ofSession}
	lineage.Key, lineage.Rank = "lineage "+id[strings.LastIndexByte(id, '-')+1:], promptOf(&u)+u.Output.N
	lineage.Attributes = transcript.Attributes{"of": ofLineage}
	for _, total := range []*transcript.Usage{&session, &lineage} {
		if steps, ok := stats.Get("steps").Int(); ok {
			total.Attributes["steps"] = steps
		}
		p.Emit(total)
	}
}

func promptOf(u *transcript.Usage) int64 { return u.Input.N + u.CacheRead.N }

// answerUsage yields the usage of a request, which some versions state with the answer.
func (p *parser) answerUsage(m *message) {
	u := &transcript.Usage{
		Run: p.run, Conversation: p.loc.name, Key: m.id, Time: m.at, Origin: m.origin, Model: m.model.Str(), Requests: transcript.Known(1),
	}
	if m.duplicate || !setCounts(u, m.usage.Get("prompt_tokens"), m.usage.Get("completion_tokens"), m.usage.Get("cached_tokens")) {
		return
	}
	if u.Key == "" {
		u.Key = p.run + " #" + strconv.FormatInt(m.origin.Offset, 10)
	}
	if cost := m.cost.NanoUSD(); cost.N > 0 {
		u.Cost, u.CostSource = cost, "cost"
	}
	p.Emit(u)
}
