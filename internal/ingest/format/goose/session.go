package goose

import (
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// row is one row of a database.
func (p *parser) row(v format.Value) {
	table, bare := v.Get("table").Word(), v.Get("session_id").Text()
	if table == tableSession {
		bare = v.Get("id").Text()
	}
	if bare == "" {
		p.Emit(&transcript.Problem{Run: p.session, Kind: "no session", Reason: "the row names no session", Origin: p.at})
		return
	}
	if id := sessionID(bare, v.Get("began").Str()); id != p.session {
		p.session, p.bare, p.spoken, p.met = id, bare, false, false
	}
	switch {
	case table == tableSession:
		p.known(v, rankRows)
	case table == tableMessage:
		p.speak(rankRows)
		p.message(v.Get("role").Word(), stamp(v.Get("created_timestamp")), v.Get("content_json"), v.Get("metadata_json"), v.Get("message_id").Str())
	case table == tableThread:
		p.named()
		p.aside(transcript.KindNotice, "thread", stamp(v.Get("created_timestamp")))
	case table == tableUsage:
		p.usage(v)
	default:
		p.named()
		p.aside(transcript.KindUnknown, table, transcript.Time{})
	}
}

// named says that the session is meant here, and no more.
func (p *parser) named() {
	if !p.spoken && !p.met {
		p.met = true
		p.Emit(&transcript.Run{ID: p.session, Named: true})
	}
}

// entry is a line of a file: what the program notes of the session, in the first line, or a message.
func (p *parser) entry(v format.Value) {
	p.bare = p.session
	switch {
	case v.Get("role").IsString():
		p.speak(rankFile)
		p.message(v.Get("role").Word(), stamp(v.Get("created")), v.Get("content"), v.Get("metadata"), v.Get("id").Str())
	case v.Get("message_count").Exists() || v.Get("description").Exists() || v.Get("working_dir").Exists():
		p.known(v, rankFile)
	default:
		p.aside(transcript.KindUnknown, "", transcript.Time{})
	}
}

// The hints that a session's own row gives its conversation.
const (
	hintTitle   = "title"
	hintProject = "project"
	hintModel   = "model"
	hintMode    = "mode"
	hintChild   = "child"
)

// known yields what the program notes of a session. In a database it is no run that counts by that: most are made before anybody says
// anything.
func (p *parser) known(v format.Value, rank int) {
	title, model, mode := v.Get("name").Str(), modelOf(v.Get("model_config_json")), v.Get("goose_mode").Str()
	if title == "" {
		title = v.Get("description").Str()
	}
	parent, typ := v.Get("parent_session_id").Text(), v.Get("session_type").Str()
	started := v.Get("began").Time()
	run := &transcript.Run{
		ID: p.session, Rank: rank, Named: rank == rankRows && !p.spoken, Title: format.Title(title), Project: v.Get("working_dir").Str(), Model: model,
		Started: started, Child: parent != "" || typ == "sub_agent",
	}
	for name, value := range map[string]string{"type": typ, "schedule": v.Get("schedule_id").Str(), "mode": mode, "provider": v.Get("provider_name").Str()} {
		run.Attributes.Set(name, value)
	}
	p.Emit(run)
	if parent != "" {
		of := sessionID(parent, v.Get("parent_began").Str())
		p.Emit(&transcript.Run{ID: of, Named: true})
		p.Emit(&transcript.Link{Kind: "parent", From: transcript.RunEnd(of), To: transcript.RunEnd(p.session), Origin: p.at})
	}
	p.hint(hintTitle, run.Title)
	p.hint(hintProject, run.Project)
	p.hint(hintModel, model)
	p.hint(hintMode, mode)
	if run.Child {
		p.hint(hintChild, "yes")
	}
	p.aside(transcript.KindLifecycle, "session", started)
	p.total(v, model, started)
}

func (p *parser) hint(key, value string) {
	if value != "" {
		p.Emit(&transcript.Hint{Run: p.session, Key: key, Value: value, Origin: p.at})
	}
}

// modelOf is the model that a configuration names.
func modelOf(config format.Value) string {
	if name := config.Get("model_name").Str(); name != "" {
		return name
	}
	return config.Inside().Get("model_name").Str()
}

// Resolve gives a conversation what the program notes of its session.
func (goose) Resolve(f *transcript.Family) {
	said := map[string]string{}
	for _, h := range f.Hints {
		said[h.Key] = max(said[h.Key], h.Value)
	}
	for _, c := range f.Conversations {
		c.Title, c.Project, c.Model, c.Mode = said[hintTitle], said[hintProject], said[hintModel], said[hintMode]
		c.Child = said[hintChild] != ""
	}
}
