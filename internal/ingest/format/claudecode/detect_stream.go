package claudecode

import (
	"bytes"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// detectStream recognises what a headless run printed, whatever the file is called and whatever else was written into it. Other programs
// print similar lines: Cursor's agent, Amp and Droid without the members that are required here, Qwen Code and CodeBuddy with others as well.
func detectStream(h format.Head) format.Claim {
	if !format.MayHave(h.Bytes, "session_id") || !format.MayHave(h.Bytes, `"tools"`, "hook_event", "cache_creation_input_tokens", "cost_usd", "rate_limit_info") {
		return format.Claim{}
	}
	head := bytes.TrimSpace(jsontext.TrimBOM(h.Bytes))
	if bytes.HasPrefix(head, []byte("[")) {
		for item := range jsontext.ParseStart(head).Items() {
			switch matchPrinted(item) {
			case fullMatch:
				return format.Claim{Strength: format.Likely, Role: roleMessages}
			case noMatch:
				return format.Claim{}
			}
		}
	}
	for line, whole := range format.ObjectLines(h.Bytes) {
		if !format.MayHave(line, "session_id") {
			continue
		}
		v, err := jsontext.ParsePrefix(line)
		switch matchPrinted(v) {
		case fullMatch:
			claim := format.Claim{Strength: format.Likely, Role: roleStream, Log: true}
			if !whole && err != nil { // Flow Studio's transcripts have such lines, with a time at their end
				claim.Strength = format.Weak
			}
			return claim
		case noMatch:
			return format.Claim{}
		}
	}
	if bytes.HasPrefix(head, []byte("{\n")) || bytes.HasPrefix(head, []byte("{\r\n")) {
		if matchPrinted(jsontext.ParseStart(head)) == fullMatch {
			return format.Claim{Strength: format.Likely, Role: roleMessages}
		}
	}
	return format.Claim{}
}

// matchPrinted tells what an object is: fullMatch for one that only Claude Code prints, noMatch for one of another program.
func matchPrinted(v jsontext.Value) match {
	has := func(keys ...string) bool {
		for _, key := range keys {
			if !v.Get(key).Exists() {
				return false
			}
		}
		return true
	}
	session, message := v.Get("session_id"), v.Get("message")
	id, uuid := message.Get("id"), v.Get("uuid").Str()
	switch {
	case has("qwen_code_version"), strings.Contains(v.Get("apiKeySource").Str(), "tencent"), strings.HasPrefix(session.Str(), "T-"), has("_audit_timestamp"):
		return noMatch // Qwen Code, CodeBuddy, Amp, Cowork
	case !session.IsString():
		return maybeMatch
	case uuid != "" && (uuid == session.Str() || uuid == id.Str()), isNull(v.Get("usage", "server_tool_use")):
		return noMatch // Qwen Code, CodeBuddy; a result of CodeBuddy
	}
	full := false
	switch v.Get("type").Str() { // not Word: it may be any program's
	case "system":
		tools := v.Get("tools")
		switch {
		case has("hook_event"):
			full = true
		case !v.Get("subtype").Is("init") || !tools.IsArray():
		case has("permissionMode"):
			full = true
		default: // the list may be longer than the head
			full = bytes.Contains(tools.Raw(), []byte(`"Bash"`)) && format.IsUUID(session.Str()) && !has("model")
		}
	case "assistant":
		full = id.IsString() && message.Get("type").Is("message") && message.Get("usage", "cache_creation_input_tokens").Exists()
	case "result", "": // its type may be the last member
		full = has("total_cost_usd") && (has("modelUsage") || v.Get("usage", "server_tool_use").Exists()) || has("cost_usd", "num_turns")
	case "rate_limit_event":
		full = has("rate_limit_info")
	}
	if full {
		return fullMatch
	}
	return maybeMatch
}

func isNull(v jsontext.Value) bool { return v.Exists() && v.IsNull() }
