package anythingllm

import (
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
	"github.com/txarchive/txarchive/internal/transcript"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }
func TestGrowth(t *testing.T) { formattest.Growth(t, New()) }

func FuzzRows(f *testing.F) {
	formattest.Fuzz(f, New(), roleRows, "storage/anythingllm.db/thread-1.ndjson")
}

func TestDetectDatabase(t *testing.T) {
	const schema = "SQLite format 3\x00" + `CREATE TABLE "workspaces" ("vectorTag" TEXT) CREATE TABLE "workspace_chats" ("workspaceId" INTEGER)`
	long, other := formattest.DatabaseHead(true), formattest.DatabaseHead(false) // the schema is on other pages; it is here
	database := format.Claim{Strength: format.Certain, Role: roleDatabase, Database: true, Secret: true}
	likely := database
	likely.Strength = format.Likely
	formattest.CheckClaims(t, New(), formattest.Claims{
		{".config/anythingllm-desktop/storage/anythingllm.db", string(long), database},
		{"anywhere/anythingllm.db", string(long), database},
		{"anywhere/anythingllm.db", schema, database},
		{"anywhere/copy.db", schema, likely},
		{"anywhere/anythingllm.db", string(other), format.Claim{}},
		{"anywhere/copy.db", string(long), format.Claim{}},
		{"storage/anythingllm.db", "no database", format.Claim{}},
		{"storage/.env", "JWT_SECRET=x", format.Claim{}},
		{".config/anythingllm-desktop/storage/.env", "JWT_SECRET=x", format.Claim{Strength: format.Certain, Skip: true}},
		{"home/ada/anythingllm/.env", "JWT_SECRET=x", format.Claim{Strength: format.Certain, Skip: true}},
		{"anywhere/storage/comkey/ipc-priv.pem", "-----BEGIN", format.Claim{Strength: format.Certain, Skip: true}},
		{"storage/plugins/anythingllm_mcp_servers.json", "{}", format.Claim{Strength: format.Certain, Skip: true}},
		{"anywhere/ipc-priv.pem", "-----BEGIN", format.Claim{}},
		{"storage/x.ndjson", `{"table":"chat"}`, format.Claim{}},
		{"storage/x.ndjson", `{"table":"anythingllm chat"}`, format.Claim{Strength: format.Certain, Role: roleRows, Log: true}},
	})
}

func TestThink(t *testing.T) {
	for body, want := range map[string][3]int{
		`plain`:                                    {},
		`<think>open`:                              {},
		`<think>hm</think>\n\nyes`:                 {7, 9, 21},
		`\n <thinking>\nhm</thinking>`:             {15, 17, 28},
		`first <think>hm</think>`:                  {},
		`<thought>a\\n</thought>b<think>c</think>`: {9, 13, 23},
	} {
		if from, to, rest := think([]byte(body)); want != [3]int{from, to, rest} {
			t.Errorf("%s: %d to %d, rest from %d, want %v", body, from, to, rest, want)
		}
	}
}

// TestLongID: what names an exchange is not copied to each of its events, if it is a megabyte.
func TestLongID(t *testing.T) {
	rows := `{"table":"anythingllm conversation","workspace_slug":"` + strings.Repeat("w", 1<<20) + `"}
{"table":"anythingllm chat","id":1,"createdAt":"` + strings.Repeat("1", 1<<20) + `","prompt":"hi","response":{"text":"yes","sources":["one"]}}`
	var ids []string
	for r := range New().Parse(format.Input{Path: "x.ndjson", Role: roleRows, Size: int64(len(rows)), Reader: strings.NewReader(rows)}) {
		if e, ok := r.(*transcript.Event); ok && e.ID != "" {
			ids = append(ids, e.ID, e.Run)
		}
	}
	if len(ids) != 6 || len(strings.Join(ids, "")) > 1000 {
		t.Errorf("%d ids of %d bytes", len(ids), len(strings.Join(ids, "")))
	}
}
