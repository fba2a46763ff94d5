package codewhale

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

const testDir = "home/.codewhale/sessions/"

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

func FuzzSession(f *testing.F) { formattest.Fuzz(f, New(), roleSession, testDir+"s.json") }

func TestDetect(t *testing.T) {
	const root, former = "home/.codewhale/sessions", "home/.deepseek/sessions"
	const session = `{"schema_version":1,"metadata":{"id":"s","title":"t","created_at":"2026-07-15T08:00:00Z","message_count":2,"total_tokens":900,"model":"x`
	claim := format.Claim{Strength: format.Certain, Role: roleSession, Root: root}
	skip := format.Claim{Strength: format.Certain, Skip: true}
	formattest.CheckClaims(t, New(), formattest.Claims{
		{testDir + "s.json", "", claim},
		{testDir + "checkpoints/s.json", "{}", claim},
		{testDir + "checkpoints/latest.json", "{}", claim},
		{testDir + ".work-graph-import-archive/s.json", "{}", claim},
		{testDir + "checkpoints/offline_queue.json", "{}", format.Claim{Strength: format.Certain, Role: format.Other, Root: root}},
		{testDir + "session_boot_owners.json", "{}", format.Claim{Strength: format.Certain, Role: format.Other, Root: root}},
		{testDir + "s/runtime/threads/t.json", "{}", format.Claim{}},
		{testDir + "s.jsonl", session, format.Claim{}},
		{former + "/s.json", session, format.Claim{Strength: format.Certain, Role: roleSession, Root: former}},
		{former + "/s.json", "{}", format.Claim{}},
		{"moved/sessions/s.json", session, format.Claim{Strength: format.Likely, Role: roleSession}},
		{"moved/s.json", `{"metadata":{"id":"s","message_count":2}}`, format.Claim{}},
		{"moved/s.json", `{"metadata":"message_count","total_tokens":1}`, format.Claim{}},
		{"home/.codewhale/config.toml", "", skip},
		{"home/.codewhale/mcp.json", "{}", skip},
		{"home/.deepseek/config.toml", "", skip},
		{"home/.codewhale/secrets/secrets.json", "{}", skip},
		{"shop/secrets/secrets.json", "{}", format.Claim{}},
		{"shop/config.toml", "", format.Claim{}},
	})
}
