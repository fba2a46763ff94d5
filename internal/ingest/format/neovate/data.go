package neovate

import (
	"io"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// data yields the directories that the program was used in, which describe the groups of the sessions there, and what was typed in each. That has no
// times and belongs to no session.
func (p *parser) data(file io.Reader) {
	problem := func(pr *transcript.Problem) { p.Problem("", pr) }
	v, at := p.Document(file, problem)
	projects := v.Get("projects")
	if v.Exists() && !projects.IsObject() {
		problem(&transcript.Problem{Kind: "not an object", Reason: "no directories", Origin: at})
	}
	for dir, known := range projects.Fields() {
		group := project(dir)
		if group == "" || p.Done() {
			continue
		}
		p.Emit(&transcript.Run{ID: group, Named: true, Group: group, Project: dir})
		for typed := range known.Get("history").Items() {
			if typed.IsBlank() {
				continue
			}
			p.Emit(&transcript.Event{
				Run: group, Verdict: transcript.Uncounted, Kind: transcript.KindMessage, Role: "user", Type: "history", Origin: jsontext.OriginIn(at, v, typed),
				Parts: []transcript.Part{{Text: textOf(typed)}},
			})
		}
	}
	p.Settle("")
}
