package crush

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }
func TestGrowth(t *testing.T) { formattest.Growth(t, New()) }

func FuzzRows(f *testing.F) {
	formattest.Fuzz(f, New(), roleRows, "shop/.crush/crush.db/c0000000-0000-4000-8000-000000000001/messages.ndjson")
}

func TestDetectDatabase(t *testing.T) {
	const head = "SQLite format 3\x00"
	const schema = head + "CREATE TABLE sessions (id TEXT, parent_session_id TEXT, message_count INTEGER, prompt_tokens INTEGER, completion_tokens INTEGER)"
	long, other := formattest.DatabaseHead(true), formattest.DatabaseHead(false) // the schema is on other pages; it is here
	database := format.Claim{Strength: format.Certain, Role: roleDatabase, Database: true}
	likely := database
	likely.Strength = format.Likely
	skip := format.Claim{Strength: format.Certain, Skip: true}
	formattest.CheckClaims(t, New(), formattest.Claims{
		{"shop/.crush/crush.db", head, database},
		{".crush/crush.db", string(other), database},
		{"crush.db", string(long), likely},
		{"data/crush.db", schema, likely},
		{"data/crush.db", string(other), format.Claim{}},
		{"data/backup.db", schema, likely},
		{"data/backup.db", string(long), format.Claim{}},
		{"shop/.opencode/opencode.db", string(long), database},
		{"shop/.opencode/opencode.db", string(other), format.Claim{}},
		{"shop/opencode.db", schema, database},
		{".local/share/opencode/opencode.db", string(long), format.Claim{}},
		{"shop/.crush/crush.db", "no database", format.Claim{}},
		{"shop/.crush/crush.db-wal", "", format.Claim{}},
		{"shop/.crush/crush.json", "{}", skip},
		{".local/share/crush/crush.json", "{}", skip},
		{"shop/crush.json", "{}", format.Claim{}},
		{"crush.db/x/messages.ndjson", `{"table":"message"}`, format.Claim{}},
	})
}

func TestSessionID(t *testing.T) {
	const a, m = "c0000000-0000-4000-8000-000000000001", "d0000000-0000-4000-8000-000000000001"
	for _, c := range [][3]string{{a, "", a}, {"call_1", "", "call_1"}, {m + "$$call_1", a, m + "$$call_1"}, {"call_1", a, a + "$$call_1"}, {"title-" + a, a, "title-" + a}} {
		if got := sessionID(c[0], c[1]); got != c[2] {
			t.Errorf("%s of %s: %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

func TestProjectOf(t *testing.T) {
	for file, want := range map[string]string{
		"/home/ada/shop/.crush/crush.db/c1/messages.ndjson": "/home/ada/shop", "shop/.opencode/opencode.db/c1/session.ndjson": "shop",
		"/data/crush.db/c1/messages.ndjson": "", "crush.db/c1/session.ndjson": "",
	} {
		if got := projectOf(file); got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}
