package openaiagents

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

// Detect claims a database by its tables, and originals taken out of one. The tables may be among those of the user's program, which can hold
// anything, so the database is never stored as a file.
func (openaiAgents) Detect(h format.Head) format.Claim {
	switch {
	case format.IsSQLite(h.Bytes):
		if format.HasTables(h.Bytes, tableSessions, tableMessages) && format.ContainsAll(h.Bytes, "session_id", "message_data") {
			return format.Claim{Strength: format.Likely, Role: roleDatabase, Database: true, Secret: true}
		}
	case path.Ext(h.Path) == ".ndjson" && strings.HasPrefix(format.FirstTable(h.Bytes), tablePrefix):
		return format.Claim{Strength: format.Certain, Role: roleRows, Log: format.FirstTable(h.Bytes) == rowMessage}
	}
	return format.Claim{}
}
