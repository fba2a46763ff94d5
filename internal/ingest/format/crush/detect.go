package crush

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

// What the program writes, today and under its earlier name.
const (
	dataDir, databaseName = ".crush", "crush.db"
	earlyDir, earlyName   = ".opencode", "opencode.db"
	listName              = "projects.json" // of all projects
)

// Detect claims a database by its name and its tables, or by name and place if its first pages do not show them; and originals taken out
// of one.
func (f crush) Detect(h format.Head) format.Claim {
	name := path.Base(h.Path)
	switch {
	case f.Withholds(h):
		return format.Claim{Strength: format.Certain, Skip: true}
	case format.IsSQLite(h.Bytes):
		return detectDatabase(h, name)
	case path.Ext(name) == ".ndjson" && strings.HasPrefix(format.FirstTable(h.Bytes), tablePrefix):
		return format.Claim{Strength: format.Certain, Role: roleRows, Log: format.FirstTable(h.Bytes) == tableMessage}
	}
	return format.Claim{}
}

func detectDatabase(h format.Head, name string) format.Claim {
	claim := format.Claim{Strength: format.Certain, Role: roleDatabase, Database: true}
	place := "/" + h.Path
	switch {
	case strings.HasSuffix(place, "/"+dataDir+"/"+databaseName):
	case isEarly(h):
	case hasTables(h.Bytes), name == databaseName && !format.ShowsSchema(h.Bytes):
		claim.Strength = format.Likely
	default:
		return format.Claim{}
	}
	return claim
}

// isEarly reports whether a database is one of the program under its earlier name. Another program has databases of that name, but keeps
// them elsewhere and with other tables.
func isEarly(h format.Head) bool {
	if path.Base(h.Path) != earlyName || !format.IsSQLite(h.Bytes) {
		return false
	}
	return hasTables(h.Bytes) || strings.HasSuffix("/"+h.Path, "/"+earlyDir+"/"+earlyName) && !format.ShowsSchema(h.Bytes)
}

// hasTables reports whether the first pages of a database show the table of sessions.
func hasTables(head []byte) bool {
	return format.ContainsAll(head, "parent_session_id", "prompt_tokens", "completion_tokens", "message_count")
}

// Withholds leaves out the settings in the program's own directories, which hold API keys and tokens.
func (crush) Withholds(h format.Head) bool {
	dir := path.Base(path.Dir(h.Path))
	return path.Base(h.Path) == "crush.json" && (dir == "crush" || dir == dataDir)
}

// projectOf returns the directory in which the program keeps a database by default; "" if the database is elsewhere.
func projectOf(file string) string {
	for _, inside := range []string{"/" + dataDir + "/" + databaseName + "/", "/" + earlyDir + "/" + earlyName + "/"} {
		if before, _, ok := strings.Cut(file, inside); ok {
			return before
		}
	}
	return ""
}

// sessionID makes the id of a session unique across databases: early versions called a sub-agent's session like the call, and some
// providers number calls.
func sessionID(id, parent string) string {
	if parent == "" || len(id) >= 36 && format.IsUUID(id[:36]) || strings.Contains(id, parent) {
		return id
	}
	return parent + callSeparator + id
}

// callSeparator stands between message and call in the id of a sub-agent's session.
const callSeparator = "$$"
