package geminicli

import "github.com/txarchive/txarchive/internal/transcript"

// logRank makes a log's figures for a request outrank a document's. Within a log, later versions outrank earlier ones.
const logRank = 1 << 48

// usage yields the tokens of a message's request. A later version of the message without tokens retracts them.
func (p *parser) usage(m *message) {
	var input, output, cached, thoughts, tool int64
	for key, f := range m.tokens.Fields() {
		n, _ := f.Int()
		n = max(n, 0)
		switch key {
		case "input":
			input = n
		case "output":
			output = n
		case "cached":
			cached = n
		case "thoughts":
			thoughts = n
		case "tool":
			tool = n
		}
	}
	requests := int64(1)
	if input+output+cached+thoughts+tool == 0 {
		if !p.hasTokens[m.id] {
			return
		}
		requests = 0
	}
	if p.hasTokens == nil {
		p.hasTokens = map[string]bool{}
	}
	p.hasTokens[m.id] = true
	cached = min(cached, input)
	u := &transcript.Usage{
		Run: p.session, Conversation: p.session, Key: p.session + ":" + m.id, Time: m.at, Origin: m.origin, Model: m.model,
		Input: transcript.Known(input - cached + tool), Output: transcript.Known(output + thoughts),
		CacheRead: transcript.Known(cached), Reasoning: transcript.Known(thoughts), Requests: transcript.Known(requests),
	}
	if p.in.Role == roleLog {
		u.Rank = logRank + m.origin.Offset
		p.Emit(u)
		return
	}
	// In a document, offsets do not show the order of versions across its states, so each request is yielded once, at the
	// end.
	if before := p.byKey[u.Key]; before != nil {
		*before = *u
		return
	}
	if p.byKey == nil {
		p.byKey = map[string]*transcript.Usage{}
	}
	p.byKey[u.Key] = u
	p.requests = append(p.requests, u)
}
