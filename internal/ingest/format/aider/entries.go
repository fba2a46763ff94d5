package aider

import (
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// entries yields the entries of an input or LLM history as uncounted events: they repeat the conversations, or add what was sent to
// the model with a prompt. isHeader reports whether a line heads an entry.
func (p *parser) entries(isHeader func(string) bool, typ string) {
	p.lines(func(line jsontext.Line) {
		switch {
		case isHeader(string(line.Bytes)):
			p.entry(typ)
			p.open.begin(typ, line)
		case p.open.kind != kindNone:
			p.open.add(line)
		case len(strings.TrimSpace(string(line.Bytes))) > 0:
			p.open.begin(typ, line)
		}
	}, func() { p.entry(typ) })
	if p.open.kind != kindNone && !p.Done() {
		p.Emit(&transcript.Run{ID: unknownRun, Named: true, Guess: true}) // the last entry may still grow
		p.entry(typ)
	}
}

// entry yields the open entry.
func (p *parser) entry(typ string) {
	if p.open.kind == kindNone {
		return
	}
	raw := p.open.raw[:p.open.size]
	p.open.kind = kindNone
	first, _, _ := strings.Cut(string(raw), "\n")
	e := &transcript.Event{Run: unknownRun, Verdict: transcript.Uncounted, Kind: transcript.KindMessage, Role: "user", Type: typ, Origin: p.open.at,
		Parts: []transcript.Part{{Text: entryText(raw)}}}
	switch stamp := strings.TrimSpace(first); {
	case isInputHeader(first):
		e.Time = timestamp.Parse(strings.TrimPrefix(stamp, "# "))
	case isModelHeader(first):
		e.Time = timestamp.Parse(stamp[strings.LastIndexByte(stamp, ' ')+1:])
		if strings.HasPrefix(first, "LLM") {
			e.Role = "assistant"
		}
	}
	p.Emit(&transcript.Run{ID: unknownRun, Named: true})
	p.Emit(e)
}
