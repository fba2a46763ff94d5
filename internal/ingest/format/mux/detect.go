package mux

import (
	"path"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// What the program writes.
const (
	sessionsDir  = "sessions"
	childrenDir  = "subagent-transcripts"
	chatName     = "chat.jsonl"
	archiveName  = "chat-archive.jsonl"
	headlessName = "headless-usage.jsonl"
	childrenName = "subagent-transcripts.json"
	metaName     = "metadata.json"
)

// homes are the names of the program's directory, at first and now, and those that its developers use.
var homes = map[string]bool{".mux": true, ".xum": true, ".cmux": true, ".mux-dev": true, ".xum-dev": true}

// roles are the roles of files, by name.
var roles = map[string]string{
	chatName: roleChat, archiveName: roleArchive, headlessName: roleHeadless, childrenName: roleChildren, metaName: roleMeta,
}

// location is what a file's path states.
type location struct {
	workspace string // name of the workspace's directory
	parent    string // workspace that keeps what this one said, "" if it has a directory of its own
	sessions  string // directory of all workspaces, "" if the path does not show the program's
}

// locate reads sessions/<workspace>/<file> and sessions/<workspace>/subagent-transcripts/<workspace>/<file>.
func locate(file string) (l location) {
	dir := path.Dir(file)
	l.workspace = path.Base(dir)
	if up := path.Dir(dir); path.Base(up) == childrenDir {
		dir = path.Dir(up)
		l.parent = path.Base(dir)
	}
	if up := path.Dir(dir); path.Base(up) == sessionsDir && homes[path.Base(path.Dir(up))] {
		l.sessions = up
	}
	if l.workspace == "." || l.workspace == "/" {
		l.workspace = ""
	}
	return l
}

// Detect claims the files of a workspace by their place, and elsewhere what was said in one by its lines.
func (f mux) Detect(h format.Head) format.Claim {
	if f.Withholds(h) {
		return format.Claim{Strength: format.Certain, Skip: true}
	}
	role := roles[path.Base(h.Path)]
	if role == "" {
		return format.Claim{}
	}
	loc := locate(h.Path)
	claim := format.Claim{Strength: format.Certain, Role: role, Root: loc.sessions, Log: role == roleArchive || role == roleHeadless}
	switch isChat := role == roleChat || role == roleArchive; {
	case loc.sessions != "":
	case isChat && loc.workspace != "" && format.AnyLine(h.Bytes, isMessage):
		claim.Strength = format.Likely
	default:
		return format.Claim{}
	}
	return claim
}

// isMessage reports whether a line, which may be cut, is a message: one of the AI SDK with this program's number.
func isMessage(line []byte) bool {
	if !format.MayHave(line, `"parts"`) {
		return false
	}
	v := jsontext.ParseStart(line)
	if !v.Get("id").IsString() || !v.Get("role").IsString() || !v.Get("parts").IsArray() {
		return false
	}
	_, numbered := v.Get("metadata", "historySequence").Int()
	return numbered || !v.Get("metadata").Exists() && v.Get("parts").HasItems() && isPart(v.Get("parts")) && v.Get("workspaceId").IsString()
}

// isPart reports whether the first part of a message is one of this program's, which have times.
func isPart(parts jsontext.Value) bool {
	for part := range parts.Items() {
		return part.Get("type").IsString() && part.Get("timestamp").Exists()
	}
	return false
}

// Withholds leaves out keys in the program's directory.
func (mux) Withholds(h format.Head) bool {
	name := path.Base(h.Path)
	return (name == "providers.jsonc" || name == "secrets.json") && homes[path.Base(path.Dir(h.Path))]
}
