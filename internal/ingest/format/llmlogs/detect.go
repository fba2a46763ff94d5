package llmlogs

import (
	"bytes"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

const (
	databaseName = "logs.db"
	// migrationName is in a row of the first table, which lists the migrations. That row is on the page after the first, also in a copy made
	// by VACUUM, and so in the head, even if the schema is too long for the first page.
	migrationName = "m010_create_new_log_tables"
)

// Detect claims databases by their migrations, by name and place or schema, or by columns that only they have; and originals taken out of one.
func (f llmlogs) Detect(h format.Head) format.Claim {
	name := path.Base(h.Path)
	switch {
	case f.Withholds(h):
		return format.Claim{Strength: format.Certain, Skip: true}
	case format.IsSQLite(h.Bytes):
		claim := format.Claim{Strength: format.Certain, Role: roleDatabase, Database: true}
		switch {
		case bytes.Contains(h.Bytes, []byte(migrationName)):
		case name == databaseName && path.Base(path.Dir(h.Path)) == programDir:
		case format.HasTables(h.Bytes, "responses", "conversations") && (name == databaseName || format.ContainsAll(h.Bytes, "datetime_utc", "conversation_id")),
			format.HasTables(h.Bytes, "turns", "threads") && (name == databaseName || format.ContainsAll(h.Bytes, "tip_message_hash", "parent_message_hash")):
			claim.Strength = format.Likely
		case name == databaseName && path.Dir(h.Path) == h.Top() && !format.ShowsSchema(h.Bytes): // its directory is the source
			claim.Strength = format.Likely
		default:
			return format.Claim{}
		}
		return claim
	case path.Ext(name) == ".ndjson" && strings.HasPrefix(format.FirstTable(h.Bytes), tablePrefix):
		claim := format.Claim{Strength: format.Certain, Role: roleRows, Log: true}
		if table := format.FirstTable(h.Bytes); table == tableFragment || table == tableAttachment {
			claim.Role, claim.Log = roleAttachment, false
		}
		return claim
	}
	return format.Claim{}
}

// Withholds leaves out keys.json, the API keys of providers beside the database.
func (llmlogs) Withholds(h format.Head) bool {
	return path.Base(h.Path) == "keys.json" && path.Base(path.Dir(h.Path)) == programDir
}

// sessionOf returns the conversation of an original. Its path below the database is <conversation>/<name>.ndjson, or
// <conversation>/<response or message>/<name>.ndjson for a fragment or attachment.
func sessionOf(file string) string {
	dir, name := path.Split(strings.TrimSuffix(file, ".ndjson"))
	if dir = path.Clean(dir); name != nameResponses && name != nameThread {
		dir = path.Dir(dir)
	}
	if base := path.Base(dir); base != "." && base != "/" {
		return base
	}
	return name
}
