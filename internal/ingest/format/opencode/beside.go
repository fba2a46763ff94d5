package opencode

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/lazyregexp"
	"github.com/txarchive/txarchive/internal/transcript"
)

const (
	outputsDir = "tool-output" // <id>: outputs that were too long for their part
	plansDir   = "plans"       // <milliseconds>-<words>.md: what plan mode has written
)

var (
	outputName = lazyregexp.New(`^tool_[0-9A-Za-z]{26}$`)
	planName   = lazyregexp.New(`^[0-9]{13}-[^/]+\.md$`)
)

// plansOf are the directories that have plans: the programs' own in the home, and those in projects.
var plansOf = []string{"opencode", ".opencode", "kilo", ".kilo", "mimocode", ".mimocode"}

// detectBeside claims texts beside the sessions.
func detectBeside(h format.Head) format.Claim {
	name, dir := path.Base(h.Path), path.Dir(h.Path)
	switch {
	case !h.IsTextFile():
	case path.Base(dir) == outputsDir && outputName.MatchString(name):
		return format.Claim{Strength: format.Certain, Role: roleOutput}
	case path.Base(dir) == plansDir && planName.MatchString(name) && slices.Contains(plansOf, path.Base(path.Dir(dir))):
		return format.Claim{Strength: format.Certain, Role: rolePlan}
	}
	return format.Claim{}
}

// outputRun returns the run of a long output. The part that has its beginning names the file.
func outputRun(file string) string {
	name := path.Base(strings.ReplaceAll(file, `\`, "/"))
	if !outputName.MatchString(name) {
		return ""
	}
	return outputsDir + "/" + name
}

// linkFile is the kind of the link from a session to such a file.
const linkFile = "reference"

// linkOutput links the session of a result to the file with all of the output.
func (p *parser) linkOutput(session, msg string, metadata jsontext.Value) {
	if output := outputRun(metadata.Get("outputPath").Str()); output != "" {
		p.link(linkFile, runID(session, msg), output)
	}
}

// beside yields a text as a row of a run of its own: neither says which session it is of.
func (p *parser) beside() {
	name := path.Base(p.in.Path)
	e := transcript.Event{Run: outputRun(name), Kind: transcript.KindToolResult, Role: "tool", Type: p.in.Role, Time: idTime(name, transcript.Time{})}
	if p.in.Role == rolePlan {
		at, _, _ := strings.Cut(name, "-")
		n, _ := strconv.ParseInt(at, 10, 64)
		e.Run, e.Kind, e.Role, e.Time = plansDir+"/"+format.Stem(name), transcript.KindMessage, "assistant", timestamp.UnixMilli(n)
	}
	if !p.TextFile(p.in.Reader, &e) {
		return
	}
	run := &transcript.Run{ID: e.Run, Local: true, Anchor: e.Run, Anchored: true, Named: true, Started: e.Time}
	if p.in.Role == rolePlan {
		run.Title = format.Heading(e.Parts[0].Text)
	}
	p.Emit(run)
	p.Emit(&e)
}
