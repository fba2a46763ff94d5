package geminicli

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// prompts yields the rows of logs.json: prompts of sessions whose files may be gone.
func (p *parser) prompts() {
	content, err := format.ReadAll(p.in.Reader, format.DocumentLimit)
	if errors.Is(err, format.ErrTooLarge) {
		p.problem(&transcript.Problem{Kind: "too large", Reason: fmt.Sprintf("more than %d bytes", format.DocumentLimit)})
		return
	}
	if err != nil {
		p.Fail(err)
		return
	}
	v, err := format.ParseJSON(bytes.TrimPrefix(content, mark))
	if err != nil {
		p.problem(&transcript.Problem{Kind: "bad json", Reason: err.Error(), Origin: transcript.Origin{Length: int64(len(content))}})
		return
	}
	p.whole, p.at = v, transcript.Origin{Offset: v.OffsetIn(content)}
	named := map[string]bool{}
	for entry := range v.Items() {
		session := entry.Get("sessionId").Str()
		if session == "" {
			continue
		}
		if !named[session] {
			named[session] = true
			p.Emit(&transcript.Run{ID: session, Named: true})
		}
		p.Emit(&transcript.Event{
			Run: session, Verdict: transcript.Uncounted, Kind: transcript.KindMessage, Role: entry.Get("type").Str(),
			Type: "prompt", Time: entry.Get("timestamp").Time(), Origin: p.origin(entry),
			Parts: []transcript.Part{{Text: pieceText(entry)}},
		})
		if p.Done() {
			return
		}
	}
}
