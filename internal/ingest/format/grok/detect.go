package grok

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// sessionOf returns the session that a file's path states: the name of its directory, or of the one that the subagent's directory is in.
func sessionOf(file string) string {
	dir := path.Dir(file)
	if up := path.Dir(dir); path.Base(up) == "subagents" {
		return path.Base(path.Dir(up))
	}
	return path.Base(dir)
}

// store returns the directory above a file that has only sessions, "" if the path does not show it: configuration and keys lie beside it.
func store(file string) string {
	for dir := path.Dir(file); dir != path.Dir(dir); dir = path.Dir(dir) {
		if path.Base(dir) == "sessions" && path.Base(path.Dir(dir)) == ".grok" {
			return dir
		}
	}
	return ""
}

// Detect claims the files of a session by name and content, in the program's own directory or in one that has the name of a session.
func (grok) Detect(h format.Head) format.Claim {
	name, root := path.Base(h.Path), store(h.Path)
	own := root != ""
	if own && isPassing(name) {
		return format.Claim{Strength: format.Certain, Skip: true}
	}
	if !own {
		if root = path.Dir(h.Path); name == "meta.json" {
			root = path.Dir(path.Dir(root))
		}
		if !format.IsUUID(sessionOf(h.Path)) {
			return format.Claim{}
		}
	}
	claim := format.Claim{Strength: format.Certain, Root: root}
	switch name {
	case "updates.jsonl":
		claim.Role, claim.Log = roleUpdates, true
		return ifLines(claim, h, own, isUpdate)
	case "chat_history.jsonl":
		claim.Role, claim.Log = roleHistory, true
		return ifLines(claim, h, own, func(v jsontext.Value) bool { return itemOf(v) != "" })
	case "btw_history.jsonl":
		claim.Role, claim.Log = roleBeside, true
		return ifLines(claim, h, own, func(v jsontext.Value) bool { return v.Get("btwSessionId").Exists() })
	case "summary.json":
		claim.Role = roleSummary
		if format.HasKeys(h.Bytes, "info", "session_summary", "current_model_id") {
			return claim
		}
	case "meta.json":
		claim.Role = roleSubagent
		if path.Base(path.Dir(path.Dir(h.Path))) == "subagents" && format.HasKeys(h.Bytes, "parent_session_id", "child_session_id") {
			return claim
		}
	}
	return format.Claim{}
}

// isPassing reports whether a file is a lock, is being written, or is an index that the program makes from the others.
func isPassing(name string) bool {
	return strings.HasSuffix(name, ".lock") || strings.HasSuffix(name, ".tmp") || strings.HasPrefix(name, "session_search.sqlite")
}

// ifLines returns the claim if the first whole line in the head is of this kind. Without any it goes by the path.
func ifLines(claim format.Claim, h format.Head, own bool, test func(jsontext.Value) bool) format.Claim {
	for line := range format.ObjectLines(h.Bytes) {
		v, err := jsontext.ParsePrefix(line)
		if test(v) {
			return claim
		}
		if err == nil {
			return format.Claim{}
		}
	}
	if !own {
		claim.Strength = format.Likely
	}
	return claim
}

// isUpdate reports whether a line is an update.
func isUpdate(v jsontext.Value) bool { return v.Get("params", "update", "sessionUpdate").IsString() }
