package devin

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

const testRows = ".local/share/devin/cli/sessions.db/woven-basket/nodes.ndjson"

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }
func TestGrowth(t *testing.T) { formattest.Growth(t, New()) }

func FuzzRows(f *testing.F) { formattest.Fuzz(f, New(), roleRows, testRows) }

func TestDetect(t *testing.T) {
	const head = "SQLite format 3\x00"
	const schema = head + "CREATE TABLE refinery_schema_history (version) CREATE TABLE message_nodes (session_id, node_id, parent_node_id, chat_message TEXT)"
	other := formattest.DatabaseHead(false)
	database := format.Claim{Strength: format.Certain, Role: roleDatabase, Database: true}
	likely := database
	likely.Strength = format.Likely
	skip := format.Claim{Strength: format.Certain, Skip: true}
	formattest.CheckClaims(t, New(), formattest.Claims{
		{".local/share/devin/cli/sessions.db", head, database},
		{".local/share/devin/cli/sessions.db", string(other), database},
		{"copies/sessions.db", schema, likely},
		{"copies/sessions.db", string(other), format.Claim{}},
		{"copies/sessions.db", head + "CREATE TABLE message_nodes (chat_message)", format.Claim{}},
		{".local/share/devin/cli/sessions.db", "no database", format.Claim{}},
		{".local/share/devin/cli/transcripts/woven-basket.json", `{"schema_version":"ATIF-v1.7"`, format.Claim{Strength: format.Certain, Role: format.Other}},
		{"copies/transcripts/woven-basket.json", `{"schema_version":"ATIF-v1.7"`, format.Claim{}},
		{".local/share/devin/credentials.toml", "", skip},
		{"shop/credentials.toml", "", format.Claim{}},
		{testRows, `{"table":"devin node","row_id":1`, format.Claim{Strength: format.Certain, Role: roleRows, Log: true}},
		{testRows, `{"table":"devin session"`, format.Claim{Strength: format.Certain, Role: roleRows}},
		{testRows, `{"table":"session"`, format.Claim{}},
	})
}
