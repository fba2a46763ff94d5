package continuedev

import (
	"path"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// What the program writes.
const (
	dataDir     = ".continue"
	sessionsDir = "sessions"
	listName    = "sessions.json"
	logDir      = "dev_data"
)

// logNames are the logs that are read. Others beside them hold completions, with the code around them.
var logNames = []string{"tokensGenerated.jsonl", "tokens_generated.jsonl", "chatInteraction.jsonl"}

// settings are files in the program's directory that hold API keys and tokens.
var settings = []string{"config.json", "config.yaml", "config.ts", "sharedConfig.json", "auth.json", ".env"}

// Detect claims sessions and their list by place, or by how they begin, since a variable may move them; and logs by place.
func (f continuedev) Detect(h format.Head) format.Claim {
	name, dir := path.Base(h.Path), path.Dir(h.Path)
	switch {
	case f.Withholds(h):
		return format.Claim{Strength: format.Certain, Skip: true}
	case slices.Contains(logNames, name) && strings.Contains("/"+h.Path, "/"+logDir+"/"):
		return format.Claim{Strength: format.Certain, Role: roleLog, Log: true}
	case path.Ext(name) != ".json":
		return format.Claim{}
	}
	claim := format.Claim{Strength: format.Likely, Role: roleSession}
	if name == listName {
		claim.Role = roleList
	}
	if strings.HasSuffix("/"+dir, "/"+dataDir+"/"+sessionsDir) {
		claim.Strength, claim.Root = format.Certain, dir
		return claim
	}
	switch head := jsontext.TrimBOM(h.Bytes); {
	case claim.Role == roleList && format.HasKeys(head, "sessionId", "dateCreated", "workspaceDirectory"):
	case claim.Role == roleSession && jsontext.BeginsObject(head) && isSession(jsontext.ParseStart(head)):
	default:
		return format.Claim{}
	}
	return claim
}

// isSession reports whether a document begins like a session.
func isSession(v jsontext.Value) bool {
	history := v.Get("history")
	return v.Get("sessionId").IsString() && v.Get("workspaceDirectory").IsString() && (history.IsArray() || !history.Exists() && v.Get("title").IsString())
}

// Withholds leaves out the program's settings.
func (continuedev) Withholds(h format.Head) bool {
	return path.Base(path.Dir(h.Path)) == dataDir && slices.Contains(settings, path.Base(h.Path))
}
