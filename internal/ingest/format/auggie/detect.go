package auggie

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/lazyregexp"
)

// What the program writes.
const (
	homeName    = ".augment"
	sessionsDir = "sessions"
)

// backupName matches the name of a backup, without its extension.
var backupName = lazyregexp.New(`^(.+)-backup[0-9]+$`)

// sessionOf returns the session that a file is called by, and whether the file is a backup of it.
func sessionOf(file string) (id string, isBackup bool) {
	id = format.Stem(file)
	if match := backupName.FindStringSubmatch(id); match != nil {
		return match[1], true
	}
	return id, false
}

// Detect claims sessions by their place, and elsewhere by what they hold.
func (f auggie) Detect(h format.Head) format.Claim {
	dir := path.Dir(h.Path)
	isHome := path.Base(dir) == sessionsDir && path.Base(path.Dir(dir)) == homeName
	switch {
	case f.Withholds(h), isHome && strings.HasSuffix(h.Path, ".tmp"): // it is being written
		return format.Claim{Strength: format.Certain, Skip: true}
	case path.Ext(h.Path) != ".json":
	case isHome:
		return format.Claim{Strength: format.Certain, Role: roleSession, Root: dir}
	case format.HasKeys(h.Bytes, "sessionId", "created", "modified", "chatHistory") && isHistory(h.Bytes):
		return format.Claim{Strength: format.Likely, Role: roleSession}
	}
	return format.Claim{}
}

// begun matches the beginning of a history: its first exchange, or none.
var begun = lazyregexp.New(`"chatHistory"\s*:\s*\[\s*(\]|\{\s*"exchange"\s*:\s*\{)`)

func isHistory(head []byte) bool { return begun.MatchString(string(head)) }

// Withholds leaves out the access token in the program's directory.
func (auggie) Withholds(h format.Head) bool {
	return path.Base(h.Path) == "session.json" && path.Base(path.Dir(h.Path)) == homeName
}
