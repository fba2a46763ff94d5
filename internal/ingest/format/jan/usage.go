package jan

import (
	"fmt"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// provider is what prices are looked up for. It has none: which model of which provider has answered is not stated.
const provider = "jan"

// usage yields what the last request for an answer used.
func (m *message) usage(metadata jsontext.Value, n node) {
	stated, speed := metadata.Get("usage"), metadata.Get("tokenSpeed")
	u := &transcript.Usage{
		Run: m.Session, Conversation: conversation, Origin: jsontext.OriginIn(m.Row.Origin, m.Row.Value, stated), Time: n.at,
		Provider: provider, Requests: transcript.Known(1),
		Input: stated.Get("inputTokens").Tokens(), Output: stated.Get("outputTokens").Tokens(),
	}
	if u.Rank = u.Input.N + u.Output.N; u.Rank == 0 {
		return
	}
	// An edited answer repeats what it is made of, under an id of its own.
	took, ok := speed.Get("durationMs").Int()
	if ok && took > 0 {
		u.Key = format.HashUUID(m.Session, fmt.Sprint(u.Input.N), fmt.Sprint(u.Output.N), fmt.Sprint(took), string(speed.Get("tokenSpeed").Raw()))
	} else {
		u.Key = fmt.Sprintf("%s/%s/%d/%d", m.Session, m.id, u.Input.N, u.Output.N)
	}
	u.Attributes.Set("stop_reason", metadata.Get("finishReason").Str())
	m.Emit(u)
}
