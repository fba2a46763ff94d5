package codebuff

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// What the program writes.
const (
	homeName    = "manicode" // with a suffix in development
	projectsDir = "projects"
	chatsDir    = "chats"
)

// roles are the names of the files that are read.
var roles = map[string]string{"chat-messages.json": roleChat, "run-state.json": roleState}

// location is what a file's path states.
type location struct {
	chat    string
	project string // "" if the path does not show it
	root    string // the directory of all projects, likewise
}

// locate reads projects/<project>/chats/<chat>/<file>. The directory of a chat may have been copied elsewhere.
func locate(file string) (l location) {
	dir := path.Dir(file)
	if l.chat = path.Base(dir); l.chat == "." || l.chat == "/" {
		l.chat = ""
	}
	chats := path.Dir(dir)
	projects := path.Dir(path.Dir(chats))
	if path.Base(chats) == chatsDir && path.Base(projects) == projectsDir && strings.HasPrefix(path.Base(path.Dir(projects)), homeName) {
		l.project, l.root = path.Base(path.Dir(chats)), projects
	}
	return l
}

// Detect claims chats and states by their place, and elsewhere by name and content.
func (f codebuff) Detect(h format.Head) format.Claim {
	if f.Withholds(h) {
		return format.Claim{Strength: format.Certain, Skip: true}
	}
	role, l := roles[path.Base(h.Path)], locate(h.Path)
	switch {
	case role == "" || l.chat == "":
	case l.root != "":
		return format.Claim{Strength: format.Certain, Role: role, Root: l.root}
	case role == roleChat && isChat(h.Bytes), role == roleState && format.HasKeys(h.Bytes, "sessionState"):
		return format.Claim{Strength: format.Likely, Role: role}
	}
	return format.Claim{}
}

// isChat reports whether a file begins with a message.
func isChat(head []byte) bool {
	v, _ := jsontext.FirstElement(head)
	switch v.Get("variant").Word() {
	case "user", "ai", "agent", "error":
		return v.Get("id").IsString() && v.Get("content").IsString()
	}
	return false
}

// Withholds leaves out the keys in the program's directory.
func (codebuff) Withholds(h format.Head) bool {
	return path.Base(h.Path) == "credentials.json" && strings.HasPrefix(path.Base(path.Dir(h.Path)), homeName)
}

// startOf returns when a chat began: its directory is called like 2026-07-16T00-09-00.236Z.
func startOf(chat string) transcript.Time {
	day, clock, ok := strings.Cut(chat, "T")
	if !ok {
		return transcript.Time{}
	}
	return timestamp.Parse(day + "T" + strings.ReplaceAll(clock, "-", ":"))
}
