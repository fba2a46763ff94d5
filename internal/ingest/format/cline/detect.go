package cline

import (
	"bytes"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/lazyregexp"
)

// taskFiles maps the file names in a task's folder to their roles, with a key that the file contains.
var taskFiles = map[string]struct{ role, key string }{
	"ui_messages.json":              {roleUI, `"ts"`},
	"claude_messages.json":          {roleUI, `"ts"`}, // its name in 2024
	"api_conversation_history.json": {roleAPI, `"role"`},
	"task_metadata.json":            {roleMetadata, `"model_usage"`},
	"history_item.json":             {roleHistory, `"task"`},
}

const compactionSuffix = ".compaction.json"

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
	case strings.HasSuffix(name, compactionSuffix) && path.Base(path.Dir(dir)) == "sessions" && format.HasKeys(h.Bytes, "source_message_count"):
		return format.Claim{Strength: format.Likely, Role: roleCompaction, Root: path.Dir(dir)}
	case isSavedResult(h.Path):
		return format.Claim{Strength: format.Likely, Role: roleResult}
	case name == path.Base(dir)+".json" && path.Base(path.Dir(dir)) == "sessions" && format.HasKeys(h.Bytes, "session_id"):
		return format.Claim{Strength: format.Likely, Role: roleManifest, Root: path.Dir(dir)}
	}
	return format.Claim{}
}

// isSavedResult reports whether a file is the whole output of a call, of which the session has only the beginning and the end:
// tool-results/results-<random>/<call>.result.txt. Nothing in it tells which session that is.
func isSavedResult(file string) bool {
	dir := path.Dir(file)
	return strings.HasSuffix(file, ".result.txt") && strings.HasPrefix(path.Base(dir), "results-") && path.Base(path.Dir(dir)) == resultsDir
}

const resultsDir = "tool-results"

// Withholds leaves out checkpoints: copies of the whole workspace at every step, in a git repository.
func (cline) Withholds(h format.Head) bool {
	return strings.Contains(h.Path, "/checkpoints/") && strings.Contains(h.Path, "tasks/")
}

func detectSession(h format.Head, dir string) format.Claim {
	claim := format.Claim{Strength: format.Likely, Role: roleSession, Root: rootOf(dir, "sessions", h.Top())}
	head := bytes.TrimSpace(jsontext.TrimBOM(h.Bytes))
	switch {
	case path.Base(claim.Root) == "sessions" && (len(head) == 0 || head[0] == '{' || head[0] == '['):
		claim.Strength = format.Certain
	case format.HasKeys(head, "messages", "role", "content"), format.HasKeys(head, "role", "content", "metrics"):
	default:
		return format.Claim{}
	}
	return claim
}

// rootOf returns the directory of all tasks or sessions above that of one, as far as it lies in the source. Above directories
// that are not named like tasks there is none: one that holds several projects, each with a task's files, is no program's.
func rootOf(dir, name, top string) string {
	if parent := path.Dir(dir); path.Base(parent) == name || parent == top && dir != top && taskID.MatchString(path.Base(dir)) {
		return parent
	}
	return dir
}

// taskID matches the names of task and session folders.
var taskID = lazyregexp.New(`^([0-9]{13}(_[0-9A-Za-z]+)?|[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12})$`)

// taskPath returns a file's path if it lies in a task's or session's folder, else its base name alone.
func taskPath(file string) string {
	dir := path.Dir(file)
	if parent := path.Base(path.Dir(dir)); parent != "tasks" && parent != "sessions" && !taskID.MatchString(path.Base(dir)) {
		return path.Base(file)
	}
	return file
}

// taskOf returns the task or session whose folder a file lies in.
func taskOf(file string) (task string, unnamed bool) {
	if dir := path.Base(path.Dir(file)); dir != "." && dir != "/" {
		return dir, false
	}
	if _, ok := taskFiles[path.Base(file)]; ok {
		return "task", true
	}
	return format.Stem(file), false
}
