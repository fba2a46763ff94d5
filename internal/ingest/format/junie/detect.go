package junie

import (
	"path"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// What the program writes.
const (
	homeName    = ".junie"
	sessionsDir = "sessions"
	eventsName  = "events.jsonl"
	indexName   = "index.jsonl"
)

// sessionOf returns the session of an events.jsonl: its directory's name.
func sessionOf(file string) string {
	if name := path.Base(path.Dir(file)); name != "." && name != "/" {
		return name
	}
	return ""
}

// Detect claims sessions and the index by their place, and elsewhere by name and content.
func (f junie) Detect(h format.Head) format.Claim {
	if f.Withholds(h) {
		return format.Claim{Strength: format.Certain, Skip: true}
	}
	dir := path.Dir(h.Path)
	switch path.Base(h.Path) {
	case eventsName:
		return claim(h, roleEvents, path.Dir(dir), isEvent)
	case indexName:
		return claim(h, roleIndex, dir, isEntry)
	}
	return format.Claim{}
}

// claim claims a file of the sessions in dir.
func claim(h format.Head, role, dir string, isLine func([]byte) bool) format.Claim {
	c := format.Claim{Strength: format.Certain, Role: role, Log: role == roleEvents}
	switch {
	case path.Base(dir) == sessionsDir && path.Base(path.Dir(dir)) == homeName:
		c.Root = dir
	case role == roleEvents && sessionOf(h.Path) == "", !format.AnyLine(h.Bytes, isLine):
		return format.Claim{}
	default:
		c.Strength = format.Likely
	}
	return c
}

// isEvent reports whether a line, which may be cut, is an event.
func isEvent(line []byte) bool {
	if !format.MayHave(line, "kind") {
		return false
	}
	v := jsontext.ParseStart(line)
	switch kind := v.Get("kind"); {
	case kind.Is("SessionA2uxEvent"):
		return true
	case kind.Is("UserPromptEvent"):
		return v.Get("prompt").IsString()
	case kind.Is("TaskStartedEvent"):
		return v.Get("taskId").IsString()
	}
	return false
}

// isEntry reports whether a line, which may be cut, is one of the index.
func isEntry(line []byte) bool {
	v := jsontext.ParseStart(line)
	id, ok := v.Get("sessionId").Str(), v.Get("createdAt").MilliTime().Valid
	return ok && len(id) > len("session-") && id[:len("session-")] == "session-"
}

// Withholds leaves out the keys in the program's directory.
func (junie) Withholds(h format.Head) bool {
	return path.Base(h.Path) == "secure_credentials.json" && path.Base(path.Dir(h.Path)) == homeName
}
