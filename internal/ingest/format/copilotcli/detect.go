package copilotcli

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/lazyregexp"
)

const (
	stateDir   = "session-state"
	eventsFile = "events.jsonl"
	editorFile = "vscode.metadata.json"
)

// sessionID matches the name of a session's directory.
var sessionID = lazyregexp.New(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// Detect claims the files of session-state by their place, and sessions elsewhere by their first lines.
func (copilot) Detect(h format.Head) format.Claim {
	if (copilot{}).Withholds(h) {
		return format.Claim{Strength: format.Certain, Skip: true}
	}
	if claim := detectProduct(h); claim.Strength != format.None {
		return claim
	}
	name, dir := path.Base(h.Path), path.Dir(h.Path)
	switch {
	case isEarly(h):
		return format.Claim{Strength: format.Certain, Role: roleEarly}
	case name == storeName && format.IsSQLite(h.Bytes):
		return format.Claim{Strength: format.Certain, Role: roleStore, Database: true}
	case name == usageFile && path.Base(path.Dir(dir)) == storeName && format.FirstTable(h.Bytes) == "usage":
		return format.Claim{Strength: format.Certain, Role: roleUsage}
	case name == "workspace.yaml" && isWorkspace(h.Bytes):
		return format.Claim{Strength: format.Likely, Role: roleWorkspace, Root: rootAbove(dir)}
	case name == editorFile && sessionID.MatchString(path.Base(dir)) && (format.HasKeys(h.Bytes, "customTitle") || format.HasKeys(h.Bytes, "parentSessionId")):
		return format.Claim{Strength: format.Likely, Role: roleEditor, Root: rootAbove(dir)}
	}
	if path.Base(dir) != stateDir && path.Base(path.Dir(dir)) != stateDir {
		named := name == eventsFile || sessionID.MatchString(strings.TrimSuffix(name, ".jsonl")) // as a session, whose first line may be torn
		if output, certainly := isOutput(h.Bytes); certainly || output && !named {
			return format.Claim{Strength: format.Likely, Role: roleOutput, Log: true}
		}
	}
	if path.Ext(name) != ".jsonl" {
		return format.Claim{}
	}
	claim := format.Claim{Strength: format.Certain, Role: roleEvents, Log: true}
	fits := isSession(h.Bytes)
	switch {
	case path.Base(dir) == stateDir:
		claim.Root = dir
	case name == eventsFile && path.Base(path.Dir(dir)) == stateDir:
		claim.Root = path.Dir(dir)
	case name == eventsFile && (fits || sessionID.MatchString(path.Base(dir)) && !hasObject(h.Bytes)):
		// The source may be a directory inside session-state, or a single session.
		claim.Root = rootAbove(dir)
	case fits:
		claim.Strength = format.Likely
	default:
		return format.Claim{}
	}
	return claim
}

// Withholds leaves out files beside the sessions that hold credentials: Copilot's own on machines without a keychain, and
// those of MCP servers.
func (copilot) Withholds(h format.Head) bool {
	switch name := path.Base(h.Path); name {
	case "config.json":
		return format.HasKeys(h.Bytes, "copilot_tokens") || format.HasKeys(h.Bytes, "copilotTokens")
	case "mcp-config.json":
		return format.HasKeys(h.Bytes, "mcpServers")
	default:
		return name == "mcp-oauth-config.json" || strings.Contains("/"+h.Path, "/mcp-oauth-config/")
	}
}

// rootAbove returns the directory of all sessions above that of one, as far as it lies in the source.
func rootAbove(session string) string {
	if path.Base(path.Dir(session)) == stateDir {
		return path.Dir(session)
	}
	return session
}

// hasObject reports whether any line is JSON and could identify the session. The file may be empty or unreadable so far.
func hasObject(head []byte) bool {
	return format.AnyLine(head, func(line []byte) bool {
		_, err := jsontext.Parse(line)
		return err == nil
	})
}

// sessionTypes are event types that only sessions have, and their output.
var sessionTypes = []string{"user.message", "assistant.message", "assistant.turn_start", "tool.execution_start", "tool.execution_complete", "session.shutdown"}

// isSession reports whether a line is a session's: an envelope with a session.start, with the chain of ids, or with a type that
// only sessions have. The line may be cut off.
func isSession(head []byte) bool {
	return format.AnyLine(head, func(line []byte) bool {
		return bytes.HasPrefix(line, []byte("{")) && format.HasKeys(line, "type", "data") && !format.HasKeys(line, "customType") && !format.HasKeys(line, "message", "role") && // customType and message are Pi's
			(format.HasKeys(line, "session.start", "sessionId") || format.HasKeys(line, "copilotVersion") || format.HasKeys(line, "id", "timestamp", "parentId") ||
				slices.ContainsFunc(sessionTypes, func(t string) bool { return format.HasKeys(line, t) }))
	})
}

// isWorkspace tells Copilot's workspace.yaml from other files of that name.
func isWorkspace(head []byte) bool {
	keys := 0
	for line := range bytes.Lines(head) {
		switch key, _, _ := bytes.Cut(line, []byte(":")); string(key) {
		case "id", "cwd":
			keys++
		}
	}
	return keys == 2
}

// sessionOf returns the session id in a file's path.
func sessionOf(file string) string {
	name := path.Base(file)
	if name == eventsFile || name == "workspace.yaml" || name == editorFile || name == usageFile {
		if dir := path.Base(path.Dir(file)); dir != "." && dir != "/" {
			return dir
		}
	}
	return strings.TrimSuffix(name, path.Ext(name))
}

// The ranks of a session's files: the directory outranks the file that an older version left beside it, unless the directory's
// file is empty.
const (
	rankFile      = 1
	rankDirectory = 2
)

func rankOf(file string) int {
	if path.Base(file) == eventsFile {
		return rankDirectory
	}
	return rankFile
}
