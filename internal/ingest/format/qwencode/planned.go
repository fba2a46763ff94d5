package qwencode

import (
	"path"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Directories beside the projects.
const (
	plansDir = "plans" // <session>.md: what plan mode has written
	todosDir = "todos" // <session>.json
)

// detectPlanned claims the plan and the todos of a session. The directory is that of Qwen Code, or a source by itself.
func detectPlanned(h format.Head) format.Claim {
	dir := path.Dir(h.Path)
	if !format.IsUUID(format.Stem(h.Path)) || path.Base(path.Dir(dir)) != ".qwen" && dir != h.Top() {
		return format.Claim{}
	}
	switch path.Base(dir) + path.Ext(h.Path) {
	case plansDir + ".md":
		if h.IsTextFile() {
			return format.Claim{Strength: format.Certain, Role: rolePlan}
		}
	case todosDir + ".json":
		if format.HasKeys(h.Bytes, "todos") {
			return format.Claim{Strength: format.Certain, Role: roleTodos}
		}
	}
	return format.Claim{}
}

// plan yields a plan as a row of its session.
func (p *parser) plan() {
	e := transcript.Event{Run: format.Stem(p.in.Path), Kind: transcript.KindMessage, Role: "assistant", Type: rolePlan}
	if p.TextFile(p.in.Reader, &e) {
		p.Emit(&transcript.Run{ID: e.Run, Named: true})
		p.Emit(&e)
	}
}

// todos yields a list of todos as a row of its session.
func (p *parser) todos() {
	p.run = format.Stem(p.in.Path)
	doc, at := p.Document(p.in.Reader, p.problem)
	if !doc.Get("todos").HasItems() {
		return
	}
	p.Emit(&transcript.Run{ID: p.run, Named: true})
	p.Emit(&transcript.Event{
		Run: p.run, Verdict: transcript.Uncounted, Kind: transcript.KindNotice, Type: roleTodos, Origin: at, Parts: []transcript.Part{{Text: textOf(doc)}},
	})
}
