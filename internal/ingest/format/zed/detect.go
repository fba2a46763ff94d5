package zed

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

// What the program writes.
const (
	threadsDir   = "threads"
	databaseName = "threads.db"
)

// Detect claims a database by its place, by its table, or by its name and that of its directory if its first pages do not show the table;
// originals taken out of one; and text threads.
func (zed) Detect(h format.Head) format.Claim {
	switch {
	case format.IsSQLite(h.Bytes):
		return detectDatabase(h)
	case path.Ext(h.Path) == ".ndjson" && strings.HasPrefix(format.FirstTable(h.Bytes), tablePrefix):
		return format.Claim{Strength: format.Certain, Role: roleRows}
	case strings.HasSuffix(h.Path, textSuffix):
		return detectText(h)
	}
	return format.Claim{}
}

func detectDatabase(h format.Head) format.Claim {
	claim := format.Claim{Strength: format.Certain, Role: roleDatabase, Database: true}
	switch {
	case strings.HasSuffix(strings.ToLower("/"+h.Path), "/zed/"+threadsDir+"/"+databaseName):
	case hasTable(h.Bytes), strings.HasSuffix("/"+h.Path, "/"+threadsDir+"/"+databaseName) && !format.ShowsSchema(h.Bytes):
		claim.Strength = format.Likely
	default:
		return format.Claim{}
	}
	return claim
}

// hasTable reports whether the first pages of a database show the table of threads.
func hasTable(head []byte) bool {
	return format.ContainsAll(head, "CREATE TABLE threads", "data_type TEXT", "data BLOB", "summary TEXT")
}
