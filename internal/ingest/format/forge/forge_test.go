package forge

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

func FuzzRows(f *testing.F) {
	formattest.Fuzz(f, New(), roleRows, "ada/.forge/.forge.db/f0000000-0000-4000-8000-000000000001.ndjson")
}

func TestDetectDatabase(t *testing.T) {
	const head = "SQLite format 3\x00"
	const schema = head + "CREATE TABLE __diesel_schema_migrations (version) CREATE TABLE conversations (\n    conversation_id TEXT PRIMARY KEY NOT NULL,\n    title TEXT,\n    context TEXT,"
	long, other := formattest.DatabaseHead(true), formattest.DatabaseHead(false) // the schema is on other pages; it is here
	database := format.Claim{Strength: format.Certain, Role: roleDatabase, Database: true}
	likely := database
	likely.Strength = format.Likely
	skip := format.Claim{Strength: format.Certain, Skip: true}
	formattest.CheckClaims(t, New(), formattest.Claims{
		{".forge/.forge.db", head, database},
		{"forge/.forge.db", string(other), database},
		{"settings/.forge.db", string(long), likely},
		{"settings/.forge.db", string(other), format.Claim{}},
		{"forge.db", schema, likely},
		{"forge.db", string(long), format.Claim{}},
		{"chats.db", head + "CREATE TABLE conversations (conversation_id TEXT PRIMARY KEY NOT NULL, context TEXT)", format.Claim{}},
		{".forge/.forge.db", "no database", format.Claim{}},
		{".forge/.forge.db-wal", "", format.Claim{}},
		{".forge/.credentials.json", "[]", skip},
		{"forge/.config.json", "{}", skip},
		{"shop/.config.json", "{}", format.Claim{}},
		{".forge/.mcp.json", "{}", format.Claim{}},
		{"x/.forge.db/x.ndjson", `{"table":"forge conversation"`, format.Claim{Strength: format.Certain, Role: roleRows}},
		{"x/.forge.db/x.ndjson", `{"table":"conversation"`, format.Claim{}},
	})
}
