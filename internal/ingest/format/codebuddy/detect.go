package codebuddy

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

const (
	projectsDir = "projects"
	agentsDir   = "subagents"
	agentPrefix = "agent-"
)

// location is what a file's path states.
type location struct {
	stem   string // of the file's name
	parent string // session in whose directory a sub-agent's file lies
	root   string // directory of all projects, "" if the path does not show the program's
	placed bool   // a session's or a sub-agent's place below a directory called projects
}

// homes are the directories of the programs.
var homes = map[string]bool{".codebuddy": true, ".workbuddy": true, ".workbuddy-ai": true, ".workbuddy-ent": true}

// locate reads projects/<project>/<session>.jsonl and projects/<project>/<session>/subagents/agent-<id>.jsonl.
func locate(file string) (l location) {
	l.stem = strings.TrimSuffix(path.Base(file), ".jsonl")
	project := path.Dir(file)
	if path.Base(project) == agentsDir && strings.HasPrefix(l.stem, agentPrefix) {
		l.parent = path.Base(path.Dir(project))
		project = path.Dir(path.Dir(project))
	}
	l.placed = path.Base(path.Dir(project)) == projectsDir
	for dir := path.Dir(file); dir != path.Dir(dir); dir = path.Dir(dir) {
		if path.Base(dir) == projectsDir && homes[path.Base(path.Dir(dir))] {
			l.root = dir
			break
		}
	}
	return l
}

// isAgent reports whether the name is that of a sub-agent's file.
func (l location) isAgent() bool { return strings.HasPrefix(l.stem, agentPrefix) }

// Detect claims sessions by their lines, and in the program's own directory by their names, too.
func (codebuddy) Detect(h format.Head) format.Claim {
	if path.Ext(h.Path) != ".jsonl" || isCredential(h.Path) {
		return detectFiled(h)
	}
	l := locate(h.Path)
	claim := format.Claim{Strength: format.Certain, Role: roleSession, Root: l.root, Log: true}
	if l.isAgent() {
		claim.Role = roleAgent
	}
	known, foreign := inspect(h.Bytes)
	switch {
	case known && l.placed:
	case known:
		claim.Strength = format.Likely
	case l.root != "" && l.placed && !foreign && (format.IsUUID(l.stem) || l.isAgent()):
	default:
		return format.Claim{}
	}
	return claim
}

// inspect reads the objects in the head until one is a line of these programs. foreign says that there are whole objects, and none has a type of
// theirs.
func inspect(head []byte) (known, foreign bool) {
	typed := false
	for line := range format.ObjectLines(head) {
		v, err := jsontext.ParsePrefix(line)
		typ := v.Get("type").Str()
		if isItem(v, typ) {
			return true, false
		}
		typed = typed || types[typ]
		foreign = foreign || err == nil
	}
	return false, foreign && !typed
}

// types are the types of lines. Claude Code has some of them, too.
var types = map[string]bool{
	"message": true, "reasoning": true, "function_call": true, "function_call_result": true, "topic": true, "ai-title": true, "session-meta": true,
	"file-history-snapshot": true,
}

// isItem reports whether an object is a line that only these programs write: an item of the Agents SDK in their envelope. The end of the head may
// have cut it.
func isItem(v jsontext.Value, typ string) bool {
	if _, ok := v.Get("timestamp").Int(); !ok || !v.Get("id").IsString() {
		return false
	}
	switch typ {
	case "message":
		if !v.Get("role").IsString() || !v.Get("content").IsArray() {
			return false
		}
		for block := range v.Get("content").Items() {
			if kind := block.Get("type").Str(); kind != "" {
				return strings.HasPrefix(kind, "input_") || strings.HasPrefix(kind, "output_") || kind == blobType
			}
		}
		return v.Get("providerData").IsObject()
	case "reasoning":
		return v.Get("rawContent").IsArray() || v.Get("providerData").IsObject()
	case "function_call", "function_call_result":
		return v.Get("callId").IsString()
	}
	return false
}
