package grok

import (
	"cmp"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// document returns a file that is one object.
func (p *parser) document() (jsontext.Value, transcript.Origin, bool) {
	doc, at := p.Document(p.in.Reader, p.problem)
	if doc.Exists() && !doc.IsObject() {
		p.problem(&transcript.Problem{Kind: "not a session", Reason: "no object", Origin: at})
	}
	return doc, at, doc.IsObject()
}

// summary yields what summary.json states about a session.
func (p *parser) summary() {
	doc, at, ok := p.document()
	if !ok {
		return
	}
	kind := doc.Get("session_kind").Str()
	r := &transcript.Run{
		ID: p.run, Rank: rankSummary, Named: true, Child: strings.HasPrefix(kind, "subagent"),
		Title:   format.Title(cmp.Or(strings.TrimSpace(doc.Get("generated_title").Str()), doc.Get("session_summary").Str())),
		Project: cmp.Or(doc.Get("source_workspace_dir").Str(), doc.Get("info", "cwd").Str()), Branch: doc.Get("head_branch").Str(),
		Model: doc.Get("current_model_id").Str(), Started: doc.Get("created_at").Time(), Ended: doc.First("last_active_at", "updated_at").Time(),
	}
	if !r.Child { // a subagent is called by its type
		r.Agent = doc.Get("agent_name").Str()
	}
	r.Attributes.Set("git_commit", doc.Get("head_commit").Str())
	r.Attributes.Set("session_kind", kind)
	r.Attributes.Set("reasoning_effort", doc.Get("reasoning_effort").Str())
	r.Attributes.Set("worktree", doc.Get("worktree_label").Str())
	p.Emit(r)
	if parent := doc.Get("parent_session_id").Str(); parent != "" && parent != p.run {
		link := "fork"
		if strings.Contains(kind, "resume") {
			link = "resume"
		}
		p.Emit(&transcript.Link{Kind: link, From: transcript.RunEnd(parent), To: transcript.RunEnd(p.run), Time: doc.Get("forked_at").Time(), Origin: at})
	}
	p.note(doc, at, roleSummary)
}

// note yields an uncounted row with the text of a document.
func (p *parser) note(doc jsontext.Value, at transcript.Origin, typ string) {
	e := p.itemEvent(doc, doc, at, transcript.KindNotice, "")
	e.Type, e.Verdict = typ, transcript.Uncounted
	p.Emit(e)
}

// subagent yields what a session states about its subagent in a file of its own: sessions of all versions have it.
func (p *parser) subagent() {
	doc, at, ok := p.document()
	if !ok {
		return
	}
	p.Emit(&transcript.Run{ID: p.run, Named: true})
	if id := doc.Get("child_session_id").Str(); id != "" && id != p.run {
		p.emitChild(id, doc, transcript.Time{}, at)
	}
	p.note(doc, at, "meta")
}
