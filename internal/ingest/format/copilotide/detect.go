package copilotide

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// Where the extensions keep their files.
const (
	configName = "github-copilot" // of all extensions of Copilot
	xcodeName  = "xcode"
	pluginName = "com.microsoft.copilot.eclipse.core"
	pluginDir  = metadataName + "/.plugins/" + pluginName // in a workspace of Eclipse
	chatsName  = "conversations"

	metadataName = ".metadata"
)

// Detect claims Xcode's databases by their tables, or by place if the first pages do not show them; originals taken out of one; and Eclipse's
// documents by their place, or by their members.
func (f copilotIDE) Detect(h format.Head) format.Claim {
	switch {
	case f.Withholds(h):
		return format.Claim{Strength: format.Certain, Skip: true}
	case format.IsSQLite(h.Bytes):
		return detectDatabase(h)
	case path.Ext(h.Path) == ".ndjson" && strings.HasPrefix(format.FirstTable(h.Bytes), tablePrefix):
		return format.Claim{Strength: format.Certain, Role: roleRows, Log: format.FirstTable(h.Bytes) == tableTurn}
	case path.Ext(h.Path) == ".json":
		return detectDocument(h)
	}
	return format.Claim{}
}

// detectDatabase knows the place as xcode/<hash of the user>/conversations/<hash of the workspace>.db.
func detectDatabase(h format.Head) format.Claim {
	dir := path.Dir(h.Path)
	place := path.Ext(h.Path) == ".db" && path.Base(dir) == chatsName && path.Base(path.Dir(path.Dir(dir))) == xcodeName
	claim := format.Claim{Strength: format.Certain, Role: roleDatabase, Database: true}
	switch {
	case format.ContainsAll(h.Bytes, "CLSConversationID", "CLSTurnID"):
		if !place {
			claim.Strength = format.Likely
		}
	case place && !format.ShowsSchema(h.Bytes):
	default:
		return format.Claim{}
	}
	return claim
}

// detectDocument knows the place as conversations/<user>/<conversation>.json in the plug-in's directory.
func detectDocument(h format.Head) format.Claim {
	root := path.Dir(path.Dir(h.Path))
	if path.Base(root) == chatsName && path.Base(path.Dir(root)) == pluginName {
		return format.Claim{Strength: format.Certain, Role: roleDocument, Root: root}
	}
	if head := jsontext.TrimBOM(h.Bytes); jsontext.BeginsObject(head) &&
		format.HasKeys(head, "conversationId", "requesterUsername", "responderUsername", "turns") {
		return format.Claim{Strength: format.Likely, Role: roleDocument}
	}
	return format.Claim{}
}

// workspaceOf returns the workspace of Eclipse that a file is in, "" if it is somewhere else.
func workspaceOf(file string) string {
	dir, _, found := strings.Cut(file, "/"+pluginDir+"/")
	if !found {
		return ""
	}
	return dir
}

// groupOf returns the hash by which Xcode's extension names the workspace, from the path of an original; "" if the database has another name.
func groupOf(file string) string {
	hash := format.Stem(path.Dir(path.Dir(file)))
	if len(hash) != 16 || strings.Trim(hash, "0123456789abcdef") != "" {
		return ""
	}
	return hash
}

// Withholds leaves out what signs the user in, the keys of models and of MCP servers, and the databases of the language server beside them.
func (copilotIDE) Withholds(h format.Head) bool {
	name, dir := path.Base(h.Path), path.Dir(h.Path)
	if path.Base(dir) == configName {
		switch name {
		case "apps.json", "hosts.json", "versions.json", "byok.json":
			return true
		}
		return isDatabase(name)
	}
	return path.Base(path.Dir(dir)) == configName && (name == "mcp.json" || isDatabase(name))
}

// isDatabase reports whether a file is named like a database, or like what SQLite keeps beside one.
func isDatabase(name string) bool {
	for _, end := range []string{".db", ".db-wal", ".db-shm", ".db-journal"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}
