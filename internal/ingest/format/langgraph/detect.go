package langgraph

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

// Detect claims a database by its tables, or by the place of Deep Agents if its first pages do not show them; and originals taken out of one. The
// tables may be among those of the user's program, and a state can hold anything, so the database is never stored as a file.
func (langGraph) Detect(h format.Head) format.Claim {
	switch {
	case format.IsSQLite(h.Bytes):
		return detectDatabase(h)
	case path.Ext(h.Path) == ".ndjson" && strings.HasPrefix(format.FirstTable(h.Bytes), tablePrefix):
		return format.Claim{Strength: format.Certain, Role: roleRows, Log: format.FirstTable(h.Bytes) == rowWrite}
	}
	return format.Claim{}
}

func detectDatabase(h format.Head) format.Claim {
	claim := format.Claim{Strength: format.Likely, Role: roleDatabase, Database: true, Secret: true}
	placed := isPlace("/" + h.Path)
	switch {
	case format.HasTables(h.Bytes, tableCheckpoints, tableWrites) && format.ContainsAll(h.Bytes, "thread_id", "checkpoint_ns", "parent_checkpoint_id", "task_id"):
		if placed {
			claim.Strength = format.Certain
		}
	case !placed, format.ShowsSchema(h.Bytes):
		return format.Claim{}
	}
	return claim
}

// isPlace reports whether a file is where Deep Agents has its database.
func isPlace(file string) bool {
	return strings.HasSuffix(file, "/"+homeName+"/"+stateDir+"/"+databaseName) || strings.HasSuffix(file, "/"+homeName+"/"+databaseName)
}
