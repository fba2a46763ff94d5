package shelley

import (
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// row yields the records of one row of a database.
func (p *parser) row(v jsontext.Value) {
	table, id := v.Get("table").Word(), v.Get("conversation_id").Text()
	if id == "" {
		p.NoSession()
		return
	}
	if p.Begin(id) {
		p.from = ""
	}
	switch table {
	case tableConversation:
		p.conversationRow(v)
	case tableMessage:
		p.emitConversation()
		p.message(v)
	default:
		p.NameRun()
		p.Uncounted(transcript.KindUnknown, table, transcript.Time{})
	}
}

// conversationRow yields what is known of a conversation. It does not by itself make a run that counts: a draft has no message.
//
// A sub-agent has a parent. So has a conversation of the user that goes on, after a summary, in the conversation that is called its parent.
func (p *parser) conversationRow(v jsontext.Value) {
	parent, started := v.Get("parent_conversation_id").Text(), v.Get("created_at").Time()
	child := parent != "" && !isTrue(v.Get("user_initiated"))
	run := &transcript.Run{
		ID: p.Session, Named: !p.Begun, Title: format.Title(v.Get("slug").Str()), Project: v.Get("cwd").Str(), Model: v.Get("model").Str(),
		Started: started, Child: child,
	}
	for _, o := range options {
		run.Attributes.Set(o, v.Get(o).Str())
	}
	for name, key := range map[string]string{"archived": "archived", "draft": "is_draft"} {
		if isTrue(v.Get(key)) {
			run.Attributes.Set(name, true)
		}
	}
	p.Emit(run)
	p.Named, p.Titled = true, run.Title != ""
	switch {
	case child:
		p.link("parent", parent, p.Session, parent)
	case parent != "":
		p.link("resume", p.Session, parent, parent)
	}
	p.Uncounted(transcript.KindLifecycle, "conversation", started)
}

// link yields an edge between the current run and another one, which it names.
func (p *parser) link(kind, from, to, other string) *transcript.Link {
	p.Emit(&transcript.Run{ID: other, Named: true})
	l := &transcript.Link{Kind: kind, From: transcript.RunEnd(from), To: transcript.RunEnd(to), Origin: p.Row.Origin}
	p.Emit(l)
	return l
}

// Resolve sets the fields of a conversation from what is known of its run.
func (shelley) Resolve(f *transcript.Family) {
	for _, c := range f.Conversations {
		c.Title, c.Project, c.Branch, c.Model, c.Child = f.Run.Title, f.Run.Project, f.Run.Branch, f.Run.Model, f.Run.Child
	}
}
