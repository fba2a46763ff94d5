package geminicli

import "github.com/txarchive/txarchive/internal/transcript"

// prompts yields the rows of logs.json: prompts of sessions whose files may be gone.
func (p *parser) prompts() {
	if !p.readDocument() {
		return
	}
	yielded := map[string]bool{}
	for entry := range p.whole.Items() {
		session := entry.Get("sessionId").Str()
		if session == "" {
			continue
		}
		if !yielded[session] {
			yielded[session] = true
			p.Emit(&transcript.Run{ID: session, Rank: transcript.RankHistory, Named: true})
		}
		p.Emit(&transcript.Event{
			Run: session, Verdict: transcript.Uncounted, Kind: transcript.KindMessage, Role: entry.Get("type").Str(),
			Type: "prompt", Retold: entry.Get("message").Str(), Time: entry.Get("timestamp").Time(), Origin: p.origin(entry),
			Parts: []transcript.Part{{Text: pieceText(entry)}},
		})
		if p.Done() {
			return
		}
	}
}
