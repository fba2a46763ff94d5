package ollama

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

func FuzzRows(f *testing.F) {
	formattest.Fuzz(f, New(), roleRows, "Ollama/db.sqlite/0199a000-0000-7000-8000-00000000000a/messages.ndjson")
}
func FuzzHistory(f *testing.F) { formattest.Fuzz(f, New(), roleHistory, ".ollama/history") }

func TestDetectDatabase(t *testing.T) {
	const head = "SQLite format 3\x00"
	const schema = head + "CREATE TABLE messages (chat_id TEXT, model_ollama_host BOOLEAN, thinking_time_start TIMESTAMP)"
	const later = head + "CREATE TABLE messages (chat_id TEXT, thinking_time_start TIMESTAMP)" // without the columns that are deprecated
	long, other := formattest.DatabaseHead(true), formattest.DatabaseHead(false)               // the schema is on other pages; it is here
	database := format.Claim{Strength: format.Certain, Role: roleDatabase, Database: true}
	likely := database
	likely.Strength = format.Likely
	formattest.CheckClaims(t, New(), formattest.Claims{
		{"Library/Application Support/Ollama/db.sqlite", head, database},
		{"AppData/Local/Ollama/db.sqlite", string(long), database},
		{".ollama/db.sqlite", string(long), database},
		{".ollama/db.sqlite", string(other), format.Claim{}},
		{"copies/db.sqlite", schema, database},
		{"copies/chats.bak", schema, likely},
		{"AppData/Local/Ollama/db.sqlite", string(other) + later, database},
		{"copies/db.sqlite", string(other) + later, format.Claim{}},
		{"copies/db.sqlite", string(long), format.Claim{}},
		{"Ollama/db.sqlite", "no database", format.Claim{}},
		{"Ollama/db.sqlite-wal", "", format.Claim{}},
		{".ollama/history", "", format.Claim{Strength: format.Certain, Role: roleHistory}},
		{".ollama/history", "\x00\x01", format.Claim{}},
		{"shell/history", "ls\n", format.Claim{}},
		{".ollama/id_ed25519", "x", format.Claim{Strength: format.Certain, Skip: true}},
		{".ssh/id_ed25519", "x", format.Claim{}},
		{"db.sqlite/x/messages.ndjson", `{"table":"message"}`, format.Claim{}},
	})
}
