package kiro

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }
func TestGrowth(t *testing.T) { formattest.Growth(t, New()) }

const (
	ada    = "home/.kiro/sessions/"
	editor = "home/.config/Kiro/User/globalStorage/kiro.kiroagent/"
	id     = "1a000000-0000-4000-8000-00000000000a"
)

func FuzzRows(f *testing.F) {
	formattest.Fuzz(f, New(), roleRows, "home/.local/share/kiro-cli/data.sqlite3/"+id+"/history.ndjson")
}
func FuzzSaved(f *testing.F) { formattest.Fuzz(f, New(), roleSaved, "Documents/basket.json") }
func FuzzExported(f *testing.F) {
	formattest.Fuzz(f, New(), roleExported, "Documents/shop.json")
}
func FuzzLog(f *testing.F)     { formattest.Fuzz(f, New(), roleLog, ada+"cli/"+id+".jsonl") }
func FuzzSession(f *testing.F) { formattest.Fuzz(f, New(), roleSession, ada+"cli/"+id+".json") }
func FuzzMessages(f *testing.F) {
	formattest.Fuzz(f, New(), roleMessages, ada+"_global/sess_"+id+"/messages.jsonl")
}
func FuzzConverted(f *testing.F) {
	formattest.Fuzz(f, New(), roleMessages, ada+"_global/cli_"+id+"_uHORXqEL/messages.jsonl")
}
func FuzzWorkspace(f *testing.F) {
	formattest.Fuzz(f, New(), roleWorkspace, editor+"workspace-sessions/L3g_/"+id+".json")
}
func FuzzExecution(f *testing.F) {
	const hash = "0123456789abcdef0123456789abcdef"
	formattest.Fuzz(f, New(), roleExecution, editor+hash+"/"+hash+"/"+hash)
}

func TestDetect(t *testing.T) {
	const (
		head   = "SQLite format 3\x00"
		tables = head + "CREATE TABLE auth_kv (key TEXT PRIMARY KEY, value TEXT) CREATE TABLE conversations (key TEXT PRIMARY KEY, value TEXT)"
		prompt = `{"version":"v1","kind":"Prompt","data":{"message_id":"m","content":[]}}`
		said   = `{"id":"x","timestamp":"2026-09-22T08:00:00.000Z","payload":{"type":"user","content":"x"}}`
		saved  = `{"conversation_id":"c","next_message":null,"history":[{"user":{"additional_context":""}}]}`
		hash   = "0123456789abcdef0123456789abcdef"
		sess   = "sess_" + id
	)
	claim := func(strength format.Strength, role, root string, log bool) format.Claim {
		return format.Claim{Strength: strength, Role: role, Root: root, Log: log}
	}
	database := format.Claim{Strength: format.Certain, Role: roleDatabase, Database: true, Secret: true}
	likely := database
	likely.Strength = format.Likely
	skip := format.Claim{Strength: format.Certain, Skip: true}
	formattest.CheckClaims(t, New(), formattest.Claims{
		{".local/share/kiro-cli/data.sqlite3", head, database},
		{"Library/Application Support/amazon-q/data.sqlite3", head, database},
		{"copy/data.sqlite3", tables, database},
		{"copy/old.db", tables, likely},
		{"copy/data.sqlite3", head, format.Claim{}},
		{"kiro-cli/data.sqlite3", "", format.Claim{}},
		{"kiro-cli/data.sqlite3", "encrypted", skip},
		{"kiro-cli/data.sqlite3-wal", "x", skip},
		{"other/data.sqlite3-wal", "x", format.Claim{}},
		{".aws/sso/cache/kiro-auth-token.json", "{}", skip},
		{ada + "cli/" + id + ".jsonl", "", claim(format.Certain, roleLog, ada+"cli", true)},
		{ada + "cli/x.jsonl", "", claim(format.Certain, roleLog, ada+"cli", true)},
		{"there/sessions/cli/" + id + ".jsonl", prompt, claim(format.Certain, roleLog, "there/sessions/cli", true)},
		{"there/sessions/cli/" + id + ".jsonl", `{"role":"user","content":"x"}`, format.Claim{}},
		{"there/sessions/cli/x.jsonl", "", format.Claim{}},
		{"there/x.jsonl", prompt, claim(format.Likely, roleLog, "", true)},
		{"there/x.jsonl", `{"version":"v1","kind":"Pod","data":{}}`, format.Claim{}},
		{ada + "cli/" + id + ".json", "", claim(format.Certain, roleSession, ada+"cli", false)},
		{"there/x.json", `{"session_id":"x","cwd":"/","session_state":{}}`, claim(format.Likely, roleSession, "", false)},
		{"there/sessions/cli/" + id + ".json", `{"session_id":"x","cwd":"/","session_state":{}}`, claim(format.Certain, roleSession, "there/sessions/cli", false)},
		{"there/sessions/cli/" + id + ".json", `{"name":"x"}`, format.Claim{}},
		{ada + "cli/" + id + ".lock", "{}", skip},
		{ada + "cli/" + id + ".history", "x", format.Claim{}},
		{ada + "c25a05601239adfe/" + sess + "/messages.jsonl", "", claim(format.Certain, roleMessages, ada+"c25a05601239adfe/"+sess, true)},
		{"there/" + sess + "/messages.jsonl", said, claim(format.Likely, roleMessages, "", true)},
		{"there/" + sess + "/messages.jsonl", `{"role":"user"}`, format.Claim{}},
		{"there/chat/messages.jsonl", said, format.Claim{}},
		{ada + "_global/" + sess + "/sub-executions/x.jsonl", said, claim(format.Likely, roleMessages, ada+"_global/"+sess, true)},
		{ada + "_global/" + sess + "/session.json", "", claim(format.Certain, roleMeta, ada+"_global/"+sess, false)},
		{"there/" + sess + "/session.json", "{}", format.Claim{}},
		{"there/c25a05601239adfe/" + sess + "/session.json", `{"theme":"dark"}`, format.Claim{}},
		{"there/c25a05601239adfe/" + sess + "/messages.jsonl", `{"role":"user"}`, format.Claim{}},
		{"there/c25a05601239adfe/" + sess + "/messages.jsonl", said, claim(format.Certain, roleMessages, "there/c25a05601239adfe/"+sess, true)},
		{editor + "workspace-sessions/L3g_/" + id + ".json", "", claim(format.Certain, roleWorkspace, editor+"workspace-sessions", false)},
		{editor + "workspace-sessions/L3g_/sessions.json", "[]", claim(format.Certain, roleList, editor+"workspace-sessions", false)},
		{editor + "workspace-sessions/L3g_/._migration-" + id + ".json", "{}", claim(format.Certain, format.Other, editor+"workspace-sessions", false)},
		{"workspace-sessions/L3g_/" + id + ".json", `{"sessionId":"x","title":"y"}`, claim(format.Likely, roleWorkspace, "", false)},
		{editor + hash + "/" + hash + "/" + hash, `{"executionId":"x"}`, claim(format.Certain, roleExecution, "", false)},
		{hash + "/" + hash, `{"executionId":"x"}`, claim(format.Likely, roleExecution, "", false)},
		{editor + hash + "/" + hash, `{"executions":[]}`, format.Claim{}},
		{editor + hash + "/x.chat", "", claim(format.Certain, roleChat, "", false)},
		{"x.chat", `{"executionId":"x","chat":[]}`, claim(format.Likely, roleChat, "", false)},
		{"x.chat", "hello", format.Claim{}},
		{editor + "dev_data/tokens_generated.jsonl", "", claim(format.Certain, roleRequests, "", true)},
		{"shop.json", "{\n  \"format\": \"kiro-session-export-v1\",\n  \"metadata\": {\n    \"session_id\": \"x\", \"cwd\": \"/\", \"session_state\": {}}", claim(format.Likely, roleExported, "", false)},
		{"shop", `{"format":"other","metadata":{},"log_entries":[]}`, format.Claim{}},
		{"basket", saved, claim(format.Likely, roleSaved, "", false)},
		{"basket.json", saved[:len(saved)-3], claim(format.Likely, roleSaved, "", false)},
		{"basket.json", `{"conversation_id":"c","next_message":null,"history":[{"role":"user"}]}`, format.Claim{}},
		{"basket.json", `{"conversation_id":"c","history":[],"next_message":null}`, format.Claim{}},
		{"basket.json", `{"conversation_id":"c","history":[],"next_message":null,"valid_history_range":[0,0]}`, claim(format.Likely, roleSaved, "", false)},
	})
}
