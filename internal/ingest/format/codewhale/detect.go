package codewhale

import (
	"path"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// What the program writes.
const (
	homeName    = ".codewhale"
	formerHome  = ".deepseek"
	sessionsDir = "sessions"
	latest      = "latest" // the name of the only checkpoint in early versions
)

// copiesDirs are the directories in sessionsDir with sessions: of turns that are not over, and as they were before a change of the layout.
var copiesDirs = []string{"checkpoints", ".work-graph-import-archive"}

// others are the files beside sessions that are none.
var others = []string{"session_boot_owners.json", "offline_queue.json"}

// sessionOf returns the session that a file is called by, "" if its name is none.
func sessionOf(file string) string {
	if stem := format.Stem(file); stem != latest {
		return stem
	}
	return ""
}

// sessionsOf returns the directory of all sessions that a file belongs to, and its home; "" if the path does not show the program's.
func sessionsOf(file string) (dir, home string) {
	dir = path.Dir(file)
	if slices.Contains(copiesDirs, path.Base(dir)) {
		dir = path.Dir(dir)
	}
	if home = path.Base(path.Dir(dir)); path.Base(dir) == sessionsDir && (home == homeName || home == formerHome) {
		return dir, home
	}
	return "", ""
}

// Detect claims sessions by their place, and elsewhere by how they begin. The former home is no name that only this program would choose: there both
// must agree.
func (f codewhale) Detect(h format.Head) format.Claim {
	if f.Withholds(h) {
		return format.Claim{Strength: format.Certain, Skip: true}
	}
	if path.Ext(h.Path) != ".json" {
		return format.Claim{}
	}
	dir, home := sessionsOf(h.Path)
	switch {
	case home == homeName && slices.Contains(others, path.Base(h.Path)):
		return format.Claim{Strength: format.Certain, Role: format.Other, Root: dir}
	case home == homeName, home == formerHome && isSession(h.Bytes):
		return format.Claim{Strength: format.Certain, Role: roleSession, Root: dir}
	case isSession(h.Bytes):
		return format.Claim{Strength: format.Likely, Role: roleSession}
	}
	return format.Claim{}
}

// isSession reports whether a file begins with the metadata of a session.
func isSession(head []byte) bool {
	if !format.HasKeys(head, "metadata", "message_count", "total_tokens") {
		return false
	}
	v := jsontext.ParseStart(jsontext.TrimBOM(head)).Get("metadata")
	return v.Get("id").IsString() && v.Get("created_at").IsString() && v.Get("message_count").Exists() && v.Get("total_tokens").Exists()
}

// Withholds leaves out what may hold keys: the settings, those of MCP servers, and the store of secrets.
func (codewhale) Withholds(h format.Head) bool {
	dir, name := path.Split(h.Path)
	dir = strings.TrimSuffix(dir, "/")
	switch name {
	case "config.toml", "mcp.json":
	case "secrets.json":
		if path.Base(dir) != "secrets" {
			return false
		}
		dir = path.Dir(dir)
	default:
		return false
	}
	return path.Base(dir) == homeName || path.Base(dir) == formerHome
}
