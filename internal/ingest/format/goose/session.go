package goose

import (
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/lazyregexp"
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
	if p.Begin(sessionID(id, v.Get("began").Str())) {
		p.nativeID, p.carried = id, false
	}
	switch {
	case table == tableSession:
		p.sessionRow(v, rankRows)
	case table == tableMessage:
		p.emitConversation(rankRows)
		p.message(v.Get("role").Word(), parseTime(v.Get("created_timestamp")), v.Get("content_json"), v.Get("metadata_json"), v.Get("message_id").Str())
	case table == tableThread:
		p.NameRun()
		p.Uncounted(transcript.KindNotice, "thread", parseTime(v.Get("created_timestamp")))
	case table == tableUsage:
		p.usage(v)
	default:
		p.NameRun()
		p.Uncounted(transcript.KindUnknown, table, transcript.Time{})
	}
}

// entry yields the records of a line of a session file: the metadata in the first line, or a message.
func (p *parser) entry(v jsontext.Value) {
	p.nativeID = p.Session
	switch {
	case v.Get("role").IsString():
		p.emitConversation(rankFile)
		p.message(v.Get("role").Word(), parseTime(v.Get("created")), v.Get("content"), v.Get("metadata"), v.Get("id").Str())
	case v.Get("message_count").Exists() || v.Get("description").Exists() || v.Get("working_dir").Exists():
		p.sessionRow(v, rankFile)
	default:
		p.Uncounted(transcript.KindUnknown, "", transcript.Time{})
	}
}

// placeholder matches the names that the program gives to sessions until a model has named them, which it can be told not to ask.
var placeholder = lazyregexp.New(`^(CLI Session|New session( [0-9]+)?)$`)

// sessionRow yields the metadata of a session. In a database it does not by itself make a run that counts: most sessions are created before
// their first message.
func (p *parser) sessionRow(v jsontext.Value, rank int) {
	title, model, mode := v.Get("name").Str(), modelOf(v.Get("model_config_json")), v.Get("goose_mode").Str()
	if title == "" {
		title = v.Get("description").Str()
	}
	if placeholder.MatchString(title) {
		title = ""
	}
	parent, typ := v.Get("parent_session_id").Text(), v.Get("session_type").Str()
	started := v.Get("began").Time()
	run := &transcript.Run{
		ID: p.Session, Rank: rank, Named: rank == rankRows && !p.Begun, Title: format.Title(title), Project: v.Get("working_dir").Str(), Model: model,
		Started: started, Child: parent != "" || typ == "sub_agent",
	}
	for name, value := range map[string]string{"type": typ, "schedule": v.Get("schedule_id").Str(), "mode": mode, "provider": v.Get("provider_name").Str()} {
		run.Attributes.Set(name, value)
	}
	p.Emit(run)
	p.Titled = run.Title != ""
	if parent != "" {
		of := sessionID(parent, v.Get("parent_began").Str())
		p.Emit(&transcript.Run{ID: of, Named: true})
		p.Emit(&transcript.Link{Kind: "parent", From: transcript.RunEnd(of), To: transcript.RunEnd(p.Session), Origin: p.Row.Origin})
	}
	p.Uncounted(transcript.KindLifecycle, "session", started)
	p.sessionTotal(v, model, started)
}

// modelOf returns the model in a model configuration.
func modelOf(config jsontext.Value) string {
	if name := config.Get("model_name").Str(); name != "" {
		return name
	}
	return config.Inside().Get("model_name").Str()
}

// Resolve sets the fields of a conversation from the metadata of its session.
func (goose) Resolve(f *transcript.Family) {
	mode, _ := f.Run.Attributes["mode"].(string)
	for _, c := range f.Conversations {
		c.Title, c.Project, c.Model, c.Mode, c.Child = f.Run.Title, f.Run.Project, f.Run.Model, mode, f.Run.Child
	}
}
