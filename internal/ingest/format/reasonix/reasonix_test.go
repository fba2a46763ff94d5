package reasonix

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

const testDir = "home/.reasonix/sessions/"

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }
func TestGrowth(t *testing.T) { formattest.Growth(t, New()) }

func FuzzMessages(f *testing.F) { formattest.Fuzz(f, New(), roleMessages, testDir+"s.jsonl") }
func FuzzEvents(f *testing.F)   { formattest.Fuzz(f, New(), roleEvents, testDir+"s.events.jsonl") }
func FuzzFrames(f *testing.F)   { formattest.Fuzz(f, New(), roleFrames, testDir+"s.wire.jsonl") }
func FuzzTurns(f *testing.F)    { formattest.Fuzz(f, New(), roleTurns, testDir+"s.turns.jsonl") }
func FuzzLedger(f *testing.F)   { formattest.Fuzz(f, New(), roleLedger, "home/.reasonix/usage.jsonl") }
func FuzzStats(f *testing.F) {
	formattest.Fuzz(f, New(), roleStats, "home/.reasonix/stats/2026-08-02.jsonl")
}
func FuzzBranch(f *testing.F) { formattest.Fuzz(f, New(), roleBranch, testDir+"s.jsonl.meta") }

func TestDetect(t *testing.T) {
	const home, config = "home/.reasonix", "home/.config/reasonix"
	const native = `{"schema_version":1,"type":"replace","revision":1,"messages":[{"role":"user","content":"weave"}]}` + "\n"
	const slug, roaming = "/projects/-home-ada-basket", "Users/Ada/AppData/Roaming/reasonix/sessions"
	const kernel = `{"id":1,"ts":"2026-05-02T08:00:00.000Z","turn":1,"type":"user.message","text":"weave"}` + "\n"
	claim := func(role, root string) format.Claim {
		return format.Claim{Strength: format.Certain, Role: role, Root: root}
	}
	log := func(role, root string) format.Claim {
		return format.Claim{Strength: format.Certain, Role: role, Root: root, Log: true}
	}
	likely := func(role string) format.Claim { return format.Claim{Strength: format.Likely, Role: role, Log: true} }
	skip := format.Claim{Strength: format.Certain, Skip: true}
	formattest.CheckClaims(t, New(), formattest.Claims{
		{testDir + "s.jsonl", "", log(roleMessages, home+"/sessions")},
		{testDir + "s.jsonl.bak", "", claim(roleMessages, home+"/sessions")},
		{testDir + "s.events.jsonl", "", log(roleEvents, home+"/sessions")},
		{testDir + "s.wire.jsonl", "", log(roleFrames, home+"/sessions")},
		{testDir + "s.wire.meta.json", "{}", claim(format.Other, home+"/sessions")},
		{testDir + "s.turns.jsonl", "", log(roleTurns, home+"/sessions")},
		{testDir + "s.conflicts.jsonl", "{}", log(format.Other, home+"/sessions")},
		{testDir + "s.meta.json", "{}", claim(roleMeta, home+"/sessions")},
		{testDir + "s.jsonl.meta", "{}", claim(roleBranch, home+"/sessions")},
		{testDir + "s.plan.json", "{}", claim(roleState, home+"/sessions")},
		{testDir + "s.pending.json", "{}", claim(roleState, home+"/sessions")},
		{testDir + ".titles.json", "{}", claim(roleTitles, home+"/sessions")},
		{testDir + "s.jsonl.lock", "", skip},
		{testDir + "subagents/sa_1.jsonl", "", log(roleMessages, home+"/sessions")},
		{testDir + "subagents/sa_1.meta.json", "{}", claim(roleAgent, home+"/sessions")},
		{testDir + "s.ckpt/turn-1.json", "{}", claim(format.Other, home+"/sessions")},
		{home + slug + "/sessions/s.jsonl", "", log(roleMessages, home+slug+"/sessions")},
		{home + slug + "/sessions-v4/x/events.frames", "RX4F", claim(format.Other, home+slug+"/sessions-v4")},
		{home + slug + "/memory/MEMORY.md", "", format.Claim{}},
		{home + "/desktop-sessions-v5/by-id/x/header.json", "{}", claim(format.Other, home+"/desktop-sessions-v5")},
		{home + "/archive/20260802-080000.000.jsonl", "", log(roleArchive, home+"/archive")},
		{home + "/stats/2026-08-02.jsonl", "", log(roleStats, home+"/stats")},
		{home + "/stats/.append.lock", "", skip},
		{home + "/usage.jsonl", "", log(roleLedger, "")},
		{config + "/sessions/s.jsonl", "", log(roleMessages, config+"/sessions")},
		{roaming + "/s.events.jsonl", "", log(roleEvents, roaming)},
		{"data/reasonix/sessions/s.jsonl", "", likely(roleMessages)},
		{"data/reasonix/sessions/s.jsonl.meta", "{}", format.Claim{}},
		{"moved/s.events.jsonl", native, likely(roleEvents)},
		{"moved/s.events.jsonl", kernel, likely(roleEvents)},
		{"moved/s.events.jsonl", `{"schema_version":1,"type":"replace","text":"messages"}` + "\n", format.Claim{}},
		{"moved/s.jsonl", `{"role":"user","content":"weave"}` + "\n", format.Claim{}},
		{home + "/config.json", "{}", skip},
		{home + "/config.toml", "", skip},
		{home + "/.env", "", skip},
		{config + "/credentials", "", skip},
		{home + "/memory/user.md", "", format.Claim{}},
		{"shop/config.json", "{}", format.Claim{}},
	})
}
