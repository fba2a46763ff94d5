package ibmbob

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

const dataDir, databaseName = ".bob/db", "bob.db"

// Detect claims a database by its tables, or by name and place if its first pages do not show them; and originals taken out of one.
func (bob) Detect(h format.Head) format.Claim {
	name := path.Base(h.Path)
	switch {
	case format.IsSQLite(h.Bytes):
		return detectDatabase(h, name)
	case path.Ext(name) == ".ndjson" && strings.HasPrefix(format.FirstTable(h.Bytes), tablePrefix):
		return format.Claim{Strength: format.Certain, Role: roleRows, Log: format.FirstTable(h.Bytes) == tableMessage}
	}
	return format.Claim{}
}

func detectDatabase(h format.Head, name string) format.Claim {
	claim := format.Claim{Strength: format.Certain, Role: roleDatabase, Database: true}
	switch {
	case hasTables(h.Bytes):
		if name != databaseName {
			claim.Strength = format.Likely
		}
	case name == databaseName && !format.ShowsSchema(h.Bytes) && strings.HasSuffix("/"+h.Path, "/"+dataDir+"/"+name):
	default:
		return format.Claim{}
	}
	return claim
}

// hasTables reports whether the first pages of a database show the tables of tasks and messages.
func hasTables(head []byte) bool {
	return format.ContainsAll(head, "project_id", "first_message", "costs", "task_id", "messages")
}
