package goose

import (
	"bytes"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/lazyregexp"
)

const (
	sessionsDir  = "sessions"
	databaseName = "sessions.db"
)

// Detect claims the database by its tables, or by name and place where its first page does not show them; rows that were taken out of
// one; and files of sessions by how they begin, or by their place.
func (f goose) Detect(h format.Head) format.Claim {
	name, dir := path.Base(h.Path), path.Dir(h.Path)
	switch {
	case f.Withholds(h):
		return format.Claim{Strength: format.Certain, Skip: true}
	case format.IsSQLite(h.Bytes):
		return detectDatabase(h, name, dir)
	case path.Ext(name) == ".ndjson" && bytes.HasPrefix(h.Bytes, []byte(`{"table":"`+tablePrefix)):
		return format.Claim{Strength: format.Certain, Role: roleRows, Log: !bytes.HasPrefix(h.Bytes, []byte(`{"table":"`+tableSession+`"`))}
	case path.Ext(name) == ".jsonl" && inGoose(dir):
		return format.Claim{Strength: format.Certain, Role: roleFile}
	case path.Ext(name) == ".jsonl" && isSession(h.Bytes):
		return format.Claim{Strength: format.Likely, Role: roleFile}
	}
	return format.Claim{}
}

func detectDatabase(h format.Head, name, dir string) format.Claim {
	claim := format.Claim{Strength: format.Certain, Role: roleDatabase, Database: true}
	switch {
	case bytes.Contains(h.Bytes, []byte("content_json")) && bytes.Contains(h.Bytes, []byte("working_dir")):
		if name != databaseName {
			claim.Strength = format.Likely
		}
	case name == databaseName && inGoose(dir):
	case name == databaseName && (path.Base(dir) == sessionsDir || dir == h.Top()) && !format.ShowsSchema(h.Bytes):
		claim.Strength = format.Likely
	default:
		return format.Claim{}
	}
	return claim
}

// inGoose says that a directory is one of the program's for sessions.
func inGoose(dir string) bool {
	return strings.HasSuffix("/"+dir, "/goose/"+sessionsDir) || strings.HasSuffix("/"+dir, "/goose/data/"+sessionsDir)
}

// isSession says that a file begins with what the program notes of a session.
func isSession(head []byte) bool {
	line, _, _ := bytes.Cut(format.TrimBOM(head), []byte("\n"))
	return format.BeginsObject(line) && format.HasKeys(line, "description", "message_count") && format.HasKeys(line, "total_tokens")
}

// Withholds knows the keys of providers that the program keeps in a file where a machine has no better place.
func (goose) Withholds(h format.Head) bool {
	return path.Base(h.Path) == "secrets.yaml" && path.Base(path.Dir(h.Path)) == "goose"
}

// numbered is what the database calls a session: the day, and how many there were on it.
var numbered = lazyregexp.New(`^[0-9]{8}_[0-9]{1,5}$`)

// sessionID makes an id of what a database calls a session that holds for others, too.
func sessionID(id, began string) string {
	if numbered.MatchString(id) && began != "" {
		return id + " " + began
	}
	return id
}

// fileSession is the session that a file is called after.
func fileSession(file string) string { return strings.TrimSuffix(path.Base(file), path.Ext(file)) }
