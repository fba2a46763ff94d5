package devin

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

// What the program writes.
const (
	homeName       = "devin"
	cliDir         = "cli"
	databaseName   = "sessions.db"
	transcriptsDir = "transcripts"
)

// Detect claims a database by its place or its tables, originals taken out of one, and the transcripts beside it, which repeat it.
func (f devin) Detect(h format.Head) format.Claim {
	dir := path.Dir(h.Path)
	switch {
	case f.Withholds(h):
		return format.Claim{Strength: format.Certain, Skip: true}
	case format.IsSQLite(h.Bytes):
		return detectDatabase(h, isHome(dir))
	case path.Ext(h.Path) == ".ndjson" && strings.HasPrefix(format.FirstTable(h.Bytes), tablePrefix):
		return format.Claim{Strength: format.Certain, Role: roleRows, Log: format.FirstTable(h.Bytes) == tableNode}
	case path.Ext(h.Path) == ".json" && path.Base(dir) == transcriptsDir && isHome(path.Dir(dir)):
		return format.Claim{Strength: format.Certain, Role: format.Other}
	}
	return format.Claim{}
}

func detectDatabase(h format.Head, atHome bool) format.Claim {
	claim := format.Claim{Strength: format.Certain, Role: roleDatabase, Database: true}
	switch {
	case path.Base(h.Path) == databaseName && atHome:
	case hasTables(h.Bytes):
		claim.Strength = format.Likely
	default:
		return format.Claim{}
	}
	return claim
}

// isHome reports whether a directory is called like the program's own.
func isHome(dir string) bool { return path.Base(dir) == cliDir && path.Base(path.Dir(dir)) == homeName }

// hasTables reports whether the first pages of a database show its tables.
func hasTables(head []byte) bool {
	return format.ContainsAll(head, "refinery_schema_history", "message_nodes", "chat_message", "parent_node_id")
}

// Withholds leaves out the token in the program's directory.
func (devin) Withholds(h format.Head) bool {
	return path.Base(h.Path) == "credentials.toml" && path.Base(path.Dir(h.Path)) == homeName
}
