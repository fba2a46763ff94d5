package cortexcode

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// What the program writes.
const (
	homeName          = ".snowflake"
	programDir        = "cortex"
	conversationsDir  = "conversations"
	conversationsPath = programDir + "/" + conversationsDir
	historyExt        = ".history.jsonl"
	sessionExt        = ".json"
)

// sessionOf returns the session that a file is called by.
func sessionOf(file string) string {
	name := path.Base(file)
	if stem, ok := strings.CutSuffix(name, historyExt); ok {
		return stem
	}
	return strings.TrimSuffix(name, sessionExt)
}

// conversationsOf returns the directory of all sessions that a file belongs to, "" if the path does not show the program's. Sessions of the desktop are in
// directories in it. known says that the directory is in the program's home by its default name.
func conversationsOf(file string) (dir string, known bool) {
	dir = path.Dir(file)
	for range 2 {
		if home, ok := strings.CutSuffix("/"+dir, "/"+conversationsPath); ok {
			return dir, path.Base(home) == homeName
		}
		dir = path.Dir(dir)
	}
	return "", false
}

// Detect claims sessions by their place, if they are in the home by its default name, and elsewhere by what they hold.
func (f cortexCode) Detect(h format.Head) format.Claim {
	if f.Withholds(h) {
		return format.Claim{Strength: format.Certain, Skip: true}
	}
	claim := format.Claim{}
	name := path.Base(h.Path)
	switch {
	case strings.HasSuffix(name, historyExt):
		claim.Role, claim.Log = roleHistory, true
	case strings.HasSuffix(name, sessionExt) && format.IsUUID(sessionOf(h.Path)):
		claim.Role = roleSession
	}
	root, known := conversationsOf(h.Path)
	switch {
	case known && claim.Role == "" && (strings.HasSuffix(name, sessionExt) || strings.HasSuffix(name, ".jsonl")): // a backup of a session
		claim.Role = format.Other
	case claim.Role == "":
		return format.Claim{}
	case known:
	case claim.Role == roleHistory && !isHistory(h.Bytes), claim.Role == roleSession && !isSession(h.Bytes):
		return format.Claim{}
	}
	claim.Strength, claim.Root = format.Certain, root
	if root == "" {
		claim.Strength = format.Likely
	}
	return claim
}

// isHistory reports whether there is a message among the lines of a file.
func isHistory(head []byte) bool {
	for line, whole := range format.ObjectLines(head) {
		if v := format.LineStart(line, whole); v.Get("role").IsString() && v.Get("content").IsArray() && isMessageID(v.Get("id").Str()) {
			return true
		}
	}
	return false
}

// isSession reports whether a file begins with what is noted about a session.
func isSession(head []byte) bool {
	if !format.HasKeys(head, "session_id", "working_directory") {
		return false
	}
	v := jsontext.ParseStart(jsontext.TrimBOM(head))
	return v.Get("session_id").IsString() && v.First("created_at", "creationDate", "connection_name", "history_length").Exists()
}

// isMessageID reports whether an id is one that the program has made for a message.
func isMessageID(id string) bool { return format.IsUUID(strings.TrimPrefix(id, "msg_")) }

// Withholds leaves out passwords and tokens: those of connections, and of MCP servers.
func (cortexCode) Withholds(h format.Head) bool {
	dir := path.Dir(h.Path)
	switch path.Base(h.Path) {
	case "connections.toml", "config.toml":
		return path.Base(dir) == homeName
	case "mcp.json":
		return path.Base(dir) == programDir && path.Base(path.Dir(dir)) == homeName
	}
	return false
}
