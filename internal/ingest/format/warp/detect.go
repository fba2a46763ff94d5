package warp

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

const (
	databaseName = "warp.sqlite"
	interfaceDir = "tui"
)

// Detect claims a database by its place, by its tables, or by its name alone if its first page does not show them; and originals taken out of one.
func (w warp) Detect(h format.Head) format.Claim {
	switch {
	case w.Withholds(h):
		return format.Claim{Strength: format.Certain, Skip: true}
	case format.IsSQLite(h.Bytes):
		return detectDatabase(h)
	case path.Ext(h.Path) == ".ndjson" && strings.HasPrefix(format.FirstTable(h.Bytes), tablePrefix):
		return format.Claim{Strength: format.Certain, Role: roleRows}
	}
	return format.Claim{}
}

func detectDatabase(h format.Head) format.Claim {
	claim := format.Claim{Strength: format.Certain, Role: roleDatabase, Database: true, Secret: true}
	named := path.Base(h.Path) == databaseName
	switch {
	case named && isState(path.Dir(h.Path)):
	case named && !format.ShowsSchema(h.Bytes), format.HasTables(h.Bytes, "agent_conversations", "agent_tasks"), format.HasTables(h.Bytes, "ai_queries", "agent_conversations"):
		claim.Strength = format.Likely
	default:
		return format.Claim{}
	}
	return claim
}

// isState reports whether a directory is where Warp keeps its database, or that of its text interface in it.
func isState(dir string) bool {
	if path.Base(dir) == interfaceDir {
		dir = path.Dir(dir)
	}
	name := path.Base(dir)
	return strings.HasPrefix(name, "dev.warp.") || strings.HasPrefix(name, "warp-terminal") || name == "warp-oss" ||
		name == "data" && path.Base(path.Dir(path.Dir(dir))) == "warp"
}

// Withholds leaves out copies and journals of the database, which holds credentials, too, and the files with the user's own: dev.warp.Warp-User.
func (warp) Withholds(h format.Head) bool {
	name := path.Base(h.Path)
	switch {
	case !isState(path.Dir(h.Path)):
		return false
	case name == databaseName:
		return len(h.Bytes) > 0 && !format.IsSQLite(h.Bytes)
	}
	return strings.HasPrefix(name, databaseName) || strings.HasPrefix(name, "dev.warp.")
}
