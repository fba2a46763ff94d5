package copilotcli

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/lazyregexp"
)

const (
	stateDir   = "session-state"
	eventsFile = "events.jsonl"
)

// sessionID is what the program calls a session's directory.
var sessionID = lazyregexp.New(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// Detect claims the files of session-state by where they lie, and sessions elsewhere by their first line.
func (copilot) Detect(h format.Head) format.Claim {
	name, dir := path.Base(h.Path), path.Dir(h.Path)
	switch {
	case copilot{}.Withholds(h):
		return format.Claim{Strength: format.Certain, Skip: true}
	case name == storeName && format.IsSQLite(h.Bytes):
		return format.Claim{Strength: format.Certain, Role: roleStore, Database: true}
	case name == usageFile && path.Base(path.Dir(dir)) == storeName && bytes.HasPrefix(h.Bytes, []byte(`{"table":"usage"`)):
		return format.Claim{Strength: format.Certain, Role: roleUsage}
	case name == "workspace.yaml" && isWorkspace(h.Bytes):
		return format.Claim{Strength: format.Likely, Role: roleWorkspace, Root: above(dir)}
	case path.Ext(name) != ".jsonl":
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
		// The source may begin inside of session-state, or with one session.
		claim.Root = above(dir)
	case fits:
		claim.Strength = format.Likely
	default:
		return format.Claim{}
	}
	return claim
}

// Withholds says that a file beside the sessions holds credentials: the program's own where the machine has no keychain, and
// those of the servers that it asks.
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

// above is the directory of all sessions, as far as the source shows it, for that of one session.
func above(session string) string {
	if path.Base(path.Dir(session)) == stateDir {
		return path.Dir(session)
	}
	return session
}

// hasObject says that some line could tell whose it is. Nothing may be there yet, or nothing that can be read.
func hasObject(head []byte) bool {
	return format.AnyLine(head, func(line []byte) bool {
		_, err := format.ParseJSON(line)
		return err == nil
	})
}

// said are the types of lines that are a session's wherever they stand.
var said = []string{"user.message", "assistant.message", "assistant.turn_start", "tool.execution_start", "tool.execution_complete", "session.shutdown"}

// isSession says that a line is one of a session: an envelope with the start in it, with the chain of ids, or with a type that
// only sessions have. The line may be longer than what is there.
func isSession(head []byte) bool {
	return format.AnyLine(head, func(line []byte) bool {
		return bytes.HasPrefix(line, []byte("{")) && format.HasKeys(line, "type", "data") && !format.HasKeys(line, "customType") && !format.HasKeys(line, "message", "role") && // which are Pi's
			(format.HasKeys(line, "session.start", "sessionId") || format.HasKeys(line, "copilotVersion") || format.HasKeys(line, "id", "timestamp", "parentId") ||
				slices.ContainsFunc(said, func(t string) bool { return format.HasKeys(line, t) }))
	})
}

// isWorkspace tells the program's workspace.yaml from those of others.
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

// sessionOf is the session that a file's path names.
func sessionOf(file string) string {
	name := path.Base(file)
	if name == eventsFile || name == "workspace.yaml" || name == usageFile {
		if dir := path.Base(path.Dir(file)); dir != "." && dir != "/" {
			return dir
		}
	}
	return strings.TrimSuffix(name, path.Ext(name))
}

// The ranks of what files say of a session: its directory goes before the file that an older version left beside it, as far as
// there is anything in it.
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
