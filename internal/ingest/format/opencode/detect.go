package opencode

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/lazyregexp"
)

// databaseName is what the programs call their databases, with a channel or without.
var databaseName = lazyregexp.New(`^(opencode|kilo)(-[A-Za-z0-9._-]+)?\.db$`)

// Detect claims the records of the tree by where they lie and what they have, databases by name or schema, and rows
// that were exported from one. Only storage is a root: credentials, logs and snapshots lie beside it.
func (opencode) Detect(h format.Head) format.Claim {
	name := path.Base(h.Path)
	switch {
	case format.IsSQLite(h.Bytes):
		if databaseName.MatchString(name) {
			return format.Claim{Strength: format.Certain, Role: roleDatabase, Database: true}
		}
		if hasSchema(h.Bytes) {
			return format.Claim{Strength: format.Likely, Role: roleDatabase, Database: true}
		}
		return format.Claim{}
	case path.Ext(name) == ".ndjson":
		if databaseName.MatchString(path.Base(path.Dir(path.Dir(h.Path)))) && isRows(h.Bytes) {
			return format.Claim{Strength: format.Certain, Role: roleRows}
		}
		return format.Claim{}
	case path.Ext(name) != ".json":
		return format.Claim{}
	}
	return detectRecord(h)
}

// Withholds knows the secrets of shared sessions.
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
	at := place(h.Path)
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
	if !fits && !(named.MatchString(path.Base(h.Path)) && isTorn(h)) {
		return format.Claim{}
	}
	return claim
}

// named is what the program calls its records. (The source may begin at storage, which no path shows then.)
var named = lazyregexp.New(`^(ses|msg|prt)_[0-9A-Za-z]+\.json$`)

// isTorn says that a whole file is in sight and no JSON.
func isTorn(h format.Head) bool {
	_, err := format.ParseJSON(format.TrimBOM(h.Bytes))
	return err != nil && int64(len(h.Bytes)) == h.Size
}

// hasSchema says that the first page of a database names the three tables, or the two of version 2.
func hasSchema(head []byte) bool {
	return hasTables(head, roleSession, roleMessage, rolePart) && bytes.Contains(head, []byte("message_id")) && bytes.Contains(head, []byte("session_id")) ||
		hasTables(head, tableSession, tableMessage)
}

func hasTables(head []byte, names ...string) bool {
	for _, table := range names {
		if !bytes.Contains(head, []byte("CREATE TABLE `"+table+"`")) && !bytes.Contains(head, []byte("CREATE TABLE "+table)) &&
			!bytes.Contains(head, []byte(`CREATE TABLE "`+table+`"`)) {
			return false
		}
	}
	return true
}

func isRows(head []byte) bool {
	return bytes.HasPrefix(head, []byte(`{"table":"message"`)) || bytes.HasPrefix(head, []byte(`{"table":"session`))
}

// spot is what the path of a record tells.
type spot struct {
	role, root        string
	session, msg, own string // ids
}

// place reads session/<project>/<id>, message/<session>/<id> and part/<message>/<id>, and the same of early versions:
// session/info/<id>, session/message/<session>/<id> and session/part/<session>/<message>/<id>.
func place(file string) (at spot) {
	all := strings.Split(path.Clean(file), "/")
	n := len(all)
	at.own = strings.TrimSuffix(all[n-1], ".json")
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
		return spot{own: at.own}
	}
	if at.root = strings.Join(all[:n-1-depth], "/"); at.root == "" {
		at.root = "."
	}
	return at
}
