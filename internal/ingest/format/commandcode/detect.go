package commandcode

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// What the program writes.
const (
	homeName    = ".commandcode"
	projectsDir = "projects"
	sessionExt  = ".jsonl"
	metaExt     = ".meta.json"
)

// sidecars are the ends of the names of files beside a session that are lines but no session: states of files to go back to, and the prompts again.
var sidecars = []string{".checkpoints.jsonl", ".prompts.jsonl"}

// sessionOf returns the session that a file is called by.
func sessionOf(file string) string {
	name := path.Base(file)
	for _, end := range append(sidecars, metaExt, sessionExt) {
		if stem, ok := strings.CutSuffix(name, end); ok {
			return stem
		}
	}
	return name
}

// projectsOf returns the directory of all projects that a file in a project's directory is below, "" if the path does not show the program's.
func projectsOf(file string) string {
	if dir := path.Dir(path.Dir(file)); path.Base(dir) == projectsDir && path.Base(path.Dir(dir)) == homeName {
		return dir
	}
	return ""
}

// Detect claims sessions and what is beside them by their place, and elsewhere sessions by their lines.
func (f commandCode) Detect(h format.Head) format.Claim {
	if f.Withholds(h) {
		return format.Claim{Strength: format.Certain, Skip: true}
	}
	name := path.Base(h.Path)
	if !strings.HasSuffix(name, sessionExt) && !strings.HasSuffix(name, metaExt) {
		return format.Claim{}
	}
	claim := format.Claim{Strength: format.Certain, Root: projectsOf(h.Path)}
	switch {
	case isSidecar(name) && claim.Root != "":
		claim.Role = format.Other
	case isSidecar(name):
		return format.Claim{}
	case strings.HasSuffix(name, metaExt) && claim.Root != "":
		claim.Role = roleMeta
	case strings.HasSuffix(name, sessionExt):
		known, rewritten := inspect(h.Bytes)
		claim.Role, claim.Log = roleSession, !rewritten
		switch {
		case claim.Root != "":
		case known:
			claim.Strength = format.Likely
		default:
			return format.Claim{}
		}
	default:
		return format.Claim{}
	}
	return claim
}

func isSidecar(name string) bool {
	for _, end := range sidecars {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// inspect reads the lines in the head until one is of a kind that only this program writes. rewritten says that it is of version 2, which writes the
// whole file anew.
func inspect(head []byte) (known, rewritten bool) {
	for line := range format.ObjectLines(head) {
		if !format.MayHave(line, `"message"`, `"metadata"`) {
			continue
		}
		v := jsontext.ParseStart(line)
		switch message := v.Get("message"); {
		case v.Get("type").Is("message") && v.Get("timestamp").IsString() && (message.Get("meta").IsObject() || v.Get("usage", "inputTokens").Exists()):
			return true, false
		case isFlat(v):
			return true, true
		}
	}
	return false, false
}

// isFlat reports whether a line is one of version 2, with the message's members beside those of the line.
func isFlat(v jsontext.Value) bool {
	return !v.Get("type").Exists() && v.Get("sessionId").IsString() && v.Get("role").IsString() && v.Get("metadata", "version").Exists()
}

// Withholds leaves out keys and tokens: the user's own, those of MCP servers, and that of a session's page.
func (commandCode) Withholds(h format.Head) bool {
	switch name := path.Base(h.Path); {
	case name == "mcp.json":
		return path.Base(path.Dir(h.Path)) == homeName || projectsOf(h.Path) != ""
	case name == "auth.json", name == "mcp-tokens.json":
		return path.Base(path.Dir(h.Path)) == homeName
	case strings.HasSuffix(name, ".share.json"):
		return projectsOf(h.Path) != ""
	}
	return false
}
