package sillytavern

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// Detect claims a file by its first line, which is a header or, in groups of older versions, a message.
func (f sillyTavern) Detect(h format.Head) format.Claim {
	if f.Withholds(h) {
		return format.Claim{Strength: format.Certain, Skip: true}
	}
	if path.Ext(h.Path) != ".jsonl" {
		return format.Claim{}
	}
	lines := 0
	for line, whole := range format.ObjectLines(h.Bytes) {
		if lines++; lines > 2 || !format.MayHave(line, `"chat_metadata"`, `"character_name"`, `"mes"`) {
			return format.Claim{}
		}
		switch v := format.LineStart(line, whole); {
		case isMessage(v), isHeader(v) && v.Get("chat_metadata").IsObject():
			return claimOf(h.Path)
		case !isHeader(v): // else the next line must be a message
			return format.Claim{}
		}
	}
	return format.Claim{}
}

func claimOf(file string) format.Claim {
	claim := format.Claim{Strength: format.Likely, Role: roleChat}
	dir := path.Dir(file)
	switch {
	case path.Base(dir) == "backups" && strings.HasPrefix(path.Base(file), "chat_"):
		claim = format.Claim{Strength: format.Certain, Role: roleBackup}
	case path.Base(dir) == "group chats", path.Base(path.Dir(dir)) == "chats":
		claim.Strength = format.Certain
	}
	return claim
}

// Withholds leaves out the keys of providers, also where the program has kept a copy of them, what signs cookies, and accounts with their passwords.
func (sillyTavern) Withholds(h format.Head) bool {
	dir, name := path.Split(h.Path)
	switch {
	case name == "cookie-secret.txt":
		return true
	case path.Base(dir) == "_storage":
		return format.ContainsAll(h.Bytes, `"user:`, `"password"`)
	}
	return strings.HasPrefix(name, "secrets") && path.Ext(name) == ".json" && format.ContainsAll(h.Bytes, `"api_key_`)
}

// isHeader reports whether a line begins a chat: it names who chats. Newer versions write that nobody does, beside the metadata.
func isHeader(v jsontext.Value) bool {
	metadata := v.Get("chat_metadata")
	return !v.Get("mes").Exists() && !v.Get("role").Exists() &&
		(v.Get("user_name").IsString() && v.Get("character_name").IsString() || metadata.IsObject() && !v.Get("user_name").Exists())
}

// isMessage reports whether a line is a message.
func isMessage(v jsontext.Value) bool {
	return v.Get("mes").IsString() && v.Get("name").IsString() && v.Get("is_user").Bool() != 0 && !v.Get("role").Exists()
}
