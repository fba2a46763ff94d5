package aider

import (
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// entries yields the entries of the other files, each behind a line that begins says is one. They repeat what the conversations have,
// or what went to the model beside it, and count for nothing.
func (p *parser) entries(begins func(string) bool, typ string) {
	p.lines(func(line format.Line) {
		switch {
		case begins(string(line.Bytes)):
			p.entry(typ)
			p.open.begin(typ, line)
		case p.open.kind != none:
			p.open.add(line)
		case len(strings.TrimSpace(string(line.Bytes))) > 0:
			p.open.begin(typ, line)
		}
	}, func() { p.entry(typ) })
	if p.open.kind != none && !p.Done() {
		p.Emit(&transcript.Run{ID: nobody, Named: true, Guess: true}) // the last may go on
		p.entry(typ)
	}
}

func (p *parser) entry(typ string) {
	if p.open.kind == none {
		return
	}
	raw := p.open.raw[:p.open.size]
	p.open.kind = none
	first, _, _ := strings.Cut(string(raw), "\n")
	e := &transcript.Event{Run: nobody, Verdict: transcript.Uncounted, Kind: transcript.KindMessage, Role: "user", Type: typ, Origin: p.open.at,
		Parts: []transcript.Part{{Text: entryText(raw)}}}
	switch stamp := strings.TrimSpace(first); {
	case isTyped(first):
		e.Time = format.Time(strings.TrimPrefix(stamp, "# "))
	case isSent(first):
		e.Time = format.Time(stamp[strings.LastIndexByte(stamp, ' ')+1:])
		if strings.HasPrefix(first, "LLM") {
			e.Role = "assistant"
		}
	}
	p.Emit(&transcript.Run{ID: nobody, Named: true})
	p.Emit(e)
}
