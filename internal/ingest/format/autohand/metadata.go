package autohand

import (
	"cmp"
	"io"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// hintParent has the session that a session was forked from.
const hintParent = "parent"

// metadata yields what the program knows of a session: it writes that anew with each message.
func (p *parser) metadata(file io.Reader) {
	v, origin := p.Document(file, p.SessionProblem)
	if !v.IsObject() {
		if v.Exists() {
			p.SessionProblem(&transcript.Problem{Kind: "no session", Reason: "the file is no object", Origin: origin})
		}
		return
	}
	run := &transcript.Run{
		ID: p.Session, Project: v.Get("projectPath").Str(), Model: v.Get("model").Str(), Title: format.Title(v.Get("title").Str()),
		Status: v.Get("status").Str(), Started: v.Get("createdAt").Time(), Ended: v.Get("closedAt").Time(),
	}
	run.Outcome = statusOf(run.Status)
	run.Attributes.Set("client", v.Get("client").Str())
	run.Attributes.Set("type", v.Get("type").Str())
	if from := v.Get("importedFrom", "source").Str(); from != "" {
		run.Attributes.Set("imported", from+" "+v.Get("importedFrom", "originalId").Str())
	}
	p.Emit(run)
	parent := v.Get("branch", "sourceSessionId").Str()
	if parent != "" {
		p.Hint(p.Session, hintParent, parent, origin)
		p.Emit(&transcript.Link{
			Kind: "fork", From: transcript.RunEnd(parent), To: transcript.RunEnd(p.Session), Time: v.Get("branch", "createdAt").Time(), Origin: origin,
		})
	}
	p.usage(v, parent, origin)
}

// usage yields the sums of a session.
func (p *parser) usage(v jsontext.Value, parent string, origin transcript.Origin) {
	used := v.Get("usage")
	u := &transcript.Usage{
		Run: p.Session, Conversation: conversation, Origin: origin, Key: cmp.Or(parent, p.Session), Time: used.Get("updatedAt").Time(), Model: v.Get("model").Str(),
		Input: used.Get("promptTokens").Tokens(), Output: used.Get("completionTokens").Tokens(),
	}
	if u.Rank = u.Input.N + u.Output.N; u.Rank == 0 {
		return
	}
	if used.Get("tokenUsageStatus").Is("unavailable") { // for some of its requests
		u.Attributes.Set("incomplete", true)
	}
	p.Emit(u)
}

// Resolve sets the fields of a conversation from what is known of its run, and leaves out the sums of a fork of a fork: what they begin with is in those of
// the one that both are from.
func (autohand) Resolve(f *transcript.Family) {
	format.InheritRun(f)
	parent := ""
	for _, h := range f.Hints {
		if h.Key == hintParent {
			parent = max(parent, h.Value)
		}
	}
	for _, u := range f.Usage {
		u.Verdict = transcript.Counted
		for _, h := range f.Related[parent] {
			if h.Key == hintParent {
				u.Verdict = transcript.DerivedTotal
			}
		}
	}
}

// ResolvesUsage makes the format a format.UsageResolver.
func (autohand) ResolvesUsage() {}
