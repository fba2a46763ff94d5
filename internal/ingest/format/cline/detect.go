package cline

import (
	"bytes"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/lazyregexp"
)

// taskFiles are what lies in the folder of a task, with one key that is in the file.
var taskFiles = map[string]struct{ role, key string }{
	"ui_messages.json":              {roleUI, `"ts"`},
	"claude_messages.json":          {roleUI, `"ts"`}, // what it was called in 2024
	"api_conversation_history.json": {roleAPI, `"role"`},
	"task_metadata.json":            {roleMetadata, `"model_usage"`},
	"history_item.json":             {roleHistory, `"task"`},
}

// Detect claims the files of a task by their names, and sessions by name and content. Only the folders of tasks and
// sessions are a root: settings, which may hold keys, and caches lie beside them.
func (cline) Detect(h format.Head) format.Claim {
	name, dir := path.Base(h.Path), path.Dir(h.Path)
	if (cline{}).Withholds(h) {
		return format.Claim{Strength: format.Certain, Skip: true}
	}
	if f, ok := taskFiles[name]; ok {
		claim := format.Claim{Strength: format.Likely, Role: f.role, Root: rootOf(dir, "tasks", h.Top())}
		if path.Base(claim.Root) == "tasks" {
			claim.Strength = format.Certain
		}
		empty := len(bytes.TrimSpace(h.Bytes)) < len(`[{"ts":`)
		if claim.Strength == format.Certain || empty || bytes.Contains(h.Bytes, []byte(f.key)) {
			return claim
		}
		return format.Claim{}
	}
	switch {
	case name == "taskHistory.json" && format.HasKeys(h.Bytes, "id", "ts", "task"):
		return format.Claim{Strength: format.Weak, Role: format.Other}
	case strings.HasSuffix(name, ".messages.json"):
		return detectSession(h, dir)
	case name == path.Base(dir)+".json" && path.Base(path.Dir(dir)) == "sessions" && format.HasKeys(h.Bytes, "session_id"):
		return format.Claim{Strength: format.Likely, Role: roleManifest, Root: path.Dir(dir)}
	}
	return format.Claim{}
}

// Withholds knows the copies of the whole workspace for every step, in a git repository of the program's own.
func (cline) Withholds(h format.Head) bool {
	return strings.Contains(h.Path, "/checkpoints/") && strings.Contains(h.Path, "tasks/")
}

func detectSession(h format.Head, dir string) format.Claim {
	claim := format.Claim{Strength: format.Likely, Role: roleSession, Root: rootOf(dir, "sessions", h.Top())}
	head := bytes.TrimSpace(format.TrimBOM(h.Bytes))
	switch {
	case path.Base(claim.Root) == "sessions" && (len(head) == 0 || head[0] == '{' || head[0] == '['):
		claim.Strength = format.Certain
	case format.HasKeys(head, "messages", "role", "content"), format.HasKeys(head, "role", "content", "metrics"):
	default:
		return format.Claim{}
	}
	return claim
}

// rootOf is the directory of all tasks or sessions, as far as the source shows it, for that of one.
func rootOf(dir, name, top string) string {
	if above := path.Dir(dir); path.Base(above) == name || above == top && dir != top {
		return above
	}
	return dir
}

// taskID is what the programs call the folders of tasks and sessions.
var taskID = lazyregexp.New(`^([0-9]{13}(_[0-9A-Za-z]+)?|[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12})$`)

// placed is the path of a file with the folder of its task. One that is called otherwise, elsewhere, is a folder like any other.
func placed(file string) string {
	dir := path.Dir(file)
	if above := path.Base(path.Dir(dir)); above != "tasks" && above != "sessions" && !taskID.MatchString(path.Base(dir)) {
		return path.Base(file)
	}
	return file
}

// taskOf is the task or session whose folder a file lies in.
func taskOf(file string) (task string, nameless bool) {
	if dir := path.Base(path.Dir(file)); dir != "." && dir != "/" {
		return dir, false
	}
	if _, ok := taskFiles[path.Base(file)]; ok {
		return "task", true
	}
	return strings.TrimSuffix(path.Base(file), path.Ext(file)), false
}
