package rovodev

import (
	"cmp"
	"path"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// parser is one parse of one file.
type parser struct {
	format.Rows
	run          transcript.Run
	instructions jsontext.Value    // of the last request that states some
	tools        map[string]string // names, by the ids of calls
	seen         map[string]int    // parts, by what identifies them
	number       int               // of the current message
}

// conversation is the id of the only conversation in a session.
const conversation = "main"

// context yields the messages of a session.
func (p *parser) context(in format.Input) {
	v, at := p.Document(in.Reader, p.SessionProblem)
	if !v.Exists() {
		return
	}
	if !isDirectory(in.Path) {
		p.Session = cmp.Or(v.Get("id").Str(), p.Session)
	}
	history := v.First("message_history", "messages")
	if !history.IsArray() && !v.Get("id").IsString() {
		p.SessionProblem(&transcript.Problem{Kind: "not a session", Reason: "there are neither messages nor an id", Origin: at})
		return
	}
	p.Row = jsontext.Object{Origin: at, Value: v}
	p.run = transcript.Run{ID: p.Session, Rank: rankContext, Named: !history.HasItems(), Project: v.Get("workspace_path").Str()}
	p.run.Attributes.Set("subagent_call", v.Get("subagent_tool_call_id").Str())
	p.emitRun()
	p.TitleFrom(unreminded(v.Get("initial_prompt").Str()), format.PromptRank(v.Get("timestamp").UnixTime()))
	for key, member := range v.Fields() {
		switch {
		case history.Exists() && member.Offset() == history.Offset():
			p.history(history)
		case key == "deps" || key == "deferred_results":
			p.beside(key, member)
		case (key == "initial_prompt" || key == "prompts" || key == "latest_result") && p.run.Named: // else they repeat messages
			p.beside(key, member)
		}
	}
	if !p.run.Started.Valid {
		p.run.Started = v.Get("timestamp").UnixTime()
	}
	p.emitRun()
	p.total(v.Get("usage"))
}

func (p *parser) history(history jsontext.Value) {
	for n, message := range history.Numbered() {
		if p.Done() {
			return
		}
		p.number = n
		p.Within(message, p.message)
	}
}

// emitRun yields the run and its conversation. A session without messages does not count; when it was cleared, it replaces what
// it was before.
func (p *parser) emitRun() {
	run := p.run
	p.Begun = !run.Named
	p.Emit(&run)
	p.Emit(&transcript.Conversation{
		ID: conversation, Run: run.ID, Silent: run.Named, Project: run.Project, Model: run.Model,
		Started: run.Started, Ended: run.Ended,
	})
}

// beside yields what a session has beside its messages.
func (p *parser) beside(name string, v jsontext.Value) {
	if len(textOf(v)) > 0 {
		p.Within(v, func(jsontext.Value) { p.Uncounted(transcript.KindNotice, name, transcript.Time{}) })
	}
}

// metadata yields what is noted about a session.
func (p *parser) metadata(in format.Input) {
	v, at := p.Document(in.Reader, p.SessionProblem)
	if !v.Exists() {
		return
	}
	if !v.IsObject() {
		p.SessionProblem(&transcript.Problem{Kind: "not a session", Reason: "no object", Origin: at})
		return
	}
	p.Row = jsontext.Object{Origin: at, Value: v}
	rank := rankMetadata
	if path.Base(path.Dir(sessionsOf(in.Path))) == newHome {
		rank = rankMoved
	}
	p.Emit(&transcript.Run{
		ID: p.Session, Rank: rank, Named: true, Title: format.Title(v.Get("title").Str()),
		Project: v.First("workspace_path", "workspacePath").Str(),
	})
	p.Uncounted(transcript.KindNotice, roleMetadata, transcript.Time{})
	parent := cmp.Or(v.Get("fork_data", "parent_session_id").Str(), v.Get("parent_session_id").Str())
	if parent == "" || parent == p.Session {
		return
	}
	p.Emit(&transcript.Run{ID: parent, Named: true})
	p.Emit(&transcript.Link{Kind: "fork", From: transcript.RunEnd(parent), To: transcript.RunEnd(p.Session), Origin: at})
}
