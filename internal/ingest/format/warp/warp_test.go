package warp

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

func FuzzRows(f *testing.F) {
	formattest.Fuzz(f, New(), roleRows, ".local/state/warp-terminal/warp.sqlite/a0000000-0000-4000-8000-000000000001.ndjson")
}

func TestDetect(t *testing.T) {
	const head = "SQLite format 3\x00"
	const schema = head + "CREATE TABLE agent_conversations (id INTEGER) CREATE TABLE agent_tasks (id INTEGER)"
	hidden, other := string(formattest.DatabaseHead(true)), string(formattest.DatabaseHead(false))
	database := format.Claim{Strength: format.Certain, Role: roleDatabase, Database: true, Secret: true}
	likely := database
	likely.Strength = format.Likely
	skip := format.Claim{Strength: format.Certain, Skip: true}
	const mac = "Library/Group Containers/2BBY89MBSN.dev.warp/Library/Application Support/dev.warp.Warp-Stable/"
	formattest.CheckClaims(t, New(), formattest.Claims{
		{mac + "warp.sqlite", head, database},
		{mac + "tui/warp.sqlite", head, database},
		{".local/state/warp-terminal-preview/warp.sqlite", other, database},
		{"AppData/Local/warp/Warp/data/warp.sqlite", head, database},
		{"mine/warp.sqlite", hidden, likely},
		{"mine/warp.sqlite", other, format.Claim{}},
		{"mine/copy.db", schema, likely},
		{"mine/copy.db", head, format.Claim{}},
		{".local/state/warp-oss/warp.sqlite", "no database", skip},
		{".local/state/warp-oss/warp.sqlite", "", format.Claim{}},
		{mac + "warp.sqlite-wal", "\x37\x7f\x06\x82", skip},
		{mac + "warp.sqlite.bak", head, skip},
		{mac + "dev.warp.Warp-User", "\x01\x02", skip},
		{mac + "warp.log", "x", format.Claim{}},
		{"mine/warp.sqlite-wal", "\x37\x7f\x06\x82", format.Claim{}},
		{"mine/warp.sqlite/a.ndjson", `{"table":"warp query","id":1}`, format.Claim{Strength: format.Certain, Role: roleRows}},
		{"mine/warp.sqlite/a.ndjson", `{"table":"query"}`, format.Claim{}},
	})
}
