package librechat

import (
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// usage yields the output of an answer. Of a prompt the program counts its own text, which is a part of what went into the request.
func (m *message) usage() {
	count := m.v.Get("tokenCount")
	if tokens := count.Tokens(); m.role == "assistant" && tokens.N > 0 && m.id != "" {
		u := &transcript.Usage{
			Run: m.parser.id, Conversation: m.parser.id, Origin: m.origin(count), Key: m.id, Time: m.at, Model: m.model,
			Provider: providerOf(m.v.Get("endpoint").Str()), Output: tokens,
		}
		if m.at.Valid {
			u.Key = format.HashUUID("answer", m.v.Get("createdAt").Str(), m.v.Get("model").Text(), m.v.Get("sender").Text())
		}
		if m.called == 0 { // else there was one for each round of calls
			u.Requests = transcript.Known(1)
		}
		m.Emit(u)
	}
}

// providerOf returns the name of a provider, which the program calls an endpoint.
func providerOf(endpoint string) string {
	switch endpoint {
	case "openAI":
		return "openai"
	case "azureOpenAI":
		return "azure"
	case "google":
		return "gemini"
	case "agents", "assistants", "azureAssistants", "gptPlugins":
		return ""
	}
	return endpoint
}
