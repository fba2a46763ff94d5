package reasonix

import (
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// The keys of hints.
const (
	hintParent = "parent" // the session that this one is a fork of
	hintPrompt = "prompt" // where a prompt is: its place in the list @ milliseconds @ offset in the file
)

// document yields what a file beside the messages tells of a session.
func (p *parser) document(in format.Input) {
	v, at := p.Document(in.Reader, p.SessionProblem)
	if !v.Exists() {
		return
	}
	if !v.IsObject() && !(in.Role == roleState && v.IsArray()) {
		p.SessionProblem(&transcript.Problem{Kind: "not an object", Reason: "not what is noted about a session", Origin: at})
		return
	}
	p.Row = jsontext.Object{Origin: at, Value: v}
	switch in.Role {
	case roleMeta:
		p.meta(v)
	case roleBranch:
		p.branch(v)
	case roleAgent:
		p.agent(v)
	case roleTitles:
		titles(p, v)
		return
	default:
		p.NameRun()
	}
	_, kind, _ := strings.Cut(strings.TrimSuffix(in.Path[strings.LastIndexByte(in.Path, '/')+1:], ".json"), ".")
	p.Uncounted(transcript.KindNotice, kind[strings.LastIndexByte(kind, '.')+1:], transcript.Time{})
}

// meta yields what version 0 notes about a session. The sums in it are those of the ledger.
func (p *parser) meta(v jsontext.Value) {
	run := &transcript.Run{
		ID: p.Session, Named: true, Rank: rankMeta, Title: format.Title(v.Get("summary").Str()),
		Project: v.Get("workspace").Str(), Branch: v.Get("branch").Str(),
	}
	run.Attributes.Set("imported_from", v.Get("importedSource").Str())
	p.Emit(run)
}

// branch yields what the Go versions note about a session.
func (p *parser) branch(v jsontext.Value) {
	created := v.Get("created_at").Time()
	title := ""
	for _, key := range []string{"custom_title", "topic_title", "name"} {
		if title == "" {
			title = format.Title(v.Get(key).Str())
		}
	}
	run := &transcript.Run{
		ID: p.Session, Named: true, Rank: rankBranch, Title: title, Child: p.facts.Child,
		Project: v.Get("workspace_root").Str(), Model: v.Get("model").Word(), Started: created, Ended: v.Get("updated_at").Time(),
	}
	run.Attributes.Set("mode", v.Get("mode").Str())
	run.Attributes.Set("recovered", v.Get("recovery_reason").Str())
	p.Emit(run)
	if title == "" {
		p.TitleFrom(v.Get("preview").Str(), format.PromptRank(created))
	}
	p.fork(v.Get("parent_id").Str(), created)
}

// agent yields what the Go versions note about a sub-agent.
func (p *parser) agent(v jsontext.Value) {
	started := v.Get("createdAt").Time()
	run := &transcript.Run{
		ID: p.Session, Named: true, Child: true, Rank: rankBranch, Agent: v.Get("name").Str(), Status: v.Get("status").Word(),
		Project: v.Get("workspaceRoot").Str(), Model: v.Get("model").Word(), Started: started, Ended: v.Get("updatedAt").Time(),
	}
	run.Attributes.Set("kind", v.Get("kind").Word())
	p.Emit(run)
	if parent := v.Get("parentSession").Str(); parent != "" && parent != p.Session {
		link := p.link("parent", parent, started)
		link.Attributes.Set("call", v.Get("parentToolCallId").Str())
		p.Emit(link)
	}
	p.fork(v.Get("forkedFrom").Str(), started)
}

func (p *parser) fork(parent string, at transcript.Time) {
	if parent == "" || parent == p.Session {
		return
	}
	p.Emit(p.link("fork", parent, at))
	p.Hint(p.Session, hintParent, parent, p.Row.Origin)
}

func (p *parser) link(kind, from string, at transcript.Time) *transcript.Link {
	return &transcript.Link{
		Kind: kind, From: transcript.RunEnd(from), To: transcript.RunEnd(p.Session), Time: at, Origin: p.Row.Origin,
	}
}

// titles yields the titles of sessions that were taken over from version 0.
func titles(p *parser, v jsontext.Value) {
	for name, title := range v.Fields() {
		if id := strings.TrimSuffix(name, ".jsonl"); id != "" && !title.IsBlank() {
			p.Emit(&transcript.Run{ID: id, Named: true, Rank: rankMeta, Title: format.Title(title.Str())})
		}
	}
}

// archived yields a message that a compaction has removed. It does not count: the file does not say of which session, which
// has it still, or had it when it was archived.
func (p *parser) archived(v jsontext.Value) {
	kind := transcript.KindUnknown
	if isKnown(v.Get("role").Word()) {
		kind = transcript.KindNotice
	}
	p.Uncounted(kind, v.Get("role").Word(), v.Get("createdAt").MilliTime())
}
