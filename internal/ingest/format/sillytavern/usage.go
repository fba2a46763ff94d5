package sillytavern

import (
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// isGenerated reports whether a model wrote a swipe, and no person.
func (s swipe) isGenerated() bool {
	return s.started.Text() != "" || s.extra.Get("api").Text() != "" || s.extra.Get("model").Text() != ""
}

// usage yields the request for a swipe, if its tokens were counted. What went into it is stated nowhere.
func (m *message) usage(s swipe) {
	if m.role != "assistant" || !s.isGenerated() {
		return
	}
	model := s.extra.Get("model").Str()
	if model != "" && model != m.model {
		m.model = model
		m.models++
	}
	tokens := s.extra.Get("token_count").Tokens()
	if tokens.N <= 0 {
		return
	}
	u := &transcript.Usage{
		Run: m.Session, Conversation: conversation, Time: timeOf(s.finished), Model: model, Provider: providerOf(s.extra.Get("api").Word()), Output: tokens,
		Estimated: true, Requests: transcript.Known(1), Agent: m.name, Origin: jsontext.OriginIn(m.Row.Origin, m.Row.Value, s.extra),
	}
	if !u.Time.Valid {
		u.Time = timeOf(s.sent)
	}
	if started := s.started.Text(); started != "" {
		u.Key = format.HashUUID("request", started, s.sent.Text())
	} else {
		u.Key = format.HashUUID("request", s.sent.Text(), string(s.text.Raw()))
	}
	m.Emit(u)
}

// providerOf returns the name of a provider, which the program calls after its source of completions.
func providerOf(api string) string {
	switch api {
	case "claude":
		return "anthropic"
	case "makersuite":
		return "gemini"
	}
	return api
}
