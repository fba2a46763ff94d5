package zed

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

func FuzzRows(f *testing.F) {
	formattest.Fuzz(f, New(), roleRows, "zed/threads/threads.db/a0000000-0000-4000-8000-000000000001.ndjson")
}

func FuzzTexts(f *testing.F) {
	formattest.Fuzz(f, New(), roleText, "zed/conversations/Baskets - 1.zed.json")
}

// TestCut cuts the body of a JSON string at every character of its text.
func TestCut(t *testing.T) {
	body := []byte(`a\n\"\\\u00e9\ud83e\uddfa籠\ud800é\uD83Eb`)
	text := unquote(body)
	c := cutter{body: body}
	c.cut(0)
	for i := range text {
		if _, at := c.cut(int64(i)); unquote(body[:at]) != text[:i] {
			t.Errorf("%d bytes: %q, want %q", i, unquote(body[:at]), text[:i])
		}
	}
	if from, to := c.cut(1000); to != len(body) || unquote(body[from:to]) != "b" {
		t.Errorf("the rest is %q", body[from:to])
	}
}

func TestDetectDatabase(t *testing.T) {
	const head = "SQLite format 3\x00"
	const schema = head + "CREATE TABLE threads (\n id TEXT PRIMARY KEY,\n summary TEXT NOT NULL,\n updated_at TEXT NOT NULL,\n data_type TEXT NOT NULL,\n data BLOB NOT NULL\n)"
	long, other := formattest.DatabaseHead(true), formattest.DatabaseHead(false) // the schema is on other pages; it is here
	database := format.Claim{Strength: format.Certain, Role: roleDatabase, Database: true}
	likely := database
	likely.Strength = format.Likely
	text := format.Claim{Strength: format.Certain, Role: roleText}
	formattest.CheckClaims(t, New(), formattest.Claims{
		{".local/share/zed/threads/threads.db", head, database},
		{"Library/Application Support/Zed/threads/threads.db", string(other), database},
		{"AppData/Local/Zed/threads/threads.db", string(long), database},
		{"data/threads/threads.db", string(long), likely},
		{"threads.db", schema, likely},
		{"copy.db", schema, likely},
		{"forum/threads.db", string(long), format.Claim{}},
		{"threads.db", string(other), format.Claim{}},
		{"copy.db", string(long), format.Claim{}},
		{"logs.db", head + "CREATE TABLE threads (id TEXT PRIMARY KEY, name TEXT)", format.Claim{}},
		{"zed/threads/threads.db", "no database", format.Claim{}},
		{"zed/threads/threads.db-wal", "", format.Claim{}},
		{".config/zed/conversations/Baskets - 1.zed.json", "", text},
		{"Baskets - 1.zed.json", `{"id":"x","zed":"context","version":"0.4.0","text":"cut o`, format.Claim{Strength: format.Likely, Role: roleText}},
		{"themes/night.zed.json", `{"name":"night"}`, format.Claim{}},
		{"zed/threads/threads.db/x.ndjson", `{"table":"zed thread"`, format.Claim{Strength: format.Certain, Role: roleRows}},
	})
}
