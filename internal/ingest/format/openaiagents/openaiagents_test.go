package openaiagents

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }
func TestGrowth(t *testing.T) { formattest.Growth(t, New()) }

func FuzzRows(f *testing.F) {
	formattest.Fuzz(f, New(), roleRows, "conversations.db/customer-7/20260615T100000/messages.ndjson")
}

func TestDetectDatabase(t *testing.T) {
	const head = "SQLite format 3\x00"
	const sessions = "CREATE TABLE agent_sessions (session_id TEXT PRIMARY KEY, created_at TIMESTAMP)"
	database := format.Claim{Strength: format.Likely, Role: roleDatabase, Database: true, Secret: true}
	formattest.CheckClaims(t, New(), formattest.Claims{
		{"app/conversations.db", head + sessions + "CREATE TABLE agent_messages (session_id TEXT NOT NULL, message_data TEXT NOT NULL)", database},
		{"conversations", head + `CREATE TABLE "agent_messages" (message_data TEXT)` + sessions, database},
		{"app/conversations.db", head + sessions, format.Claim{}},
		{"app/conversations.db", head + sessions + "CREATE TABLE agent_messages (id INTEGER PRIMARY KEY, content TEXT)", format.Claim{}},
		{"app/conversations.db", head + "CREATE TABLE ai_sessions (session_id TEXT)CREATE TABLE agent_messages (message_data TEXT)", format.Claim{}},
		{"app/conversations.db", string(formattest.DatabaseHead(true)), format.Claim{}},
		{"app/conversations.db-wal", sessions, format.Claim{}},
		{"x.db/customer-7/messages.ndjson", `{"table":"message"}`, format.Claim{}},
	})
}
