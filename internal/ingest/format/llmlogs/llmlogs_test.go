package llmlogs

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }
func TestGrowth(t *testing.T) { formattest.Growth(t, New()) }
func FuzzRows(f *testing.F)   { formattest.Fuzz(f, New(), roleRows, "logs.db/c1/responses.ndjson") }

func TestDetectDatabase(t *testing.T) {
	const head = "SQLite format 3\x00"
	database := format.Claim{Strength: format.Certain, Role: roleDatabase, Database: true}
	long := func(page byte) string { // 13 is a page of the schema, 5 one that leads to others
		b := make([]byte, 4096)
		copy(b, head)
		b[100], b[104] = page, 1
		return string(b)
	}
	likely := database
	likely.Strength = format.Likely
	formattest.CheckClaims(t, New(), formattest.Claims{
		{".config/io.datasette.llm/logs.db", head, database},
		{"backup.db", head + "m010_create_new_log_tables", database},
		{"mine/logs.db", head + "CREATE TABLE [conversations] (CREATE TABLE [responses] (", likely},
		{"mine/logs.db", head + `CREATE TABLE "threads" (CREATE TABLE "turns" (`, likely},
		{"mine/logs.db", head + "CREATE TABLE responses (", format.Claim{}},
		{"mine/logs.db", head + "CREATE TABLE conversations(id TEXT)CREATE TABLE responses(id TEXT)", likely},
		{"mine/june.db", head + "CREATE TABLE [conversations] (CREATE TABLE [responses] ([datetime_utc] TEXT, [conversation_id] TEXT)", likely},
		{"mine/june.db", head + "CREATE TABLE threads (tip_message_hash TEXT)CREATE TABLE turns (parent_message_hash TEXT)", likely},
		{"mine/other.db", head + "CREATE TABLE [conversations] (CREATE TABLE [responses] (", format.Claim{}},
		{"logs.db", long(5), likely},
		{"logs.db", long(13), format.Claim{}},
		{"mine/logs.db", long(5), format.Claim{}},
		{".config/io.datasette.llm/embeddings.db", head, format.Claim{}},
		{".config/io.datasette.llm/logs.db", "no database", format.Claim{}},
		{".config/io.datasette.llm/keys.json", "{}", format.Claim{Strength: format.Certain, Skip: true}},
		{"mine/keys.json", "{}", format.Claim{}},
		{"logs.db/c1/responses.ndjson", `{"table":"response"}`, format.Claim{}},
	})
}

func TestSessionOf(t *testing.T) {
	for file, want := range map[string]string{
		"home/logs.db/c1/thread.ndjson": "c1", "home/logs.db/c1/r1/fragment-0.ndjson": "c1", "loose.ndjson": "loose", "responses.ndjson": "responses",
	} {
		if got := sessionOf(file); got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}
