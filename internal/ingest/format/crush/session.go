package crush

import (
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// row yields the records of one row of a database.
func (p *parser) row(v jsontext.Value) {
	table, id, parent := v.Get("table").Word(), v.Get("session_id").Text(), v.Get("parent").Text()
	if table == tableSession {
		id, parent = v.Get("id").Text(), v.Get("parent_session_id").Text()
	}
	if id == "" {
		p.NoSession()
		return
	}
	p.Begin(sessionID(id, parent))
	switch table {
	case tableSession:
		p.sessionRow(v, id, parent)
	case tableMessage:
		p.emitConversation()
		p.message(v)
	default:
		p.NameRun()
		p.Uncounted(transcript.KindUnknown, table, transcript.Time{})
	}
}

// placeholders are the titles of sessions until a model has found a better one, and of all sub-agents.
var placeholders = map[string]bool{"Untitled Session": true, "New Session": true, "New Agent Session": true}

// sessionRow yields the metadata of a session. It does not by itself make a run that counts: a session is created before its first message.
func (p *parser) sessionRow(v jsontext.Value, id, parent string) {
	title, started := format.Title(v.Get("title").Str()), parseTime(v.Get("created_at"))
	if placeholders[title] {
		title = ""
	}
	model, provider := modelOf(v.Get("models"))
	p.Named = true
	p.Emit(&transcript.Run{ID: p.Session, Named: !p.Begun, Title: title, Project: p.project, Model: model, Started: started, Child: parent != ""})
	if parent != "" {
		p.Emit(&transcript.Run{ID: parent, Named: true})
		link := &transcript.Link{Kind: "parent", From: transcript.RunEnd(parent), To: transcript.RunEnd(p.Session), Origin: p.Row.Origin}
		if _, call, ok := strings.Cut(id, callSeparator); ok {
			link.Attributes = transcript.Attributes{"call": call}
		}
		p.Emit(link)
	}
	p.Uncounted(transcript.KindLifecycle, "session", started)
	p.usage(v, model, provider, started)
}

// modelOf returns the model of a session with its provider, if all answers have the same.
func modelOf(models jsontext.Value) (model, provider string) {
	n := 0
	for item := range models.Items() {
		provider, model, _ = strings.Cut(item.Str(), "\t")
		n++
	}
	if n != 1 {
		return "", ""
	}
	return model, provider
}

// usage yields what a session cost without its children. A cost of 0 is not stated: so are subscriptions and models without a price.
func (p *parser) usage(v jsontext.Value, model, provider string, at transcript.Time) {
	cost, children := v.Get("cost").NanoUSD(), v.Get("children_cost").NanoUSD()
	if !cost.Known || cost.N <= 0 {
		return
	}
	u := &transcript.Usage{
		Run: p.Session, Conversation: conversation, Origin: p.Row.Origin, Key: "session " + p.Session, Time: at, Model: model, Provider: provider,
		Rank: cost.N, // it only grows: a copy may be older
		Cost: transcript.Known(max(0, cost.N-max(0, children.N))), CostSource: "cost",
	}
	u.Attributes.Set("total", true)
	for name, key := range map[string]string{"last_input": "prompt_tokens", "last_output": "completion_tokens"} {
		if n, ok := v.Get(key).Int(); ok && n > 0 {
			u.Attributes.Set(name, n)
		}
	}
	p.Emit(u)
}

// Resolve sets the fields of a conversation from the metadata of its session.
func (crush) Resolve(f *transcript.Family) {
	for _, c := range f.Conversations {
		c.Title, c.Model, c.Child = f.Run.Title, f.Run.Model, f.Run.Child
	}
}
