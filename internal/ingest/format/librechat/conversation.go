package librechat

import (
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// maxID is the length of the longest id that is accepted, in bytes. The producer's are UUIDs.
const maxID = 200

// placeholder is the title of a conversation until a model has found a better one.
const placeholder = "New Chat"

// conversation yields the records of one conversation.
func (p *parser) conversation(v jsontext.Value) {
	p.id, p.before = v.Get("conversationId").Text(), ""
	messages := v.First("messagesTree", "messages")
	if p.id == "" || len(p.id) > maxID || !messages.IsArray() && !messages.IsNull() {
		p.id = ""
		p.Emit(&transcript.Problem{Kind: "not a conversation", Reason: "no id, or messages that are no list", Origin: p.at})
		return
	}
	facts := summary{title: format.Title(v.Get("title").Str())}
	if facts.title == placeholder {
		facts.title = ""
	}
	facts.add(messages)
	run := &transcript.Run{ID: p.id, Title: facts.title, Model: facts.only(), Started: facts.started, Ended: facts.ended, Named: facts.n == 0}
	run.Attributes.Set("endpoint", v.Get("endpoint").Str())
	updated := facts.updated
	if !updated.Valid {
		updated = facts.ended
	}
	var order string
	run.Rank, order = format.ExportRank(updated)
	p.Emit(run)
	if facts.n > 0 {
		p.Emit(&transcript.Conversation{
			ID: p.id, Run: p.id, Shared: true, Rank: run.Rank, Order: order, Title: run.Title, Model: run.Model, Started: run.Started, Ended: run.Ended,
		})
	}
	for key, member := range v.Fields() {
		switch {
		case key == "options":
			p.options(member)
		case messages.Exists() && jsontext.OffsetIn(v, member) == jsontext.OffsetIn(v, messages):
			p.messages(messages)
		}
	}
	if facts.n == 0 && !p.Done() {
		e := p.event(transcript.KindUnknown, "", "conversation", v.Get("conversationId"))
		e.Run, e.Verdict = p.id, transcript.Uncounted
		p.Emit(e)
	}
}

// options yields the instructions that were given with the conversation, for search.
func (p *parser) options(v jsontext.Value) {
	for key, member := range v.Fields() {
		switch key {
		case "promptPrefix", "instructions", "additional_instructions", "system":
			if !member.IsBlank() {
				e := p.event(transcript.KindNotice, "system", key, member)
				e.Run, e.Verdict = p.id, transcript.Uncounted
				p.Emit(e)
			}
		}
	}
}

// messages yields a list of messages, each with those that follow it.
func (p *parser) messages(list jsontext.Value) {
	for v := range list.Items() {
		if p.Done() {
			return
		}
		if !v.IsObject() {
			if !v.IsNull() {
				p.Emit(&transcript.Problem{Run: p.id, Kind: "not a message", Reason: "no object", Origin: p.origin(v)})
			}
			continue
		}
		p.message(v)
	}
}

// summary is what the messages of a conversation have in common.
type summary struct {
	n                       int // messages
	title, model            string
	models                  int // that differ from the one before
	started, ended, updated transcript.Time
}

// add adds the messages of a list, and those that follow them.
func (s *summary) add(list jsontext.Value) {
	for v := range list.Items() {
		if !v.IsObject() {
			continue
		}
		s.n++
		format.Extend(&s.started, &s.ended, v.Get("createdAt").Time())
		if at := v.Get("updatedAt").Time(); at.Valid && at.UnixMicro > s.updated.UnixMicro {
			s.updated = at
		}
		if user := v.Get("isCreatedByUser").Bool() == transcript.Yes; user && s.title == "" {
			s.title = format.Title(v.Get("text").Str())
		}
		if model := modelOf(v); model != "" && model != s.model {
			s.model = model
			s.models++
		}
		s.add(v.Get("children"))
	}
}

// only returns the model of the answers, if all have the same.
func (s *summary) only() string {
	if s.models == 1 {
		return s.model
	}
	return ""
}
