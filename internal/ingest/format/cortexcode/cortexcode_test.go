package cortexcode

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

const (
	testSession = "c07e0000-0000-4000-8000-000000000001"
	testDir     = "home/.snowflake/cortex/conversations/"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }
func TestGrowth(t *testing.T) { formattest.Growth(t, New()) }

func FuzzSession(f *testing.F) {
	formattest.Fuzz(f, New(), roleSession, testDir+testSession+".json")
}

func FuzzHistory(f *testing.F) {
	formattest.Fuzz(f, New(), roleHistory, testDir+testSession+".history.jsonl")
}

func TestDetect(t *testing.T) {
	const root, moved = "home/.snowflake/cortex/conversations", "work/cortex/conversations"
	const said = `{"role":"user","content":[{"type":"text","text":"x"}],"id":"msg_c07e1111-0000-4000-8000-000000000001"}` + "\n"
	const noted = `{"session_id":"s","title":"t","working_directory":"/x","created_at":"2026-09-21T10:00:00Z"`
	session := format.Claim{Strength: format.Certain, Role: roleSession, Root: root}
	history := format.Claim{Strength: format.Certain, Role: roleHistory, Root: root, Log: true}
	other := format.Claim{Strength: format.Certain, Role: format.Other, Root: root}
	skip := format.Claim{Strength: format.Certain, Skip: true}
	formattest.CheckClaims(t, New(), formattest.Claims{
		{testDir + testSession + ".json", "", session},
		{testDir + testSession + ".history.jsonl", "", history},
		{testDir + "global/" + testSession + ".json", "{}", session},
		{testDir + "global/" + testSession + ".history.jsonl", "torn\n", history},
		{testDir + "a/b/" + testSession + ".json", noted, format.Claim{Strength: format.Likely, Role: roleSession}},
		{testDir + testSession + ".back.1789984800000.json", "{}", other},
		{testDir + "index.json", "{}", other},
		{testDir + "notes.txt", "", format.Claim{}},
		{moved + "/" + testSession + ".json", noted, format.Claim{Strength: format.Certain, Role: roleSession, Root: moved}},
		{moved + "/s.history.jsonl", "torn\n" + said, format.Claim{Strength: format.Certain, Role: roleHistory, Root: moved, Log: true}},
		{moved + "/" + testSession + ".json", "{}", format.Claim{}},
		{moved + "/" + testSession + ".history.jsonl", "{}", format.Claim{}},
		{"copy/" + testSession + ".json", noted, format.Claim{Strength: format.Likely, Role: roleSession}},
		{"copy/s.json", noted, format.Claim{}},
		{"copy/" + testSession + ".json", `{"session_id":"s","working_directory":"/x"}`, format.Claim{}},
		{"copy/s.history.jsonl", said, format.Claim{Strength: format.Likely, Role: roleHistory, Log: true}},
		{"copy/s.history.jsonl", `{"role":"user","content":[],"id":"m1"}`, format.Claim{}},
		{"copy/s.jsonl", said, format.Claim{}},
		{"home/.snowflake/connections.toml", "", skip},
		{"home/.snowflake/config.toml", "", skip},
		{"home/.snowflake/cortex/mcp.json", "{}", skip},
		{"shop/cortex/mcp.json", "{}", format.Claim{}},
		{"shop/config.toml", "", format.Claim{}},
	})
}
