package kiro

import (
	"bytes"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/lazyregexp"
)

// What the programs write.
const (
	databaseName  = "data.sqlite3"
	sessionsDir   = "sessions"
	commandDir    = "cli" // in it, the sessions of the command line
	editorDir     = "kiro.kiroagent"
	workspacesDir = "workspace-sessions"
)

var (
	bucket     = lazyregexp.New(`^([0-9a-f]{16}|_global)$`)                                   // sessions of a workspace
	sessionID  = lazyregexp.New(`^(sess_|cli_)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}.*$`) // of later versions
	executions = lazyregexp.New(`^[0-9a-f]{32}$`)
)

// Detect claims files by their places, and by content elsewhere.
func (f kiro) Detect(h format.Head) format.Claim {
	switch ext := path.Ext(h.Path); {
	case f.Withholds(h):
		return format.Claim{Strength: format.Certain, Skip: true}
	case format.IsSQLite(h.Bytes):
		return detectDatabase(h)
	case ext == ".ndjson":
		if strings.HasPrefix(format.FirstTable(h.Bytes), tablePrefix) {
			return format.Claim{Strength: format.Certain, Role: roleRows, Log: format.FirstTable(h.Bytes) != tableConversation}
		}
	case ext == ".jsonl":
		return detectLog(h)
	case ext == ".chat":
		return claimIf(inEditor(h.Path), format.HasKeys(h.Bytes, "executionId") && jsontext.BeginsObject(jsontext.TrimBOM(h.Bytes)), format.Claim{Role: roleChat})
	case ext == "":
		if name, dir := path.Base(h.Path), path.Base(path.Dir(h.Path)); executions.MatchString(name) && executions.MatchString(dir) && isExecution(h.Bytes) {
			return claimIf(inEditor(h.Path), true, format.Claim{Role: roleExecution})
		}
	case isExported(h.Bytes): // it has a session's members within
		return format.Claim{Strength: format.Likely, Role: roleExported}
	case ext == ".json":
		if c := detectDocument(h); c.Strength > format.None {
			return c
		}
	}
	if isSaved(h.Bytes) {
		return format.Claim{Strength: format.Likely, Role: roleSaved}
	}
	return format.Claim{}
}

// claimIf returns a claim that is certain where the place shows what the file is, and likely where its content does.
func claimIf(placed, shown bool, c format.Claim) format.Claim {
	switch {
	case placed:
		c.Strength = format.Certain
	case shown:
		c.Strength = format.Likely
	default:
		return format.Claim{}
	}
	return c
}

// detectDatabase claims a database by its place, or by its tables.
func detectDatabase(h format.Head) format.Claim {
	shown := format.ContainsAll(h.Bytes, "auth_kv", "TABLE conversations")
	placed := path.Base(h.Path) == databaseName && (isData(path.Dir(h.Path)) || shown)
	return claimIf(placed, shown, format.Claim{Role: roleDatabase, Database: true, Secret: true})
}

// isData reports whether a directory is where a program keeps its database.
func isData(dir string) bool {
	switch path.Base(dir) {
	case "kiro-cli", "amazon-q":
		return true
	}
	return false
}

// Withholds leaves out copies and journals of databases, which hold tokens, a token of its own, and locks.
func (kiro) Withholds(h format.Head) bool {
	switch name := path.Base(h.Path); {
	case name == "kiro-auth-token.json":
		return true
	case path.Ext(name) == ".lock":
		return commandRoot(h.Path) != ""
	case !isData(path.Dir(h.Path)) || !strings.HasPrefix(name, databaseName):
		return false
	case name == databaseName:
		return len(h.Bytes) > 0 && !format.IsSQLite(h.Bytes)
	}
	return true
}

// inEditor reports whether a file lies in the directory of the editor's extension.
func inEditor(file string) bool { return strings.Contains("/"+file, "/"+editorDir+"/") }

// inHome reports whether a file lies where the programs keep sessions, unless a variable has moved them: elsewhere content has to show what
// it is, since other programs use the same names.
func inHome(file string) bool { return strings.Contains("/"+file, "/.kiro/"+sessionsDir+"/") }

// commandRoot returns the directory of the command line's sessions, "" if the file is not in it.
func commandRoot(file string) string {
	dir := path.Dir(file)
	up := path.Dir(dir)
	if path.Base(dir) != commandDir || path.Base(up) != sessionsDir || path.Base(path.Dir(up)) != ".kiro" && !format.IsUUID(format.Stem(file)) {
		return ""
	}
	return dir
}

// sessionRoot returns the directory of a session of later versions, "" if dir is none.
func sessionRoot(dir string) string {
	if sessionID.MatchString(path.Base(dir)) && bucket.MatchString(path.Base(path.Dir(dir))) {
		return dir
	}
	return ""
}

// detectLog claims logs.
func detectLog(h format.Head) format.Claim {
	name, dir := path.Base(h.Path), path.Dir(h.Path)
	if strings.Contains("/"+h.Path, "/"+editorDir+"/dev_data/") {
		return format.Claim{Strength: format.Certain, Role: roleRequests, Log: true}
	}
	if root := commandRoot(h.Path); root != "" && (inHome(h.Path) || isLog(h.Bytes)) {
		return format.Claim{Strength: format.Certain, Role: roleLog, Root: root, Log: true}
	}
	messages := format.Claim{Role: roleMessages, Log: true}
	of := dir
	if path.Base(dir) == subDir {
		of = path.Dir(dir)
	}
	messages.Root = sessionRoot(of)
	switch {
	case of != dir:
		return claimIf(false, sessionID.MatchString(path.Base(of)) && isMessages(h.Bytes), messages)
	case name == "messages.jsonl" && sessionID.MatchString(path.Base(of)):
		shown := isMessages(h.Bytes)
		return claimIf(messages.Root != "" && (shown || inHome(h.Path)), shown, messages)
	case isLog(h.Bytes):
		return format.Claim{Strength: format.Likely, Role: roleLog, Log: true}
	}
	return format.Claim{}
}

// isLog reports whether the first line is one of a session of the command line.
func isLog(head []byte) bool {
	for line := range format.ObjectLines(head) {
		if !bytes.HasPrefix(line, []byte(`{"version":"v1","kind":"`)) {
			return false
		}
		v := jsontext.ParseStart(line)
		switch v.Get("kind").Word() {
		case "Prompt", "AssistantMessage", "ToolResults", "Compaction":
			return v.Get("data").IsObject()
		}
		return false
	}
	return false
}

// isMessages reports whether the first line is one of a session of later versions.
func isMessages(head []byte) bool {
	for line := range format.ObjectLines(head) {
		v := jsontext.ParseStart(line)
		return v.Get("payload", "type").IsString()
	}
	return false
}

// detectDocument claims documents.
func detectDocument(h format.Head) format.Claim {
	name, dir := path.Base(h.Path), path.Dir(h.Path)
	switch {
	case path.Base(path.Dir(dir)) == workspacesDir:
		c := format.Claim{Role: roleWorkspace, Root: path.Dir(dir)}
		if name == "sessions.json" {
			c.Role = roleList
		}
		if !inEditor(h.Path) {
			c.Root = ""
		}
		if strings.HasPrefix(name, ".") { // says that a session was moved
			c.Role = format.Other
		}
		return claimIf(inEditor(h.Path), format.HasKeys(h.Bytes, "sessionId", "title"), c)
	case name == "session.json" && sessionID.MatchString(path.Base(dir)):
		c := format.Claim{Role: roleMeta, Root: sessionRoot(dir)}
		shown := format.HasKeys(h.Bytes, "schemaVersion", "workspacePaths")
		return claimIf(c.Root != "" && (shown || inHome(h.Path)), shown, c)
	}
	root := commandRoot(h.Path)
	shown := jsontext.BeginsObject(jsontext.TrimBOM(h.Bytes)) && format.HasKeys(h.Bytes, "session_id", "session_state", "cwd")
	return claimIf(root != "" && (shown || inHome(h.Path)), shown, format.Claim{Role: roleSession, Root: root})
}

// isExecution reports whether a document begins like an execution.
func isExecution(head []byte) bool {
	return jsontext.BeginsObject(head) && jsontext.ParseStart(head).Get("executionId").IsString()
}

// isExported reports whether a document begins like a saved session. Users choose its name.
func isExported(head []byte) bool {
	head = jsontext.TrimBOM(head)
	return jsontext.BeginsObject(head) && format.HasKeys(head, "format", "metadata") && jsontext.ParseStart(head).Get("format").Is(exportFormat)
}

// exportFormat is what a saved session calls its format.
const exportFormat = "kiro-session-export-v1"

// isSaved reports whether a document begins like a saved conversation. Users choose its name.
func isSaved(head []byte) bool {
	head = jsontext.TrimBOM(head)
	if !jsontext.BeginsObject(head) || !format.HasKeys(head, "conversation_id", "next_message", "history") {
		return false
	}
	v := jsontext.ParseStart(head)
	next := v.Get("next_message")
	if !v.Get("conversation_id").IsString() || !next.IsNull() && !next.IsObject() || !next.Exists() {
		return false
	}
	for entry := range v.Get("history").Items() {
		user := entry.Get("user")
		for first := range entry.Items() {
			user = first
			break
		}
		return user.Get("additional_context").Exists() || user.Get("content").IsObject()
	}
	return v.Get("valid_history_range").Exists()
}
