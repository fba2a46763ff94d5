package copilotcli

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// product is a text that the program, or the model, keeps in a session's directory.
type product struct {
	root    string // directory of all sessions
	session string
	role    string // "" for other files
}

// productOf reads <session-state>/<session>/plan.md, checkpoints/<n>-<words>.md (but not the list of them), research/** and files/**.
func productOf(file string) (p product) {
	at := strings.LastIndex("/"+file, "/"+stateDir+"/")
	if at < 0 {
		return p
	}
	p.root = file[:at+len(stateDir)]
	session, below, _ := strings.Cut(file[at+len(stateDir)+1:], "/")
	if !sessionID.MatchString(session) {
		return p
	}
	p.session = session
	switch dir, _, isBelow := strings.Cut(below, "/"); {
	case below == "plan.md":
		p.role = rolePlan
	case path.Dir(below) == "checkpoints" && path.Ext(below) == ".md" && below != "checkpoints/index.md":
		p.role = roleCheckpoint
	case isBelow && dir == "research":
		p.role = roleResearch
	case isBelow && dir == "files":
		p.role = roleFile
	}
	return p
}

// product yields such a text as a row of its session.
func (p *parser) product() {
	e := transcript.Event{Run: productOf(p.in.Path).session, Kind: transcript.KindMessage, Role: "assistant", Type: p.in.Role}
	switch p.in.Role {
	case roleCheckpoint:
		e.Kind, e.Role = transcript.KindCompaction, ""
	case roleFile:
		e.Kind, e.Role = transcript.KindNotice, ""
	}
	if p.TextFile(p.in.Reader, &e) {
		p.Emit(&transcript.Run{ID: e.Run, Named: true})
		p.Emit(&e)
	}
}

func detectProduct(h format.Head) format.Claim {
	p := productOf(h.Path)
	if p.role == "" || !h.IsTextFile() {
		return format.Claim{}
	}
	return format.Claim{Strength: format.Certain, Role: p.role, Root: p.root}
}
