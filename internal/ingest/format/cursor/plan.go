package cursor

import (
	"cmp"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

const (
	plansDir   = "plans"
	planSuffix = ".plan.md"
)

// isPlan reports whether a file is what plan mode has written, by its place: the plans directory of a .cursor, in the home or a project, or
// one that is a source by itself.
func isPlan(h format.Head) bool {
	dir := path.Dir(h.Path)
	return strings.HasSuffix(h.Path, planSuffix) && path.Base(dir) == plansDir && (path.Base(path.Dir(dir)) == ".cursor" || dir == h.Top()) && h.IsTextFile()
}

// plan yields a plan as a row of a run of its own: it does not say which conversation made it.
func (p *parser) plan() {
	name := strings.TrimSuffix(path.Base(p.in.Path), planSuffix)
	e := transcript.Event{Run: plansDir + "/" + name, Kind: transcript.KindMessage, Role: "assistant", Type: rolePlan}
	if p.TextFile(p.in.Reader, &e) {
		p.Emit(&transcript.Run{ID: e.Run, Named: true, Title: cmp.Or(planTitle(e.Parts[0].Text), name)})
		p.Emit(&e)
	}
}

// planTitle returns the name in the front matter of a plan, else its heading.
func planTitle(text string) string {
	front, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return format.Heading(text)
	}
	front, body, _ := strings.Cut(front, "\n---\n")
	for line := range strings.Lines(front) {
		if name, ok := strings.CutPrefix(line, "name:"); ok {
			return format.Title(strings.Trim(strings.TrimSpace(name), `"'`))
		}
	}
	return format.Heading(body)
}
