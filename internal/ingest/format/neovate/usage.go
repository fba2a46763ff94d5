package neovate

import (
	"cmp"
	"strconv"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// usage yields the request of an answer. Zeros are what the program writes if the provider has not stated anything.
func (p *parser) usage(l *line) {
	n := l.usage
	if l.duplicate || l.role != "assistant" || !n.IsObject() {
		return
	}
	u := &transcript.Usage{
		Run: p.run, Conversation: p.run, Time: l.at, Origin: l.origin, Model: l.model, Requests: transcript.Known(1),
		Key: cmp.Or(l.uuid, p.run+" #"+strconv.Itoa(l.origin.Line)), RequestID: l.uuid,
		Input: n.First("input_tokens", "promptTokens").Tokens(), Output: n.First("output_tokens", "completionTokens").Tokens(),
		CacheRead: n.Get("cache_read_input_tokens").Tokens(), CacheWrite: n.Get("cache_creation_input_tokens").Tokens(),
	}
	if u.Input.N+u.Output.N+u.CacheRead.N+u.CacheWrite.N == 0 {
		return
	}
	format.ExcludeCache(u)
	u.Rank = format.AtHome(0, p.isHome(l))
	p.Emit(u)
}
