package cursor

import (
	"bytes"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/lazyregexp"
)

// workspaceHash matches the directory of a workspace's command line sessions.
var workspaceHash = lazyregexp.New(`^[0-9a-f]{32}$`)

// Detect claims transcripts by their place or their first lines, saved output by its lines, and databases by their names and tables.
// Only the directories of transcripts are a root: tokens, settings and caches lie beside them.
func (cursor) Detect(h format.Head) format.Claim {
	name, dir, at := path.Base(h.Path), path.Dir(h.Path), location{}
	switch path.Ext(name) {
	case ".json", ".jsonl", ".txt": // a cheap test first: Detect sees every file
		at = locate(h.Path, h.Top())
	}
	switch {
	case cursor{}.Withholds(h):
		return format.Claim{Strength: format.Certain, Skip: true}
	case name == stateName && format.IsSQLite(h.Bytes):
		return format.Claim{Strength: format.Certain, Role: roleState, Database: true, Secret: true}
	case name == storeName && isStore(h):
		return format.Claim{Strength: format.Certain, Role: roleStore, Database: true, Secret: true}
	case name == metaName && (workspaceHash.MatchString(path.Base(path.Dir(dir))) && format.HasKeys(h.Bytes, "schemaVersion", "hasConversation") ||
		path.Base(path.Dir(dir)) == acpDir && format.HasKeys(h.Bytes, "schemaVersion", "cwd")):
		return format.Claim{Strength: format.Certain, Role: roleMeta}
	case name == workspaceName && at.workspace != "" && path.Base(dir) == at.workspace && strings.Contains("/"+h.Path, "/Cursor/User/") && // other editors have such files, too
		(format.HasKeys(h.Bytes, "folder") || format.HasKeys(h.Bytes, "workspace")):
		return format.Claim{Strength: format.Likely, Role: roleWorkspace}
	case path.Ext(name) == ".jsonl" && at.root != "":
		return format.Claim{Strength: format.Certain, Role: roleTranscript, Root: at.root, Log: true}
	case path.Ext(name) == ".jsonl" && isTranscript(h.Bytes):
		return format.Claim{Strength: format.Likely, Role: roleTranscript, Log: true}
	case path.Ext(name) == ".txt" && at.root != "":
		return format.Claim{Strength: format.Certain, Role: rolePlain, Root: at.root}
	case path.Ext(name) == ".txt" && at.session == path.Base(dir) && isPlain(h.Bytes):
		return format.Claim{Strength: format.Likely, Role: rolePlain}
	case path.Ext(name) == ".txt" && isToolOutput(dir, h.Top()):
		return format.Claim{Strength: format.Weak, Role: format.Other}
	case isPlan(h):
		return format.Claim{Strength: format.Certain, Role: rolePlan}
	case isOutput(h.Bytes):
		return format.Claim{Strength: format.Likely, Role: roleStream, Log: true}
	case path.Ext(name) == ".ndjson":
		return detectRows(h, dir)
	}
	return format.Claim{}
}

// isToolOutput reports whether dir holds outputs of tools or terminals, beside the transcripts of a workspace.
func isToolOutput(dir, top string) bool {
	grandparent := path.Dir(path.Dir(dir))
	switch path.Base(dir) {
	case "agent-tools":
		return grandparent == top || path.Base(grandparent) == "projects"
	case "terminals":
		return path.Base(grandparent) == "projects"
	}
	return false
}

// detectRows claims originals that were taken out of a database.
func detectRows(h format.Head, dir string) format.Claim {
	switch {
	case (path.Base(path.Dir(dir)) == stateName || path.Base(dir) == stateName) && hasTable(h.Bytes, tableComposer, tableHeader, tableBubble, tableLost, tableList):
		return format.Claim{Strength: format.Certain, Role: roleRows}
	case path.Base(dir) == storeName && hasTable(h.Bytes, tableMeta, tableMessage, tableLost):
		return format.Claim{Strength: format.Certain, Role: roleChat}
	}
	return format.Claim{}
}

func hasTable(head []byte, names ...string) bool {
	for _, name := range names {
		if bytes.HasPrefix(head, []byte(`{"table":"`+name+`",`)) {
			return true
		}
	}
	return false
}

// Withholds leaves out files that hold tokens: databases of this family of editors with other content, their journals and
// backups, and the settings of the command line.
func (cursor) Withholds(h format.Head) bool {
	name, dir := path.Base(h.Path), path.Dir(h.Path)
	switch {
	case name == stateName:
		return len(h.Bytes) > 0 && !format.IsSQLite(h.Bytes)
	case strings.HasPrefix(name, stateName) || strings.HasPrefix(name, storeName+"-") && isSessions(path.Dir(dir)):
		return true
	case name == "mcp-auth.json":
		return true
	case name == "cli-config.json":
		return format.HasKeys(h.Bytes, "authInfo")
	case name == "mcp.json":
		return path.Base(dir) == ".cursor"
	}
	return false
}

// isStore reports whether a database is that of a command line session, by its two tables, or by its place while only its WAL has them.
func isStore(h format.Head) bool {
	if !format.IsSQLite(h.Bytes) {
		return false
	}
	return format.ContainsAll(h.Bytes, "TABLE blobs", "TABLE meta") ||
		isSessions(path.Dir(path.Dir(h.Path)))
}

// isSessions reports whether a directory holds those of the command line's sessions.
func isSessions(dir string) bool {
	return workspaceHash.MatchString(path.Base(dir)) || path.Base(dir) == acpDir
}

// isTranscript reports whether a line begins like Cursor's. These have nothing before the role.
func isTranscript(head []byte) bool {
	return format.AnyLine(head, func(line []byte) bool {
		return bytes.HasPrefix(line, []byte(`{"role":"user","message":{"content":`)) || bytes.HasPrefix(line, []byte(`{"role":"assistant","message":{"content":`))
	})
}

// isPlain reports whether a text begins with a user's line.
func isPlain(head []byte) bool {
	head = jsontext.TrimBOM(head)
	return bytes.HasPrefix(head, []byte("user:\n")) || bytes.HasPrefix(head, []byte("user:\r\n"))
}

// isOutput reports whether a line is one that only Cursor's command line program prints. Claude Code and programs made after it print
// lines of the same types, with other members; messages alone do not tell.
func isOutput(head []byte) bool {
	if !isCandidate(head) {
		return false
	}
	for line := range format.ObjectLines(head) {
		if !isCandidate(line) {
			continue
		}
		if v, err := jsontext.Parse(line); err == nil && v.IsObject() && v.Get("session_id").IsString() && isOutputLine(v) {
			return true
		}
	}
	return false
}

// isCandidate reports, without parsing, whether isOutputLine may be true.
func isCandidate(line []byte) bool {
	return format.HasKeys(line, "session_id") && format.MayHave(line, "apiKeySource", "call_id", "thinking", "is_error")
}

func isOutputLine(v jsontext.Value) bool {
	has := func(keys ...string) bool { return v.First(keys...).Exists() }
	switch v.Get("type").Str() + " " + v.Get("subtype").Str() {
	case "system init":
		return has("apiKeySource") && has("permissionMode") && !has("uuid", "tools", "mcp_servers", "claude_code_version")
	case "tool_call started", "tool_call completed":
		_, _, tool := toolOf(v.Get("tool_call"))
		return tool.Exists() && has("call_id")
	case "thinking delta", "thinking completed":
		return has("timestamp_ms") && !has("uuid", "message")
	case "result success", "result error":
		return has("duration_ms") && has("is_error") && !has("uuid", "num_turns", "total_cost_usd") && (has("request_id") || v.Get("usage", "inputTokens").Exists())
	}
	return false
}
