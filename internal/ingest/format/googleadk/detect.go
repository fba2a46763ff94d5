package googleadk

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// Detect claims a database by its tables, or by its place if its first pages do not show them; originals taken out of one; and sessions in files. The
// tables may be among those of the user's program, and the state of sessions holds what users sign in with, so the database is never stored as a file.
func (googleADK) Detect(h format.Head) format.Claim {
	switch {
	case format.IsSQLite(h.Bytes):
		return detectDatabase(h)
	case path.Ext(h.Path) == ".ndjson" && format.FirstTable(h.Bytes) == rowEvent:
		return format.Claim{Strength: format.Certain, Role: roleRows, Log: true}
	case path.Ext(h.Path) == ".json" && isSaved(h.Bytes):
		if strings.HasSuffix(h.Path, savedSuffix) {
			return format.Claim{Strength: format.Certain, Role: roleSaved}
		}
		return format.Claim{Strength: format.Likely, Role: roleSaved}
	}
	return format.Claim{}
}

// savedSuffix ends the names of the files in which adk run saves sessions. Those that users take out of its web page have other names.
const savedSuffix = ".session.json"

// isSaved reports whether a file begins as a saved session, which is written in this order.
func isSaved(head []byte) bool {
	if !format.MayHave(head, `"app_name"`, `"appName"`) || !format.MayHave(head, `"user_id"`, `"userId"`) {
		return false
	}
	v := jsontext.ParseStart(jsontext.TrimBOM(head))
	return v.Get("id").IsString() && v.First("app_name", "appName").IsString() && v.First("user_id", "userId").IsString() &&
		(v.Get("state").IsObject() || v.Get("events").IsArray())
}

func detectDatabase(h format.Head) format.Claim {
	claim := format.Claim{Strength: format.Likely, Role: roleDatabase, Database: true, Secret: true}
	placed := strings.HasSuffix("/"+h.Path, "/.adk/session.db")
	switch {
	case hasTables(h.Bytes):
		if placed {
			claim.Strength = format.Certain
		}
	case !placed, format.ShowsSchema(h.Bytes):
		return format.Claim{}
	}
	return claim
}

// hasTables reports whether the first pages of a database show the tables of all schemas, with columns that they have in common. Other programs
// have sessions and events, too.
func hasTables(head []byte) bool {
	return format.HasTables(head, "sessions", "events", "app_states", "user_states") && format.ContainsAll(head, "app_name", "invocation_id", "session_id")
}
