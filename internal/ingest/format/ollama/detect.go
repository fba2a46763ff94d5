package ollama

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

// What the program has in its directories.
const (
	homeDir      = ".ollama"
	databaseName = "db.sqlite"
	historyName  = "history"
)

// Detect claims a database by its tables, or by name and place if its first pages do not show them; originals taken out of one; and the
// history by its place.
func (f ollama) Detect(h format.Head) format.Claim {
	name, dir := path.Base(h.Path), path.Base(path.Dir(h.Path))
	switch {
	case f.Withholds(h):
		return format.Claim{Strength: format.Certain, Skip: true}
	case format.IsSQLite(h.Bytes):
		return detectDatabase(h, name)
	case name == historyName && dir == homeDir && h.IsTextFile():
		return format.Claim{Strength: format.Certain, Role: roleHistory}
	case path.Ext(name) == ".ndjson" && strings.HasPrefix(format.FirstTable(h.Bytes), tablePrefix):
		return format.Claim{Strength: format.Certain, Role: roleRows}
	}
	return format.Claim{}
}

func detectDatabase(h format.Head, name string) format.Claim {
	claim := format.Claim{Strength: format.Certain, Role: roleDatabase, Database: true}
	switch {
	case hasTables(h.Bytes):
		if name != databaseName {
			claim.Strength = format.Likely
		}
	case name == databaseName && isPlace(path.Dir(h.Path)) && (hasTimes(h.Bytes) || !format.ShowsSchema(h.Bytes)):
	default:
		return format.Claim{}
	}
	return claim
}

// isPlace reports whether a directory is one where the app keeps its database.
func isPlace(dir string) bool {
	name := path.Base(dir)
	return name == "Ollama" || name == homeDir
}

// hasTables reports whether the first pages of a database show the table of messages.
func hasTables(head []byte) bool {
	return hasTimes(head) && format.ContainsAll(head, "model_ollama_host")
}

// hasTimes reports the same of the columns that the app does not call deprecated.
func hasTimes(head []byte) bool {
	return format.ContainsAll(head, "thinking_time_start", "chat_id")
}

// Withholds leaves out the key that signs the user in.
func (ollama) Withholds(h format.Head) bool {
	return path.Base(h.Path) == "id_ed25519" && path.Base(path.Dir(h.Path)) == homeDir
}
