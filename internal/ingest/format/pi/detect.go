package pi

import (
	"bytes"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/lazyregexp"
)

var (
	// sessionFile matches the name of a session's file: time and id.
	sessionFile = lazyregexp.New(`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}-[0-9]{2}-[0-9]{2}-[0-9]{3}Z_(.+)$`)
	// projectDir matches the name of a project's directory.
	projectDir = lazyregexp.New(`^--.*--$`)
)

// Detect claims sessions by place and content, elsewhere by content alone, and saved output. Only their own directories are a root:
// configuration and keys lie beside them.
func (pi) Detect(h format.Head) format.Claim {
	name, dir := path.Base(h.Path), path.Dir(h.Path)
	switch {
	case pi{}.Withholds(h):
		return format.Claim{Strength: format.Certain, Skip: true}
	case isOutput(h.Bytes):
		return format.Claim{Strength: format.Likely, Role: roleOutput, Log: true}
	case path.Ext(name) != ".jsonl":
		return format.Claim{}
	}
	claim := format.Claim{Strength: format.Certain, Role: roleSession, Log: true}
	known, foreign := Inspect(h.Bytes)
	hasName := sessionFile.MatchString(strings.TrimSuffix(name, ".jsonl"))
	switch {
	case projectDir.MatchString(path.Base(dir)) && (known || hasName && !foreign):
		claim.Root = dir
		if parent := path.Dir(dir); path.Base(parent) == "sessions" || parent == h.Top() {
			claim.Root = parent
		}
	case hasName && known:
		for _, top := range []string{dir, path.Dir(dir)} { // Oh My Pi names a project's directory "-shop"
			if path.Base(top) == "sessions" {
				claim.Root = top
				break
			}
		}
	case known:
		claim.Strength = format.Likely
	default:
		return format.Claim{}
	}
	return claim
}

// Withholds leaves out models.json, which may hold API keys of models that the user has added.
func (pi) Withholds(h format.Head) bool {
	if path.Base(h.Path) != "models.json" {
		return false
	}
	head := string(h.Bytes)
	return strings.Contains(head, `"providers"`) && strings.Contains(head, `"apiKey"`)
}

// SessionOf returns the session id in a file's name.
func SessionOf(file string) string {
	name := strings.TrimSuffix(path.Base(file), ".jsonl")
	if m := sessionFile.FindStringSubmatch(name); m != nil {
		return m[1]
	}
	return name
}

// parentOf returns the session that a file's session was started by: Oh My Pi keeps subagents in a directory named like their
// session's file, Prime Agent in session-artifacts/<session>/sub-<id>. "" if there is none.
func parentOf(file string) string {
	if dir := path.Dir(path.Dir(file)); path.Base(path.Dir(dir)) == "session-artifacts" && strings.HasPrefix(path.Base(path.Dir(file)), "sub-") {
		return path.Base(dir)
	}
	for dir := path.Dir(file); dir != "." && dir != "/"; dir = path.Dir(dir) {
		if m := sessionFile.FindStringSubmatch(path.Base(dir)); m != nil {
			return m[1]
		}
	}
	return ""
}

// Inspect reads the lines in the head until one is an entry. foreign says that there are whole objects and none is an entry.
func Inspect(head []byte) (known, foreign bool) {
	for line, whole := range format.ObjectLines(head) {
		if !format.MayHave(line, `"session"`, `"session_start"`, `"timestamp"`, `"createdAt"`) {
			foreign = foreign || whole && len(line) > 2 && bytes.HasSuffix(bytes.TrimSpace(line), []byte("}"))
			continue
		}
		v, err := jsontext.ParsePrefix(line)
		if v.Get("type").Is("session_start") { // of Droid, whose messages look the same
			return false, true
		}
		if isEntry(v) {
			return true, false
		}
		foreign = foreign || err == nil && v.Len() > 2
	}
	return false, foreign
}

// isEntry reports whether a line is a session header, or a message or change in the form that only these programs write.
func isEntry(v jsontext.Value) bool {
	has := func(keys ...string) bool {
		for _, key := range keys {
			if !v.Get(key).IsString() {
				return false
			}
		}
		return true
	}
	switch v.Get("kind").Str() { // version 4
	case "header":
		return has("id", "cwd") && v.Get("version").Exists() && v.Get("createdAt").Exists()
	case "entry":
		return has("type", "id") && v.Get("seq").Exists() && v.Get("timestamp").Exists()
	}
	switch v.Get("type").Str() {
	case "session":
		return has("id", "timestamp") && (has("cwd") || v.Get("version").Exists()) && !v.Get("payload").Exists()
	case "message":
		return has("timestamp") && messageRoles[v.Get("message", "role").Str()] && !v.Get("sessionId").Exists() && !v.Get("payload").Exists()
	case "model_change":
		return has("timestamp", "modelId")
	case "thinking_level_change":
		return has("timestamp", "thinkingLevel")
	}
	return false
}

// messageRoles are the roles of messages that may come first.
var messageRoles = map[string]bool{
	"user": true, "assistant": true, "toolResult": true, "bashExecution": true, "custom": true, "hookMessage": true, "system": true,
	"branchSummary": true, "compactionSummary": true,
}
