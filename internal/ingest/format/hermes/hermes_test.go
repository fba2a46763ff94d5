package hermes

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }
func TestGrowth(t *testing.T) { formattest.Growth(t, New()) }

func FuzzRows(f *testing.F) {
	formattest.Fuzz(f, New(), roleRows, "home/.hermes/state.db/20260829_113320_a1b2c3/messages.ndjson")
}

func FuzzLog(f *testing.F) {
	formattest.Fuzz(f, New(), roleLog, "home/.hermes/sessions/20260210_080000_0a0b0c0d.jsonl")
}

func FuzzSnapshot(f *testing.F) {
	formattest.Fuzz(f, New(), roleSnapshot, "home/.hermes/sessions/session_20260211_090000_aaaaaa.json")
}

func FuzzExport(f *testing.F) { formattest.Fuzz(f, New(), roleExport, "Downloads/backup.jsonl") }

func TestDetect(t *testing.T) {
	const head = "SQLite format 3\x00"
	const schema = head + "CREATE TABLE sessions (id TEXT, system_prompt TEXT, parent_session_id TEXT, end_reason TEXT, tool_call_count INTEGER)"
	const meta = `{"role": "session_meta", "tools": [], "model": "hermes-4"}`
	const export = `{"id": "20260829_150000_f1f2f3", "source": "cli", "user_id": null, "model_config": null, "system_prompt": "You are`
	long, other := formattest.DatabaseHead(true), formattest.DatabaseHead(false) // the schema is on other pages; it is here
	database := format.Claim{Strength: format.Certain, Role: roleDatabase, Database: true}
	log := format.Claim{Strength: format.Certain, Role: roleLog, Log: true}
	snapshot := format.Claim{Strength: format.Certain, Role: roleSnapshot}
	skip := format.Claim{Strength: format.Certain, Skip: true}
	likely := func(c format.Claim) format.Claim {
		c.Strength = format.Likely
		return c
	}
	formattest.CheckClaims(t, New(), formattest.Claims{
		{"home/.hermes/state.db", head, database},
		{".hermes/profiles/coder/state.db", string(long), database},
		{"Users/ada/AppData/Local/hermes/state.db", string(other), database},
		{"state.db", string(long), likely(database)},
		{"profiles/coder/state.db", string(long), likely(database)},
		{"mine/profiles/coder/state.db", string(long), format.Claim{}},
		{"state.db", string(other), format.Claim{}},
		{"mine/state.db", string(long), format.Claim{}},
		{"mine/backup.db", schema, likely(database)},
		{".hermes/kanban.db", string(long), format.Claim{}},
		{".hermes/state.db", "no database", format.Claim{}},
		{".hermes/state.db-wal", "", format.Claim{}},
		{".hermes/sessions/20260210_080000_0a0b0c0d.jsonl", "", log},
		{".hermes/profiles/coder/sessions/x.jsonl", meta, log},
		{"data/sessions/20260210_080000_0a0b0c0d.jsonl", `{"role": "user"}`, likely(log)},
		{"data/sessions/cron_daily_20260210_080000.jsonl", `{"role": "user"}`, likely(log)},
		{"data/sessions/20260210_080000.jsonl", `{"role": "user"}`, format.Claim{}}, // Goose calls its sessions so
		{"data/sessions/other.jsonl", `{"role": "user"}`, format.Claim{}},
		{"data/x.jsonl", meta, likely(log)},
		{"data/x.jsonl", `{"type": "session_meta", "role": "x", "tools": []}`, format.Claim{}},
		{"data/x.jsonl", export, format.Claim{Strength: format.Likely, Role: roleExport}},
		{"data/x.jsonl", `{"id": "1", "source": "cli", "user_id": null}`, format.Claim{}},
		{".hermes/sessions/session_20260211_090000_aaaaaa.json", "", snapshot},
		{"mine/session_1.json", `{"session_id": "1", "base_url": "", "session_start": ""}`, likely(snapshot)},
		{"mine/session_1.json", `{"session_id": "1"}`, format.Claim{}},
		{".hermes/sessions/sessions.json", "{}", format.Claim{}},
		{".hermes/sessions/request_dump_20260211_090000_aaaaaa_1.json", "{}", skip},
		{".hermes/.env", "", skip},
		{".hermes/profiles/coder/auth.json", "{}", skip},
		{".hermes/config.yaml", "", skip},
		{"mine/config.yaml", "", format.Claim{}},
		{"state.db/x/messages.ndjson", `{"table":"message"}`, format.Claim{}},
	})
}

// TestRelation checks what a session is to its parent.
func TestRelation(t *testing.T) {
	for row, want := range map[string]relation{
		`{"parent_session_id":null}`:                                                      {kind: "parent"},
		`{"parent_session_id":"a","parent_end_reason":"compression"}`:                     {"a", "resume", false},
		`{"parent_session_id":"a","parent_end_reason":"compression","delegate_from":"b"}`: {"a", "resume", true},
		`{"parent_session_id":"a","parent_end_reason":"compression","delegate_from":"a"}`: {"a", "parent", true},
		`{"parent_session_id":"a","parent_end_reason":"compression","source":"subagent"}`: {"a", "resume", true},
		`{"parent_session_id":"a","parent_end_reason":null}`:                              {"a", "parent", true},
		`{"parent_session_id":"a","parent_end_reason":"branched"}`:                        {"a", "fork", false},
		`{"parent_session_id":"a","parent_end_reason":"compression","branched_from":"a"}`: {"a", "fork", false},
		`{"parent_session_id":"a","parent_end_reason":"session_reset"}`:                   {"a", "reference", false},
		`{"parent_session_id":"a","parent_end_reason":"cli_close","reset_from":"a"}`:      {"a", "reference", false},
		`{"parent_session_id":null,"delegate_from":"b"}`:                                  {"b", "parent", true},
		`{"parent_session_id":null,"delegate_from":"__orphaned__"}`:                       {"", "parent", true},
		`{"parent_session_id":null,"branched_from":"b"}`:                                  {"b", "fork", false},
		`{"parent_session_id":"a","model_config":"{\"_branched_from\":\"a\"}"}`:           {"a", "fork", false},
		`{"parent_session_id":"a","model_config":null}`:                                   {"a", "resume", false},
		`{"parent_session_id":"a","model_config":{"_delegate_from":"a"}}`:                 {"a", "parent", true},
	} {
		v, err := jsontext.Parse([]byte(row))
		if err != nil {
			t.Fatal(err)
		}
		if got := relationOf(v); got != want {
			t.Errorf("%s: %+v, want %+v", row, got, want)
		}
	}
}
