package llmlogs

import (
	"bytes"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

const (
	databaseName = "logs.db"
	// migrated is what the first table of the database has in it, which lists what was done to the others: it stands behind the
	// first page, also in a copy that VACUUM made, where the schema itself is too long for a page.
	migrated = "m010_create_new_log_tables"
)

// Detect claims databases by what was done to them, by name and place or schema, or by columns that only they have, and rows that were taken out of one.
func (f llmlogs) Detect(h format.Head) format.Claim {
	name := path.Base(h.Path)
	switch {
	case f.Withholds(h):
		return format.Claim{Strength: format.Certain, Skip: true}
	case format.IsSQLite(h.Bytes):
		claim := format.Claim{Strength: format.Certain, Role: roleDatabase, Database: true}
		switch {
		case bytes.Contains(h.Bytes, []byte(migrated)):
		case name == databaseName && path.Base(path.Dir(h.Path)) == programDir:
		case hasTables(h.Bytes, "responses", "conversations") && (name == databaseName || hasAll(h.Bytes, "datetime_utc", "conversation_id")),
			hasTables(h.Bytes, "turns", "threads") && (name == databaseName || hasAll(h.Bytes, "tip_message_hash", "parent_message_hash")):
			claim.Strength = format.Likely
		case name == databaseName && path.Dir(h.Path) == h.Top() && !format.ShowsSchema(h.Bytes): // its directory is the source
			claim.Strength = format.Likely
		default:
			return format.Claim{}
		}
		return claim
	case path.Ext(name) == ".ndjson" && bytes.HasPrefix(h.Bytes, []byte(`{"table":"`+tablePrefix)):
		claim := format.Claim{Strength: format.Certain, Role: roleRows, Log: true}
		for _, held := range []string{tableFragment, tableAttachment} {
			if bytes.HasPrefix(h.Bytes, []byte(`{"table":"`+held+`"`)) {
				claim.Role, claim.Log = roleHeld, false
			}
		}
		return claim
	}
	return format.Claim{}
}

// Withholds knows the keys of providers beside the database.
func (llmlogs) Withholds(h format.Head) bool {
	return path.Base(h.Path) == "keys.json" && path.Base(path.Dir(h.Path)) == programDir
}

// hasTables says that a schema has these tables, however their names are quoted.
func hasTables(head []byte, names ...string) bool {
	for _, name := range names {
		found := false
		for _, quoted := range []string{"[" + name + "]", `"` + name + `"`, "`" + name + "`", name + " (", name + "("} {
			found = found || bytes.Contains(head, []byte("CREATE TABLE "+quoted))
		}
		if !found {
			return false
		}
	}
	return true
}

// hasAll says that all of some names stand in a schema.
func hasAll(head []byte, names ...string) bool {
	for _, name := range names {
		if !bytes.Contains(head, []byte(name)) {
			return false
		}
	}
	return true
}

// sessionOf is the conversation that an original belongs to, whose path below the database is <conversation>/<name>.ndjson, or
// <conversation>/<response or message>/<name>.ndjson of what is held beside it.
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
