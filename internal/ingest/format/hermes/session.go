package hermes

import (
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// row yields the records of one row of a database.
func (p *parser) row(v jsontext.Value) {
	table, id := v.Get("table").Word(), v.Get("session_id").Text()
	if table == tableSession {
		id = v.Get("id").Text()
	}
	if id == "" {
		p.NoSession()
		return
	}
	p.enter(id)
	switch table {
	case tableSession:
		p.facts(v)
		p.Uncounted(transcript.KindLifecycle, "session", v.Get("started_at").TimeOrUnix())
		p.sessionTotal(v)
	case tableUsage:
		p.NameRun()
		p.modelUsage(v)
	case tablePrompt:
		p.NameRun()
		p.Uncounted(transcript.KindSystem, "system prompt", v.Get("started_at").TimeOrUnix())
	case tableMessage:
		p.emitConversation()
		p.message(v)
	default:
		p.NameRun()
		p.Uncounted(transcript.KindUnknown, table, transcript.Time{})
	}
}

// logLine yields the records of a line of a transcript: what the session was given, or a message.
func (p *parser) logLine(v jsontext.Value) {
	switch {
	case v.Get("role").Is("session_meta"):
		p.emitConversation()
		run := &transcript.Run{ID: p.Session, Rank: rankFile, Model: v.Get("model").Str(), Started: v.Get("timestamp").TimeOrUnix()}
		run.Attributes.Set("source", v.Get("platform").Str())
		p.Emit(run)
		p.Uncounted(transcript.KindLifecycle, "session_meta", run.Started)
	case v.Get("role").IsString():
		p.emitConversation()
		p.message(v)
	default:
		p.emitConversation()
		p.Uncounted(transcript.KindUnknown, "", transcript.Time{})
	}
}

// snapshot yields the records of a document with all messages of a session.
func (p *parser) snapshot() {
	p.enter(strings.TrimPrefix(format.Stem(p.in.Path), snapshotPrefix))
	doc, at := p.Document(p.in.Reader, p.SessionProblem)
	if !doc.Exists() {
		return
	}
	p.Row = jsontext.Object{Origin: at, Value: doc}
	messages := doc.Get("messages")
	if !messages.IsArray() {
		p.Emit(&transcript.Problem{Run: p.Session, Kind: "no messages", Reason: "the document has no list of messages", Origin: at})
		return
	}
	if id := doc.Get("session_id").Str(); id != "" {
		p.enter(id)
	}
	p.emitConversation()
	run := &transcript.Run{ID: p.Session, Rank: rankFile, Model: doc.Get("model").Str(), Started: doc.Get("session_start").TimeOrUnix(), Ended: doc.Get("last_updated").TimeOrUnix()}
	run.Attributes.Set("source", doc.Get("platform").Str())
	p.Emit(run)
	p.messages(messages)
}

// exported yields the records of a session in an export.
func (p *parser) exported(v jsontext.Value) {
	id := v.Get("id").Text()
	if id == "" {
		p.Emit(&transcript.Problem{Run: p.Session, Kind: "no session", Reason: "the line names no session", Origin: p.Row.Origin})
		return
	}
	p.enter(id)
	if v.Get("messages").HasItems() {
		p.emitConversation()
	}
	p.facts(v)
	p.Uncounted(transcript.KindLifecycle, "session", v.Get("started_at").TimeOrUnix())
	p.sessionTotal(v)
	p.messages(v.Get("messages"))
}

// messages yields the records of messages in the current value.
func (p *parser) messages(all jsontext.Value) {
	for item := range all.Items() {
		if p.Done() {
			return
		}
		p.Within(item, p.message)
	}
}

// facts yields what is known of a session. In a database it does not by itself make a run that counts: a session may be created before
// its first message, and it stays when its messages are deleted.
func (p *parser) facts(v jsontext.Value) {
	of := relationOf(v)
	run := &transcript.Run{
		ID: p.Session, Rank: p.rank(), Named: !p.Begun, Title: format.Title(v.Get("title").Str()), Project: v.First("git_repo_root", "cwd").Str(), Branch: v.Get("git_branch").Str(),
		Group: v.Get("session_key").Str(), Model: v.Get("model").Str(), Status: v.Get("end_reason").Str(), Started: v.Get("started_at").TimeOrUnix(), Ended: v.Get("ended_at").TimeOrUnix(), Child: of.child,
	}
	for name, key := range map[string]string{"source": "source", "profile": "profile_name", "chat_type": "chat_type", "chat": "display_name"} {
		run.Attributes.Set(name, v.Get(key).Str())
	}
	for _, name := range []string{"archived", "pinned"} {
		if n, _ := v.Get(name).Int(); n != 0 {
			run.Attributes.Set(name, true)
		}
	}
	run.Attributes.Set("effort", v.Get("reasoning_config", "effort").Str())
	p.Named, p.hasTitle = true, run.Title != ""
	p.Emit(run)
	if of.session != "" && of.session != p.Session {
		if p.in.Role == roleRows { // an export may have the other session, too
			p.Emit(&transcript.Run{ID: of.session, Named: true})
		}
		p.Emit(&transcript.Link{Kind: of.kind, From: transcript.RunEnd(of.session), To: transcript.RunEnd(p.Session), Origin: p.Row.Origin})
	}
}

// relation is what a session is to another one.
type relation struct {
	session string // the other one
	kind    string // of the link
	child   bool   // it was started by an agent
}

// orphaned stands for a parent that the program had forgotten when it began to record parents.
const orphaned = "__orphaned__"

// relationOf tells what a session is to its parent. The program copies a session's configuration to the session that goes on from it, so a
// marker that names another session than the parent was inherited: what goes on from a sub-agent is one, too.
func relationOf(v jsontext.Value) relation {
	parent, ended := v.Get("parent_session_id").Str(), v.Get("parent_end_reason").Str()
	marker := func(name string) string {
		if s := v.Get(name).Str(); s != "" {
			return s
		}
		return v.Get("model_config").Unwrap().Get("_" + name).Str() // in exports
	}
	delegate, branch, reset := marker("delegate_from"), marker("branched_from"), marker("reset_from")
	r := relation{session: parent, kind: "parent", child: delegate != "" || v.Get("source").Is("subagent")}
	switch {
	case parent == "" && delegate != "" && delegate != orphaned:
		r.session = delegate
	case parent == "" && branch != "":
		r.session, r.kind = branch, "fork"
	case parent == "", delegate == parent:
	case branch == parent, ended == "branched":
		r.kind = "fork"
	case ended == "compression":
		r.kind = "resume"
	case reset == parent, resets[ended]:
		r.kind = "reference"
	case !v.Get("parent_end_reason").Exists(): // an export does not say
		r.kind = "resume"
		if r.child {
			r.kind = "parent"
		}
	default:
		r.child = true
	}
	return r
}

// resets are the reasons for which a chat begins anew.
var resets = map[string]bool{
	"session_reset": true, "session_switch": true, "new_session": true, "idle": true, "daily": true, "suspended": true, "resume_pending_expired": true,
}

// Resolve sets the fields of a conversation from what is known of its session.
func (hermes) Resolve(f *transcript.Family) {
	for _, c := range f.Conversations {
		c.Title, c.Project, c.Branch, c.Model, c.Child = f.Run.Title, f.Run.Project, f.Run.Branch, f.Run.Model, f.Run.Child
	}
}
