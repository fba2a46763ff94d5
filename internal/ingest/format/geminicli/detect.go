package geminicli

import (
	"bytes"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/lazyregexp"
)

// sessionName matches the name of a session's file.
var sessionName = lazyregexp.New(`^session-.*\.jsonl?$`)

// qwenModel matches a model that only another program writes: Qwen Code, which kept sessions in the same way until December
// 2025.
var qwenModel = lazyregexp.New(`"model"\s*:\s*"(qwen|coder-model|vision-model)`)

// Detect claims files, those of Qwen Code weakly: they belong to that program's format if it is registered.
func (g gemini) Detect(h format.Head) format.Claim {
	claim := g.detect(h)
	if claim.Strength == format.None {
		claim = detectBeside(h)
	}
	if claim.Strength == format.None {
		return detectOutput(h)
	}
	if claim.Strength != format.None && (strings.Contains("/"+h.Path, "/.qwen/") || qwenModel.MatchString(string(h.Bytes))) {
		claim.Strength = format.Weak
	}
	return claim
}

// detect claims the files in a directory called chats by their place, and sessions elsewhere by their content.
func (gemini) detect(h format.Head) format.Claim {
	name, dir := path.Base(h.Path), path.Dir(h.Path)
	claim := format.Claim{Strength: format.Certain, Role: roleDocument}
	switch path.Ext(name) {
	case ".jsonl":
		claim.Role, claim.Log = roleLog, true
	case ".json":
	default:
		return format.Claim{}
	}
	fits := isSession(h.Bytes, claim.Log)
	switch {
	case path.Base(dir) == "chats" && (sessionName.MatchString(name) || fits || claim.Log && hasHeader(h.Bytes)):
		claim.Root = path.Dir(dir)
	case path.Base(path.Dir(dir)) == "chats" && (fits || claim.Log && (hasLine(h.Bytes) || format.IsUUID(path.Base(dir)) && !hasObject(h.Bytes))):
		claim.Root = path.Dir(path.Dir(dir))
	case name == "logs.json" && format.HasKeys(h.Bytes, "sessionId", "messageId", "message"):
		return format.Claim{Strength: format.Likely, Role: rolePrompts}
	case fits:
		claim.Strength = format.Likely
	default:
		return format.Claim{}
	}
	return claim
}

// isSession reports whether the first bytes look like a session: its header, in a line of a log, or its first message, in a
// document with any order of keys.
func isSession(head []byte, log bool) bool {
	start := bytes.TrimSpace(jsontext.TrimBOM(head))
	object := func(line []byte) bool { return bytes.HasPrefix(line, []byte("{")) }
	if !object(start) && !(log && format.AnyLine(head, object)) {
		return false
	}
	return format.HasKeys(head, "sessionId", "projectHash") ||
		format.HasKeys(head, "messages", "id", "timestamp", "type") && (hasAnswer(head) || format.HasKeys(head, "lastUpdated"))
}

// hasAnswer reports whether the first bytes have the type of an answer.
func hasAnswer(head []byte) bool {
	return format.HasKeys(head, "gemini") || format.HasKeys(head, "tabnine")
}

// hasHeader reports whether the first object of a log is a header that lacks the project.
func hasHeader(head []byte) bool {
	for line := range format.ObjectLines(head) {
		v, err := jsontext.Parse(line)
		return err == nil && v.Get("sessionId").IsString() && v.Get("startTime").IsString() && !v.Get("type").Exists()
	}
	return false
}

// hasLine reports whether a log has a line that could be a header or a message, with fewer members than isSession requires:
// where there are only subagents, their header may be torn, or lack the project.
func hasLine(head []byte) bool {
	return format.AnyLine(head, func(line []byte) bool {
		switch {
		case !bytes.HasPrefix(line, []byte("{")):
			return false
		case bytes.HasPrefix(line, []byte(`{"sessionId"`)), format.HasKeys(line, "sessionId") && (format.HasKeys(line, "kind") || format.HasKeys(line, "startTime") || format.HasKeys(line, "lastUpdated")):
			return true
		}
		return format.HasKeys(line, "id", "type", "content") && (hasAnswer(line) || format.HasKeys(line, "user"))
	})
}

// hasObject reports whether a line in the head is an object.
func hasObject(head []byte) bool {
	for line := range format.ObjectLines(head) {
		if _, err := jsontext.Parse(line); err == nil {
			return true
		}
	}
	return false
}

// parsePath returns what a file's path states: its name without the extension, the session whose subagent it is, and the
// project's directory.
func parsePath(file string) (name, parent, project string) {
	name = strings.TrimSuffix(strings.TrimSuffix(path.Base(file), "l"), ".json")
	dir := path.Dir(file)
	if path.Base(dir) != "chats" && path.Base(path.Dir(dir)) == "chats" {
		parent, dir = path.Base(dir), path.Dir(dir)
	}
	if path.Base(dir) == "chats" && path.Dir(dir) != "." {
		project = path.Base(path.Dir(dir))
	}
	return name, parent, project
}
