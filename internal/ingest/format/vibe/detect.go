package vibe

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/lazyregexp"
)

// sessionName matches the name of a session: prefix, date, time and the first 8 characters of its id.
var sessionName = lazyregexp.New(`^.+_[0-9]{8}_[0-9]{6}_([0-9A-Za-z][0-9A-Za-z-]{3,7})$`)

// location is what a file's path states.
type location struct {
	name   string // of the session's directory or document
	run    string // the part of the id in the name, else the name
	parent string // run that started the subagent; "" if it is none
	store  string // directory that has only sessions, "" if the path does not show it
	known  bool   // the name is a session's

	unified string // directory of the session, if it is in the unified store of version 3
}

// locate reads <store>/<session>/<file>, <store>/<session>/agents/<session>/<file> and <store>/<session>.json. The store is known only by
// its default name: another may hold anything else.
func locate(file string) (l location) {
	dir := path.Dir(file)
	if path.Ext(file) == ".json" && sessionName.MatchString(strings.TrimSuffix(path.Base(file), ".json")) {
		l.name, l.known = strings.TrimSuffix(path.Base(file), ".json"), true
		l.run = idIn(l.name)
		l.store = store(dir)
		return l
	}
	l.name = path.Base(dir)
	l.known = sessionName.MatchString(l.name)
	l.run = idIn(l.name)
	up := path.Dir(dir)
	if path.Base(up) == "agents" {
		session := path.Dir(up)
		if name := path.Base(session); sessionName.MatchString(name) {
			l.parent, up = idIn(name), path.Dir(session)
		}
	}
	l.store = store(up)
	return l
}

// store returns a directory if its name shows that it has only sessions.
func store(dir string) string {
	if path.Base(dir) == "session" && path.Base(path.Dir(dir)) == "logs" {
		return dir
	}
	return ""
}

// idIn returns the part of a session's id in its name, or else the name.
func idIn(name string) string {
	if m := sessionName.FindStringSubmatch(name); m != nil {
		return m[1]
	}
	return name
}

// runOf returns the run of a session with a whole id.
func runOf(id string) string { return strings.ToValidUTF8(id[:min(len(id), 8)], "") }

// Detect claims sessions by the names of their directories and by content.
func (vibe) Detect(h format.Head) format.Claim {
	if l, role := locateUnified(h.Path); role != "" || l.inUnified() {
		return detectUnified(h, l, role)
	}
	name := path.Base(h.Path)
	if isPassing(h.Path) {
		return format.Claim{Strength: format.Certain, Skip: true}
	}
	l := locate(h.Path)
	if !l.known {
		return format.Claim{}
	}
	claim := format.Claim{Strength: format.Certain, Root: l.store}
	if claim.Root == "" && name != l.name+".json" {
		claim.Root = strings.TrimSuffix(path.Dir(h.Path), "/agents/"+l.name)
		if l.parent == "" {
			claim.Root = path.Dir(h.Path)
		}
	}
	switch {
	case name == "messages.jsonl":
		claim.Role, claim.Log = roleMessages, true
		known, foreign := inspect(h.Bytes)
		switch {
		case known:
		case foreign:
			return format.Claim{}
		default:
			claim.Strength = format.Likely
		}
	case (name == "meta.json" || name == "metadata.json") && format.HasKeys(h.Bytes, "session_id", "start_time"):
		claim.Role = roleMeta
	case name == l.name+".json" && format.HasKeys(h.Bytes, "metadata", "session_id", "start_time"):
		claim.Role = roleDocument
	default:
		return format.Claim{}
	}
	return claim
}

// isPassing reports whether a file in the store is a lock, a cache, or being written.
func isPassing(file string) bool {
	dir, name := path.Dir(file), path.Base(file)
	switch {
	case store(dir) != "":
		return strings.HasPrefix(name, ".session_index.")
	case store(path.Dir(dir)) != "":
		return path.Base(dir) == "active" || path.Base(dir) == ".last_session" || strings.HasSuffix(name, ".tmp") && locate(file).known
	}
	return strings.HasSuffix(name, ".tmp") && locate(file).store != "" && locate(file).known
}

// inspect reads the lines in the head until one is a message. foreign says that there are whole objects and none is a message.
func inspect(head []byte) (known, foreign bool) {
	for line := range format.ObjectLines(head) {
		v, err := jsontext.ParsePrefix(line)
		switch v.Get("role").Str() {
		case "user", "assistant", "tool", "system":
			if !v.Get("type").Exists() && !v.Get("message").Exists() {
				return true, false
			}
		}
		foreign = foreign || err == nil
	}
	return false, foreign
}
