package goose

import (
	"bytes"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/lazyregexp"
)

const (
	sessionsDir  = "sessions"
	databaseName = "sessions.db"
)

// Detect claims a database by its tables, or by name and place if its first page does not show them; originals taken out of
// one; and session files by how they begin, or by their place.
func (f goose) Detect(h format.Head) format.Claim {
	name, dir := path.Base(h.Path), path.Dir(h.Path)
	switch {
	case f.Withholds(h):
		return format.Claim{Strength: format.Certain, Skip: true}
	case format.IsSQLite(h.Bytes):
		return detectDatabase(h, name, dir)
	case path.Ext(name) == ".ndjson" && strings.HasPrefix(format.FirstTable(h.Bytes), tablePrefix):
		return format.Claim{Strength: format.Certain, Role: roleRows, Log: format.FirstTable(h.Bytes) != tableSession}
	case path.Ext(name) == ".jsonl" && isSessionsDir(dir):
		return format.Claim{Strength: format.Certain, Role: roleFile}
	case path.Ext(name) == ".jsonl" && isSession(h.Bytes):
		return format.Claim{Strength: format.Likely, Role: roleFile}
	}
	return format.Claim{}
}

func detectDatabase(h format.Head, name, dir string) format.Claim {
	claim := format.Claim{Strength: format.Certain, Role: roleDatabase, Database: true}
	switch {
	case format.ContainsAll(h.Bytes, "content_json", "working_dir"):
		if name != databaseName {
			claim.Strength = format.Likely
		}
	case name == databaseName && isSessionsDir(dir):
	case name == databaseName && (path.Base(dir) == sessionsDir || dir == h.Top()) && !format.ShowsSchema(h.Bytes):
		claim.Strength = format.Likely
	default:
		return format.Claim{}
	}
	return claim
}

// isSessionsDir reports whether a directory is Goose's for sessions.
func isSessionsDir(dir string) bool {
	return strings.HasSuffix("/"+dir, "/goose/"+sessionsDir) || strings.HasSuffix("/"+dir, "/goose/data/"+sessionsDir)
}

// isSession reports whether a file begins with the metadata line of a session.
func isSession(head []byte) bool {
	line, _, _ := bytes.Cut(jsontext.TrimBOM(head), []byte("\n"))
	return jsontext.BeginsObject(line) && format.HasKeys(line, "description", "message_count") && format.HasKeys(line, "total_tokens")
}

// Withholds leaves out secrets.yaml, which holds the API keys of providers on machines with no better place for them.
func (goose) Withholds(h format.Head) bool {
	return path.Base(h.Path) == "secrets.yaml" && path.Base(path.Dir(h.Path)) == "goose"
}

// dailyID matches the session ids of a database: the day, and a number that starts again each day.
var dailyID = lazyregexp.New(`^[0-9]{8}_[0-9]{1,5}$`)

// sessionID makes the id of a session unique across databases.
func sessionID(id, began string) string {
	if dailyID.MatchString(id) && began != "" {
		return id + " " + began
	}
	return id
}
