package aiderdesk

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

// What the program writes.
const (
	homeName    = ".aider-desk"
	tasksDir    = "tasks"
	sessionsDir = "sessions"
)

// roles are the roles of the files of a task.
var roles = map[string]string{"context.json": roleContext, "settings.json": roleSettings, "todos.json": roleTodos}

// taskOf returns the task in whose directory a file lies, "" if that is not called by a task's id.
func taskOf(file string) string {
	if id := path.Base(path.Dir(file)); format.IsUUID(id) {
		return id
	}
	return ""
}

// isTask reports whether a directory is a task's in a project.
func isTask(dir string) bool {
	tasks := path.Dir(dir)
	return path.Base(tasks) == tasksDir && path.Base(path.Dir(tasks)) == homeName
}

// isSessions reports whether a directory is that of a project's sessions.
func isSessions(dir string) bool {
	return path.Base(dir) == sessionsDir && path.Base(path.Dir(dir)) == homeName
}

// Detect claims files by their place, and contexts elsewhere by their members. They stand alone: the directory of a task may also have a working tree of
// the project.
func (aiderDesk) Detect(h format.Head) format.Claim {
	dir, name := path.Dir(h.Path), path.Base(h.Path)
	switch {
	case isTask(dir) && roles[name] != "":
		return format.Claim{Strength: format.Certain, Role: roles[name]}
	case path.Ext(name) != ".json":
	case isSessions(dir):
		return format.Claim{Strength: format.Certain, Role: roleContext}
	case isContext(h.Bytes):
		return format.Claim{Strength: format.Likely, Role: roleContext}
	}
	return format.Claim{}
}

// isContext reports whether the first bytes are those of a document that has a list of messages as its first member, or as the one after its version.
func isContext(head []byte) bool {
	if !format.MayHave(head, `"contextMessages"`) {
		return false
	}
	before, after, _ := strings.Cut(string(head), `"contextMessages"`)
	after = strings.TrimLeft(after, " \t\r\n")
	if !strings.HasPrefix(strings.TrimSpace(before), "{") || strings.ContainsAny(before, "[}") {
		return false
	}
	return strings.HasPrefix(after, ":") && strings.HasPrefix(strings.TrimLeft(after[1:], " \t\r\n"), "[")
}
