package goose

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }
func TestGrowth(t *testing.T) { formattest.Growth(t, New()) }

func FuzzRows(f *testing.F) {
	formattest.Fuzz(f, New(), roleRows, "goose/sessions/sessions.db/20261001_1/messages.ndjson")
}
func FuzzFile(f *testing.F) {
	formattest.Fuzz(f, New(), roleFile, "goose/sessions/20250916_061500.jsonl")
}

func TestDetectDatabase(t *testing.T) {
	const head = "SQLite format 3\x00"
	const schema = head + "CREATE TABLE sessions (id TEXT, working_dir TEXT) CREATE TABLE messages (content_json TEXT)"
	long, other := formattest.DatabaseHead(true), formattest.DatabaseHead(false) // the schema is on other pages; it is here
	database := format.Claim{Strength: format.Certain, Role: roleDatabase, Database: true}
	likely := database
	likely.Strength = format.Likely
	formattest.CheckClaims(t, New(), formattest.Claims{
		{".local/share/goose/sessions/sessions.db", head, database},
		{"root/data/sessions/sessions.db", string(long), likely},
		{"Block/goose/data/sessions/sessions.db", head, database},
		{"mine/sessions.db", schema, database},
		{"mine/backup.db", schema, likely},
		{"sessions.db", string(long), likely},
		{"mine/sessions.db", string(long), format.Claim{}},
		{"sessions.db", string(other), format.Claim{}},
		{"goose/sessions/sessions.db", "no database", format.Claim{}},
		{"goose/sessions/sessions.db-wal", "", format.Claim{}},
		{"goose/secrets.yaml", "OPENAI_API_KEY: x", format.Claim{Strength: format.Certain, Skip: true}},
		{"mine/secrets.yaml", "", format.Claim{}},
		{"mine/x.jsonl", `{"role":"user"}`, format.Claim{}},
		{"sessions.db/x/messages.ndjson", `{"table":"message"}`, format.Claim{}},
	})
}

func TestSessionID(t *testing.T) {
	for _, c := range [][3]string{{"20261001_1", "2026-10-01 09:00:00", "20261001_1 2026-10-01 09:00:00"}, {"20261001_1", "", "20261001_1"},
		{"20250916_061500", "2025-09-16 04:15:00", "20250916_061500"}, {"ccK9OTmS", "2025-02-11 13:00:00", "ccK9OTmS"}} {
		if got := sessionID(c[0], c[1]); got != c[2] {
			t.Errorf("%s made %s: %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

// TestAudience checks that output that is there twice, for the model and for the user, is one text, and other output of the same length is
// another.
func TestAudience(t *testing.T) {
	text := func(s, audience string) string {
		return `{"type":"text","text":"` + s + `","annotations":{"audience":["` + audience + `"]}}`
	}
	block := `{"toolResult":{"status":"success","value":[` + text("/work", "assistant") + "," + text("/work", "user") + "," + text("/home", "user") + `]}}`
	if got, err := New().Text("", []byte(block), 0); err != nil || got != "/work\n/home" {
		t.Errorf("%q, %v", got, err)
	}
}
