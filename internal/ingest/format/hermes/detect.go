package hermes

import (
	"bytes"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/lazyregexp"
)

// What the program has in its home directory.
const (
	homeName       = ".hermes"
	databaseName   = "state.db"
	sessionsDir    = "sessions"
	profilesDir    = "profiles" // with a home directory for each
	snapshotPrefix = "session_"
	dumpPrefix     = "request_dump_"
)

// Detect claims a database by its place or its tables; originals taken out of one; and files of sessions by their place, or by how they
// begin.
func (f hermes) Detect(h format.Head) format.Claim {
	name, dir := path.Base(h.Path), path.Dir(h.Path)
	switch path.Ext(name) {
	case ".ndjson":
		if strings.HasPrefix(format.FirstTable(h.Bytes), tablePrefix) {
			return format.Claim{Strength: format.Certain, Role: roleRows, Log: format.FirstTable(h.Bytes) == tableMessage}
		}
	case ".jsonl":
		return detectLines(h, name, dir)
	case ".json":
		if f.Withholds(h) {
			return format.Claim{Strength: format.Certain, Skip: true}
		}
		return detectDocument(h, name, dir)
	default:
		switch {
		case f.Withholds(h):
			return format.Claim{Strength: format.Certain, Skip: true}
		case format.IsSQLite(h.Bytes):
			return detectDatabase(h, name, dir)
		}
	}
	return format.Claim{}
}

func detectDatabase(h format.Head, name, dir string) format.Claim {
	claim := format.Claim{Strength: format.Certain, Role: roleDatabase, Database: true}
	switch {
	case name == databaseName && isHome(dir):
	case hasTables(h.Bytes), name == databaseName && isTopHome(h, dir) && !format.ShowsSchema(h.Bytes):
		claim.Strength = format.Likely
	default:
		return format.Claim{}
	}
	return claim
}

// isHome reports whether a directory is the program's default home directory, or that of a profile in it.
func isHome(dir string) bool {
	if path.Base(path.Dir(dir)) == profilesDir {
		dir = path.Dir(path.Dir(dir))
	}
	return strings.HasSuffix("/"+dir, "/"+homeName) || strings.HasSuffix("/"+dir, "/AppData/Local/hermes")
}

// isTopHome reports whether a source may be a home directory elsewhere, or its profiles, and dir it or one of them.
func isTopHome(h format.Head, dir string) bool {
	parent := path.Dir(dir)
	return dir == h.Top() || path.Base(parent) == profilesDir && (parent == h.Top() || path.Dir(parent) == h.Top())
}

// hasTables reports whether the first pages of a database show the table of sessions.
func hasTables(head []byte) bool {
	return format.ContainsAll(head, "parent_session_id", "tool_call_count", "end_reason", "system_prompt")
}

// sessionName matches the ids that the program gives to sessions.
var sessionName = lazyregexp.New(`^(cron_.+_[0-9]{8}_[0-9]{6}|[0-9]{8}_[0-9]{6}_[0-9a-f]{6,8})$`)

// detectLines claims transcripts and exports, in JSON Lines.
func detectLines(h format.Head, name, dir string) format.Claim {
	log := format.Claim{Strength: format.Certain, Role: roleLog, Log: true}
	switch isSessions := path.Base(dir) == sessionsDir; {
	case isSessions && isHome(path.Dir(dir)):
		return log
	case isSessions && sessionName.MatchString(format.Stem(name)) && format.HasKeys(h.Bytes, "role"):
		log.Strength = format.Likely
		return log
	}
	for line := range format.ObjectLines(h.Bytes) {
		switch {
		case isLogMeta(line):
			log.Strength = format.Likely
			return log
		case isExport(line):
			return format.Claim{Strength: format.Likely, Role: roleExport}
		}
		break
	}
	return format.Claim{}
}

// isLogMeta reports whether a line begins a transcript of the gateway.
func isLogMeta(line []byte) bool {
	if !begins(line, "role") || !format.HasKeys(line[:min(len(line), 100)], "session_meta") {
		return false
	}
	v := jsontext.ParseStart(line)
	return v.Get("role").Is("session_meta") && v.Get("tools").Exists()
}

// isExport reports whether a line is a session as the program exports it. Its prompt may be so long that what follows is cut.
func isExport(line []byte) bool {
	if !begins(line, "id") || !format.HasKeys(line, "source", "user_id", "model_config") {
		return false
	}
	v := jsontext.ParseStart(line)
	return v.Get("id").IsString() && v.Get("source").IsString() && v.Get("user_id").Exists() && v.Get("model_config").Exists()
}

// begins reports whether the first member of an object has a key. It is a cheap test, since the program always writes members in the same order.
func begins(line []byte, key string) bool {
	member, _ := bytes.CutPrefix(bytes.TrimSpace(line), []byte("{"))
	return bytes.HasPrefix(bytes.TrimSpace(member), []byte(`"`+key+`"`))
}

// detectDocument claims the snapshots of a session, in JSON.
func detectDocument(h format.Head, name, dir string) format.Claim {
	if !strings.HasPrefix(name, snapshotPrefix) && !sessionName.MatchString(format.Stem(name)) {
		return format.Claim{}
	}
	claim := format.Claim{Strength: format.Certain, Role: roleSnapshot}
	if path.Base(dir) != sessionsDir || !isHome(path.Dir(dir)) {
		if !format.HasKeys(h.Bytes, "session_id", "base_url", "session_start") {
			return format.Claim{}
		}
		claim.Strength = format.Likely
	}
	return claim
}

// Withholds leaves out credentials and settings, which hold keys, and dumps of requests, which hold headers.
func (hermes) Withholds(h format.Head) bool {
	dir := path.Dir(h.Path)
	switch name := path.Base(h.Path); name {
	case ".env", "auth.json", "config.yaml":
		return isHome(dir)
	default:
		return strings.HasPrefix(name, dumpPrefix) && path.Ext(name) == ".json" && path.Base(dir) == sessionsDir
	}
}
