package cursor

import (
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
	"github.com/txarchive/txarchive/internal/ingest/timestamp"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

// TestGrowth leaves out saved output that begins with a prompt or ends in fragments.
func TestGrowth(t *testing.T) {
	formattest.Growth(t, New(), "whole.log", "partial.ndjson", "failed", "killed")
}

func FuzzTranscript(f *testing.F) {
	formattest.Fuzz(f, New(), roleTranscript, "projects/p/agent-transcripts/a/a.jsonl")
}
func FuzzPlain(f *testing.F) {
	formattest.Fuzz(f, New(), rolePlain, "projects/p/agent-transcripts/a.txt")
}
func FuzzRows(f *testing.F) { formattest.Fuzz(f, New(), roleRows, "state.vscdb/c/bubbles.ndjson") }
func FuzzChat(f *testing.F) {
	formattest.Fuzz(f, New(), roleChat, "chats/h/s/store.db/messages.ndjson")
}
func FuzzMeta(f *testing.F) { formattest.Fuzz(f, New(), roleMeta, "chats/h/s/meta.json") }

func FuzzStream(f *testing.F) { formattest.Fuzz(f, New(), roleStream, "run.jsonl") }

// Lines of saved output.
const (
	streamInit   = `{"type":"system","subtype":"init","apiKeySource":"login","cwd":"/home/ada/shop","session_id":"s","model":"Auto","permissionMode":"default"}`
	streamTool   = `{"type":"tool_call","subtype":"started","call_id":"c","tool_call":{"readToolCall":{"args":{"path":"a.go"}}},"session_id":"s"}`
	streamResult = `{"type":"result","subtype":"success","duration_ms":5,"duration_api_ms":5,"is_error":false,"result":"done","session_id":"s","request_id":"r"}`
)

func TestDetect(t *testing.T) {
	const head = "SQLite format 3\x00"
	const state = head + "CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)"
	skip := format.Claim{Strength: format.Certain, Skip: true}
	global := format.Claim{Strength: format.Certain, Role: roleState, Database: true, Secret: true}
	output := format.Claim{Strength: format.Likely, Role: roleStream, Log: true}
	chat := format.Claim{Strength: format.Certain, Role: roleStore, Database: true, Secret: true}
	formattest.CheckClaims(t, New(), formattest.Claims{
		{"User/globalStorage/state.vscdb", state, global},
		{"Cursor/User/globalStorage/state.vscdb", head, global},
		{"Code/User/globalStorage/state.vscdb", head, global},
		{"Cursor/User/globalStorage/state.vscdb", "garbage", skip},
		{"Cursor/User/globalStorage/state.vscdb.backup", state, skip},
		{"Cursor/User/globalStorage/state.vscdb-wal", "x", skip},
		{"a/store.db", head + "CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB) CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)", chat},
		{"chats/0123456789abcdef0123456789abcdef/x/store.db", head, chat},
		{"chats/0123456789abcdef0123456789abcdef/x/store.db-wal", "x", skip},
		{".cursor/acp-sessions/x/store.db", head, chat},
		{".cursor/acp-sessions/x/store.db-wal", "x", skip},
		{".cursor/acp-sessions/x/meta.json", `{"schemaVersion":1,"cwd":"/home/ada"}`, format.Claim{Strength: format.Certain, Role: roleMeta}},
		{"a/store.db", head, format.Claim{}},
		{"projects/p/mcp-auth.json", "{}", skip},
		{".cursor/cli-config.json", `{"authInfo":{}}`, skip},
		{".cursor/mcp.json", `{}`, skip},
		{"projects/p/agent-tools/x.txt", "out", format.Claim{Strength: format.Weak, Role: format.Other}},
		{"notes/x.txt", "user:\nhello", format.Claim{}},
		{"x/x.jsonl", `{"role":"user","message":{"role":"user","content":"hi"}}`, format.Claim{}},
		{"x/x.jsonl", `{"role":"user","content":"hi"}`, format.Claim{}},
		{"agent-transcripts/x.jsonl", ``, format.Claim{Strength: format.Certain, Role: roleTranscript, Root: "agent-transcripts", Log: true}},
		{"run.log", "Welcome\n" + streamInit, output},
		{"run", streamInit, output},
		{"run.ndjson", streamTool, output},
		{"run.json", streamResult, output},
		{"claude.jsonl", strings.Replace(streamInit, `"cwd"`, `"uuid":"u","tools":[],"cwd"`, 1), format.Claim{}},
		{"claude.jsonl", strings.Replace(streamInit, `"cwd"`, `"tools":["Bash"],"cwd"`, 1), format.Claim{}},
		{"claude.json", strings.Replace(streamResult, `"result":`, `"num_turns":1,"total_cost_usd":0.1,"result":`, 1), format.Claim{}},
		{"qwen.jsonl", `{"type":"system","subtype":"init","uuid":"u","session_id":"s","cwd":"/","tools":[],"model":"q","permission_mode":"default"}`, format.Claim{}},
		{"droid.jsonl", `{"type":"tool_call","id":"c","toolName":"Read","parameters":{},"session_id":"s"}`, format.Claim{}},
		{"claude.jsonl", strings.Replace(streamInit, `"cwd"`, `"mcp_servers":[],"cwd"`, 1), format.Claim{}},
		{"other.jsonl", `{"type":"thinking","subtype":"delta","session_id":"s","text":"x"}`, format.Claim{}},
		{"other.jsonl", `{"type":"result","subtype":"success","session_id":"s","duration_ms":5,"request_id":"r"}`, format.Claim{}},
		{"other.jsonl", `{"type":"tool_call","subtype":"started","session_id":"s","call_id":"c","name":"read","input":{}}`, format.Claim{}},
		{"x/subagents/y.jsonl", `{"role":"user","message":{"content":"hi"}}`, format.Claim{Strength: format.Likely, Role: roleTranscript, Log: true}},
	})
}

func TestTime(t *testing.T) {
	for stamp, want := range map[string]string{
		"Friday, Jul 17, 2026, 12:26 AM (UTC+9)":     "2026-07-17T00:26:00+09:00",
		"Monday, Oct 5, 2026, 9:05 PM (UTC-5:30)":    "2026-10-05T21:05:00-05:30",
		" Friday, July 17, 2026, 12:26 AM (UTC) ":    "2026-07-17T00:26:00Z",
		"Monday, Jan 1, 2024":                        "",
		"Friday, Jul 17, 2026, 12:26 AM (UTC+99999)": "",
		"Friday, Jul 17, 2026, 12:26 AM (UTC+99)":    "",
	} {
		if got := readTime(stamp); got != timestamp.Parse(want) {
			t.Errorf("%q: %v, want %v", stamp, got, timestamp.Parse(want))
		}
	}
}

func TestProject(t *testing.T) {
	for _, c := range []struct{ file, slug, want string }{
		{"/home/ada/shop/src/x.go", "home-ada-shop", "/home/ada/shop"},
		{"/home/ada/my.shop/x.go", "home-ada-my-shop", "/home/ada/my.shop"},
		{"/home/ada/shop", "home-ada-shop", "/home/ada/shop"},
		{`c:\Users\ada\shop\x.go`, "c-Users-ada-shop", "c:/Users/ada/shop"},
		{"/home/ada/other/x.go", "home-ada-shop", ""},
		{"src/x.go", "home-ada-shop", ""},
		{"", "x", ""},
	} {
		if got := projectOf(c.file, c.slug); got != c.want {
			t.Errorf("%s in %s: %q, want %q", c.file, c.slug, got, c.want)
		}
	}
}

func FuzzPlan(f *testing.F) { formattest.Fuzz(f, New(), rolePlan, ".cursor/plans/x_0badcafe.plan.md") }
