package cortexcode

import (
	"io"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// parser is one parse of one file.
type parser struct {
	format.Rows
	started, ended transcript.Time
	tools          map[string]string // names, by the ids of calls
	seen           map[string]int    // messages, by their ids and by what they say
}

// conversation is the id of the only conversation in a session.
const conversation = "main"

// session yields what is noted about a session, and its messages if they are with it.
func (p *parser) session(file io.Reader) {
	v, at := p.Document(file, p.SessionProblem)
	if !v.Exists() {
		return
	}
	if !v.Get("session_id").IsString() && !v.Get("history").IsArray() {
		p.SessionProblem(&transcript.Problem{Kind: "not a session", Reason: "there are neither an id nor messages", Origin: at})
		return
	}
	run := &transcript.Run{
		ID: p.Session, Named: !v.Get("history").HasItems(), Rank: rankSession, Project: v.First("working_directory", "git_root").Str(), Branch: v.Get("git_branch").Str(),
		Agent: v.First("subagent_name", "subagent_type").Str(), Started: v.First("created_at", "creationDate").TimeOrMilli(),
		Ended: v.First("last_updated", "lastMessageDate").TimeOrMilli(),
	}
	if title := v.Get("title").Str(); !strings.HasPrefix(title, "Chat for session:") {
		run.Title = format.Title(title)
		p.Titled = run.Title != ""
	}
	run.Attributes.Set("connection", v.Get("connection_name").Str())
	run.Attributes.Set("session_type", v.Get("session_type").Str())
	p.Emit(run)
	if run.Named {
		return
	}
	p.Begun = true
	p.Emit(&transcript.Conversation{ID: conversation, Run: p.Session, Rank: rankInside})
	p.Row = jsontext.Object{Origin: at, Value: v}
	for m := range v.Get("history").Items() {
		if p.Done() {
			return
		}
		p.Within(m, p.message)
	}
}

// history yields the messages of a session.
func (p *parser) history(file io.Reader) {
	p.EachRow(file, func(v jsontext.Value) {
		if !p.Begun {
			p.Begun = true
			p.emitSession()
		}
		p.message(v)
	})
	if p.Begun && !p.Done() {
		p.emitSession()
	}
}

func (p *parser) emitSession() {
	p.Emit(&transcript.Run{ID: p.Session, Rank: rankHistory, Started: p.started, Ended: p.ended})
	p.Emit(&transcript.Conversation{ID: conversation, Run: p.Session, Rank: rankApart, Started: p.started, Ended: p.ended})
}
