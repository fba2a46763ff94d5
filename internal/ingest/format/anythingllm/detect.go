package anythingllm

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

const databaseName = "anythingllm.db"

// Detect claims a database by its tables, or by its name if its first pages do not show them, as is so of all but the first versions; and
// originals taken out of one. The database also holds accounts, keys and settings.
func (f anythingLLM) Detect(h format.Head) format.Claim {
	name := path.Base(h.Path)
	switch {
	case f.Withholds(h):
		return format.Claim{Strength: format.Certain, Skip: true}
	case format.IsSQLite(h.Bytes):
		return detectDatabase(h, name)
	case path.Ext(name) == ".ndjson" && strings.HasPrefix(format.FirstTable(h.Bytes), tablePrefix):
		return format.Claim{Strength: format.Certain, Role: roleRows, Log: true}
	}
	return format.Claim{}
}

func detectDatabase(h format.Head, name string) format.Claim {
	claim := format.Claim{Strength: format.Certain, Role: roleDatabase, Database: true, Secret: true}
	switch {
	case format.HasTables(h.Bytes, "workspace_chats", "workspaces") && format.ContainsAll(h.Bytes, "workspaceId", "vectorTag"):
		if name != databaseName {
			claim.Strength = format.Likely
		}
	case name == databaseName && !format.ShowsSchema(h.Bytes):
	default:
		return format.Claim{}
	}
	return claim
}

// Withholds leaves out the settings beside the database, which have keys of providers, those of tools' servers, and the key that signs what the program's
// parts tell each other.
func (anythingLLM) Withholds(h format.Head) bool {
	dir := path.Dir(h.Path)
	switch path.Base(h.Path) {
	case ".env":
		return path.Base(dir) == "anythingllm" || path.Base(dir) == "storage" && path.Base(path.Dir(dir)) == "anythingllm-desktop"
	case "anythingllm_mcp_servers.json":
		return true
	case "ipc-priv.pem":
		return path.Base(dir) == "comkey"
	}
	return false
}
