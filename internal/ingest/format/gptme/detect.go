package gptme

import (
	"bytes"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/lazyregexp"
)

// location is what a file's path states.
type location struct {
	chat  string // name of the chat's directory
	file  string // path in it
	known bool   // the chat is in the program's own directory
}

// chatDir matches the path of a chat's file in the program's own directory.
var chatDir = lazyregexp.New(`(?:^|/)gptme/logs/([^/]+)/(.+)$`)

// locate reads <chat>/<file>, <chat>/branches/<file> and <chat>/views/<file>, wherever the chat lies.
func locate(file string) location {
	if m := chatDir.FindStringSubmatch(file); m != nil {
		return location{chat: m[1], file: m[2], known: true}
	}
	dir, name := path.Dir(file), path.Base(file)
	if above := path.Base(dir); above == "branches" || above == "views" {
		return location{chat: path.Base(path.Dir(dir)), file: above + "/" + name}
	}
	return location{chat: path.Base(dir), file: name}
}

// Detect claims a chat's files by their place, and elsewhere by their names and content. It claims nothing of what a chat works on in
// its directory (workspace).
func (gptme) Detect(h format.Head) format.Claim {
	l := locate(h.Path)
	c := format.Claim{Strength: format.Certain, Log: true}
	dir, name := path.Split(l.file)
	switch {
	case l.file == "conversation.jsonl":
		c.Role = roleLog
	case dir == "branches/" && path.Ext(name) == ".jsonl":
		c.Role = roleBranch
	case dir == "views/" && path.Ext(name) == ".jsonl":
		c.Role = roleView
	case l.file == "config.toml" && (l.known || bytes.HasPrefix(h.Bytes, []byte("[chat]\n")) && bytes.Contains(h.Bytes, []byte("\nworkspace = "))):
		return format.Claim{Strength: format.Certain, Role: roleConfig, Skip: h.Size > int64(len(h.Bytes)) || readConfig(string(h.Bytes)).secret}
	case l.file == "subagent-meta.json" && (l.known || format.HasKeys(h.Bytes, "agent_id", "logdir", "prompt")):
		return format.Claim{Strength: format.Certain, Role: roleSubagent}
	case l.known && (l.file == "events.jsonl" || strings.HasPrefix(l.file, "files/") || strings.HasPrefix(l.file, "tool-outputs/")):
		return format.Claim{Strength: format.Certain, Role: format.Other}
	default:
		return format.Claim{}
	}
	switch {
	case l.known && (hasMessage(h.Bytes, true) || !hasObject(h.Bytes)):
	case hasMessage(h.Bytes, false):
		c.Strength = format.Likely
	default:
		return format.Claim{}
	}
	return c
}

// members are those of a message; other programs' chats have others.
var members = map[string]bool{
	"role": true, "content": true, "timestamp": true, "files": true, "file_hashes": true, "pinned": true, "hide": true, "quiet": true, "ui_only": true,
	"ephemeral_ttl": true, "call_id": true, "metadata": true,
}

// hasMessage reports whether an object in a head is a message, or whether the first one is.
func hasMessage(head []byte, any bool) bool {
	for line, whole := range format.ObjectLines(head) {
		v := format.LineStart(line, whole)
		if isMessage(v, whole, !any) && (any || bytes.HasPrefix(line, []byte(`{"role": "`))) { // as Python writes it
			return true
		}
		if v.Exists() && !any {
			return false
		}
	}
	return false
}

// isMessage reports whether an object is a message. Only versions of 2023 wrote messages without a time.
func isMessage(v jsontext.Value, whole, timed bool) bool {
	for key := range v.Fields() {
		if !members[key] {
			return false
		}
	}
	role := v.Get("role").Word()
	return (role == "system" || role == "user" || role == "assistant") &&
		(!whole || v.Get("content").IsString() && (!timed || v.Get("timestamp").IsString()))
}

// hasObject reports whether a head has a whole JSON object.
func hasObject(head []byte) bool {
	for line, whole := range format.ObjectLines(head) {
		if _, err := jsontext.Parse(line); whole && err == nil {
			return true
		}
	}
	return false
}
