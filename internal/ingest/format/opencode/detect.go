package opencode

import (
	"path"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/lazyregexp"
)

// databaseName matches the names of the programs' databases, with or without a channel.
var databaseName = lazyregexp.New(`^(opencode|kilo|mimocode)(-[A-Za-z0-9._-]+)?\.db$`)

// Detect claims the records of the tree by place and content, databases by name or schema, originals
// exported from one, and saved output under any name. Only storage is a root: credentials, logs and snapshots lie beside it.
func (opencode) Detect(h format.Head) format.Claim {
	if claim := detectBeside(h); claim.Strength != format.None {
		return claim
	}
	claim := detectFile(h)
	if claim.Strength == format.None && isStream(h.Bytes) {
		return format.Claim{Strength: format.Likely, Role: roleStream, Log: true}
	}
	return claim
}

func detectFile(h format.Head) format.Claim {
	name := path.Base(h.Path)
	switch {
	case format.IsSQLite(h.Bytes):
		if databaseName.MatchString(name) || strings.HasSuffix("/"+h.Path, "/.zcode/cli/db/"+zcodeName) {
			return format.Claim{Strength: format.Certain, Role: roleDatabase, Database: true}
		}
		if hasSchema(h.Bytes) {
			return format.Claim{Strength: format.Likely, Role: roleDatabase, Database: true}
		}
		return format.Claim{}
	case path.Ext(name) == ".ndjson":
		if databaseName.MatchString(databaseOf(h.Path)) && isRows(h.Bytes) {
			return format.Claim{Strength: format.Certain, Role: roleRows}
		}
		if isZCode(h.Path) && isRows(h.Bytes) {
			return format.Claim{Strength: format.Likely, Role: roleRows}
		}
		return format.Claim{}
	case path.Ext(name) != ".json":
		return format.Claim{}
	case isExport(h.Bytes):
		return format.Claim{Strength: format.Likely, Role: roleExport}
	}
	return detectRecord(h)
}

// databaseOf returns the name of the database that rows are from.
func databaseOf(rows string) string { return path.Base(path.Dir(path.Dir(rows))) }

// isKilo reports whether rows are from a database of Kilo Code, which states what its gateway charged: 0 for free models.
func isKilo(rows string) bool { return strings.HasPrefix(databaseOf(rows), "kilo") }

// zcodeName is the name of the database of Z Code.
const zcodeName = "db.sqlite"

// isZCode reports whether rows are from a database of Z Code, whose input includes cached tokens, and whose output reasoning.
func isZCode(rows string) bool { return databaseOf(rows) == zcodeName }

// Withholds leaves out records of shared sessions, which hold secrets.
func (opencode) Withholds(h format.Head) bool {
	if path.Ext(h.Path) != ".json" || format.IsSQLite(h.Bytes) {
		return false
	}
	s := "/" + h.Path
	return strings.Contains(s, "/storage/session_share/") || strings.Contains(s, "/storage/share/") || strings.Contains(s, "/storage/session/share/")
}

func detectRecord(h format.Head) format.Claim {
	if (opencode{}).Withholds(h) {
		return format.Claim{Strength: format.Certain, Skip: true}
	}
	at := locate(h.Path)
	if at.role == "" {
		return format.Claim{}
	}
	claim := format.Claim{Strength: format.Certain, Role: at.role, Root: at.root}
	if path.Base(at.root) == "storage" {
		return claim
	}
	claim.Strength = format.Likely
	var fits bool
	switch at.role {
	case roleSession:
		fits = format.HasKeys(h.Bytes, "id", "time", "created") && (format.HasKeys(h.Bytes, "directory") || format.HasKeys(h.Bytes, "projectID") || format.HasKeys(h.Bytes, "version"))
	case roleMessage:
		fits = format.HasKeys(h.Bytes, "id", "role", "time", "created")
	case rolePart:
		fits = format.HasKeys(h.Bytes, "id", "type") && (format.HasKeys(h.Bytes, "messageID") || strings.HasPrefix(path.Base(h.Path), "prt_"))
	}
	if !fits && !(recordName.MatchString(path.Base(h.Path)) && isTorn(h)) {
		return format.Claim{}
	}
	return claim
}

// recordName matches the names of records. (If the source begins at storage, no path shows storage.)
var recordName = lazyregexp.New(`^(ses|msg|prt)_[0-9A-Za-z]+\.json$`)

// isTorn reports whether the head is the whole file and not JSON.
func isTorn(h format.Head) bool {
	_, err := jsontext.Parse(jsontext.TrimBOM(h.Bytes))
	return err != nil && int64(len(h.Bytes)) == h.Size
}

// hasSchema reports whether the first page of a database names the three tables of version 1, or the two of version 2.
func hasSchema(head []byte) bool {
	return format.HasTables(head, roleSession, roleMessage, rolePart) && format.ContainsAll(head, "message_id", "session_id") ||
		format.HasTables(head, tableSession, tableMessage)
}

func isRows(head []byte) bool {
	table := format.FirstTable(head)
	return table == "message" || strings.HasPrefix(table, "session")
}

// location is what the path of a record states.
type location struct {
	role, root       string
	session, msg, id string // id is the record's own
}

// locate reads session/<project>/<id>, message/<session>/<id> and part/<message>/<id>, and the layout of early versions:
// session/info/<id>, session/message/<session>/<id> and session/part/<session>/<message>/<id>.
func locate(file string) (at location) {
	all := strings.Split(path.Clean(file), "/")
	n := len(all)
	at.id = strings.TrimSuffix(all[n-1], ".json")
	dir := func(back int) string {
		if n-1-back < 0 {
			return ""
		}
		return all[n-1-back]
	}
	depth := 0
	switch {
	case dir(3) == rolePart && dir(4) == roleSession:
		at.role, at.session, at.msg, depth = rolePart, dir(2), dir(1), 4
	case dir(2) == rolePart:
		at.role, at.msg, depth = rolePart, dir(1), 2
	case dir(2) == roleMessage && dir(3) == roleSession:
		at.role, at.session, depth = roleMessage, dir(1), 3
	case dir(2) == roleMessage:
		at.role, at.session, depth = roleMessage, dir(1), 2
	case dir(2) == roleSession && !slices.Contains([]string{roleMessage, rolePart, "share"}, dir(1)):
		at.role, depth = roleSession, 2
	default:
		return location{id: at.id}
	}
	if at.root = strings.Join(all[:n-1-depth], "/"); at.root == "" {
		at.root = "."
	}
	return at
}
