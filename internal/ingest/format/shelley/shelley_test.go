package shelley

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }
func TestGrowth(t *testing.T) { formattest.Growth(t, New()) }

func FuzzRows(f *testing.F) {
	formattest.Fuzz(f, New(), roleRows, ".config/shelley/shelley.db/cAAAAAA/messages.ndjson")
}

func TestDetectDatabase(t *testing.T) {
	const head = "SQLite format 3\x00"
	const schema = head + "CREATE TABLE messages (conversation_id TEXT, llm_data TEXT, usage_data TEXT)"
	long, other := formattest.DatabaseHead(true), formattest.DatabaseHead(false) // the schema is on other pages; it is here
	database := format.Claim{Strength: format.Certain, Role: roleDatabase, Database: true, Secret: true}
	likely := database
	likely.Strength = format.Likely
	formattest.CheckClaims(t, New(), formattest.Claims{
		{".config/shelley/shelley.db", head, database},
		{".config/shelley/shelley.db", string(other), format.Claim{}},
		{"work/shelley.db", string(long), likely},
		{"work/shelley.db", schema, database},
		{"work/backup.db", schema, likely},
		{"work/backup.db", string(long), format.Claim{}},
		{".config/shelley/shelley.db", "no database", format.Claim{}},
		{".config/shelley/shelley.db-wal", "", format.Claim{}},
		{"shelley.db/x/messages.ndjson", `{"table":"message"}`, format.Claim{}},
	})
}
