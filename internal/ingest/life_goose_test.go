package ingest_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// The tables of Goose 1.10 (schema 1), and what schemas 2 to 7, 10 and 15 added.
const (
	gooseFirst = `CREATE TABLE schema_version (version INTEGER PRIMARY KEY, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP);
		CREATE TABLE sessions (id TEXT PRIMARY KEY, description TEXT NOT NULL DEFAULT '', working_dir TEXT NOT NULL, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
			updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, extension_data TEXT DEFAULT '{}', total_tokens INTEGER, input_tokens INTEGER, output_tokens INTEGER,
			accumulated_total_tokens INTEGER, accumulated_input_tokens INTEGER, accumulated_output_tokens INTEGER, schedule_id TEXT, recipe_json TEXT);
		CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id), role TEXT NOT NULL, content_json TEXT NOT NULL,
			created_timestamp INTEGER NOT NULL, timestamp TIMESTAMP DEFAULT CURRENT_TIMESTAMP, tokens INTEGER)`
	gooseSeventh = `ALTER TABLE sessions ADD COLUMN user_recipe_values_json TEXT;
		ALTER TABLE messages ADD COLUMN metadata_json TEXT;
		ALTER TABLE sessions ADD COLUMN name TEXT DEFAULT '';
		ALTER TABLE sessions ADD COLUMN user_set_name BOOLEAN DEFAULT FALSE;
		ALTER TABLE sessions ADD COLUMN session_type TEXT NOT NULL DEFAULT 'user';
		ALTER TABLE sessions ADD COLUMN provider_name TEXT;
		ALTER TABLE sessions ADD COLUMN model_config_json TEXT;
		ALTER TABLE messages ADD COLUMN message_id TEXT;
		UPDATE messages SET message_id = 'msg_' || session_id || '_' || id`
	gooseLedger = `ALTER TABLE sessions ADD COLUMN goose_mode TEXT NOT NULL DEFAULT 'auto';
		CREATE TABLE thread_messages (id INTEGER PRIMARY KEY AUTOINCREMENT, thread_id TEXT NOT NULL, session_id TEXT, message_id TEXT, role TEXT NOT NULL,
			content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL, metadata_json TEXT DEFAULT '{}');
		ALTER TABLE sessions ADD COLUMN parent_session_id TEXT;
		ALTER TABLE sessions ADD COLUMN accumulated_cost REAL;
		CREATE TABLE usage_ledger (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, created_timestamp INTEGER NOT NULL, model TEXT, input_tokens INTEGER,
			output_tokens INTEGER, total_tokens INTEGER, cache_read_tokens INTEGER, cache_write_tokens INTEGER, cost REAL, cost_source TEXT, is_compaction INTEGER DEFAULT 0)`
)

const (
	gooseDir = ".local/share/goose/sessions/"
	gooseA   = "20261001_1"
)

func (b *base) gooseSession(id, made string) {
	b.do("INSERT INTO sessions (id, description, working_dir, created_at, updated_at) VALUES (?, 'Mend the basket', '/home/ada/shop', ?, ?)", id, made, made)
}

// gooseSays adds a message, and the sums that the program keeps of a session.
func (b *base) gooseSays(session, role, content string, at int) {
	b.do("INSERT INTO messages (session_id, role, content_json, created_timestamp) VALUES (?, ?, ?, ?)", session, role, content, 1790000000+at)
	b.do("UPDATE sessions SET updated_at = ? WHERE id = ?", fmt.Sprintf("2026-10-01 10:%02d:00", at), session)
}

func gooseText(text string) string { return fmt.Sprintf(`[{"type":"text","text":%q}]`, text) }

// TestLifeGoose has a database that its program moves from schema to schema, writes anew, copies sessions in, and forgets.
func TestLifeGoose(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	b := newBase(s, gooseDir+"sessions.db", gooseFirst)
	b.gooseSession(gooseA, "2026-10-01 09:00:00")
	b.gooseSession("20261001_2", "2026-10-01 09:01:00") // nobody says anything in it
	b.gooseSays(gooseA, "user", gooseText("mend the basket"), 1)
	b.gooseSays(gooseA, "assistant", `[{"type":"text","text":"looking"},{"type":"toolRequest","id":"c1","toolCall":{"status":"success","value":{"name":"developer__shell","arguments":{"command":"ls"}}}}]`, 2)
	b.gooseSays(gooseA, "user", `[{"type":"toolResponse","id":"c1","toolResult":{"status":"success","value":[{"type":"text","text":"wicker"}]}}]`, 2)
	b.do("UPDATE sessions SET input_tokens = 30, output_tokens = 4, total_tokens = 34, accumulated_input_tokens = 50, accumulated_output_tokens = 9, accumulated_total_tokens = 59 WHERE id = ?", gooseA)
	want := counts{runs: 1, conversations: 1, events: 4, calls: 1, results: 1, in: 50, out: 9}
	w.ingestAndCheck("schema 1", "goose", s.dir, want, 3, 0, 0)

	b.do(gooseSeventh)
	b.gooseSays(gooseA, "assistant", gooseText("mended"), 3)
	b.do(`UPDATE messages SET message_id = 'chatcmpl-1' WHERE message_id IS NULL`)
	b.do(`UPDATE sessions SET provider_name = 'anthropic', model_config_json = '{"model_name":"claude-sonnet-4-5"}', accumulated_input_tokens = 80, accumulated_total_tokens = 89 WHERE id = ?`, gooseA)
	want.events, want.in = 5, 80
	w.ingestAndCheck("schema 7", "goose", s.dir, want)
	if got := w.query("SELECT model || ' ' || title FROM v_conversations WHERE verdict = 'counted'"); len(got) != 1 || got[0] != "claude-sonnet-4-5 Mend the basket" {
		t.Errorf("conversation %q", got)
	}

	// The conversation is made shorter: all messages are written anew, the old ones are hidden from the model, and a summary follows.
	b.do(`CREATE TEMP TABLE old AS SELECT * FROM messages; DELETE FROM messages;
		INSERT INTO messages (session_id, role, content_json, created_timestamp, message_id, metadata_json)
		SELECT session_id, role, content_json, created_timestamp, message_id, '{"userVisible":true,"agentVisible":false}' FROM old ORDER BY id;
		DROP TABLE old`)
	b.gooseSays(gooseA, "user", gooseText("a summary of the basket"), 4)
	b.do(`UPDATE messages SET message_id = 'msg_20261001_1_0d9c', metadata_json = '{"userVisible":false,"agentVisible":true}' WHERE message_id IS NULL`)
	want.events++
	w.ingestAndCheck("made shorter", "goose", s.dir, want)
	if got := w.query("SELECT role FROM v_events WHERE kind = 'system' AND counted"); len(got) != 1 {
		t.Errorf("%d summaries", len(got))
	}

	// The ledger comes: what was counted before stays, and a session that has requests is counted by them.
	b.do(gooseLedger)
	b.do("INSERT INTO usage_ledger VALUES (1, ?, 1790000200, NULL, 80, 9, 89, NULL, NULL, NULL, 'carried_forward', 0)", gooseA)
	w.ingestAndCheck("carried forward", "goose", s.dir, want)
	b.do("INSERT INTO usage_ledger VALUES (2, ?, 1790000300, 'claude-sonnet-4-5', 100, 7, 107, 60, 10, 0.0125, 'provider_reported', 0)", gooseA)
	b.do("UPDATE sessions SET accumulated_input_tokens = 180, accumulated_total_tokens = 196, updated_at = '2026-10-01 10:05:00' WHERE id = ?", gooseA)
	want.in, want.out, want.cost = 110, 16, 12500
	w.ingestAndCheck("a request", "goose", s.dir, want)
	newWorld(t).ingestAndCheck("first seen with a ledger", "goose", s.dir, want)

	// A session goes on from a copy of another, and one is its child.
	b.do("INSERT INTO sessions (id, description, working_dir, created_at, updated_at) VALUES ('20261001_3', 'fork', '/home/ada/shop', '2026-10-01 11:00:00', '2026-10-01 11:00:00')")
	b.do(`INSERT INTO messages (session_id, role, content_json, created_timestamp, message_id, metadata_json)
		SELECT '20261001_3', role, content_json, created_timestamp, message_id, metadata_json FROM messages WHERE session_id = ? ORDER BY id`, gooseA)
	b.gooseSays("20261001_3", "user", gooseText("and the shelf"), 8)
	b.do("INSERT INTO sessions (id, session_type, parent_session_id, working_dir, created_at) VALUES ('20261001_4', 'sub_agent', '20261001_3', '/home/ada/shop', '2026-10-01 11:01:00')")
	b.gooseSays("20261001_4", "user", gooseText("look around"), 9)
	want.runs, want.conversations, want.links, want.events = 2, 3, 2, 8
	w.ingestAndCheck("copied", "goose", s.dir, want)

	// An edit cuts the conversation off, and a session is deleted.
	b.do("DELETE FROM messages WHERE session_id = '20261001_3' AND created_timestamp >= 1790000008")
	b.gooseSays("20261001_3", "user", gooseText("and the floor"), 10)
	w.ingestAndCheck("edited", "goose", s.dir, want)
	b.do("DELETE FROM messages WHERE session_id = ?", gooseA)
	b.do("DELETE FROM sessions WHERE id = ?", gooseA)
	w.ingestAndCheck("deleted", "goose", s.dir, want, 0, 0, 0)

	// Another machine has sessions of the same names.
	other := newBase(s, "laptop/goose/sessions/sessions.db", gooseFirst)
	other.gooseSession(gooseA, "2026-10-01 15:00:00")
	other.gooseSays(gooseA, "user", gooseText("another basket"), 20)
	want.runs, want.conversations, want.events = 3, 4, 9
	w.ingestAndCheck("another machine", "goose", s.dir, want)
}

// TestLifeGooseClash has sessions that are called so that no tar could extract all of them beside each other, or as another one is.
func TestLifeGooseClash(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	b := newBase(s, gooseDir+"sessions.db", gooseFirst)
	for i, id := range []string{gooseA, gooseA + "/messages.ndjson/1", gooseA + "/session.ndjson"} {
		b.gooseSession(id, "2026-10-01 09:00:00")
		b.gooseSays(id, "user", gooseText("mend the basket"), i)
	}
	b.do("INSERT INTO messages (session_id, role, content_json, created_timestamp) VALUES (CAST(? AS BLOB), 'user', '[]', 0)", gooseA)
	w.ingestAndCheck("clash", "goose", s.dir, counts{runs: 3, conversations: 3, events: 3})
}

// TestLifeGooseFiles has a session in a file, which is written anew with each message, taken over into the database, and goes on there.
func TestLifeGooseFiles(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	file := func(messages, tokens int) {
		lines := []string{fmt.Sprintf(`{"working_dir":"/home/ada/shop","description":"Mend the basket","schedule_id":null,"message_count":%d,"total_tokens":%d,"input_tokens":%d,"output_tokens":2,"accumulated_total_tokens":%d,"accumulated_input_tokens":%d,"accumulated_output_tokens":2}`,
			messages, tokens+2, tokens, tokens+2, tokens)}
		for i := range messages {
			lines = append(lines, fmt.Sprintf(`{"role":%q,"created":%d,"content":[{"type":"text","text":"message %d"}]}`, []string{"user", "assistant"}[i%2], 1758000000+i, i))
		}
		s.write(gooseDir+"20250916_061500.jsonl", strings.Join(lines, "\n")+"\n")
	}
	file(1, 10)
	want := counts{runs: 1, conversations: 1, events: 1, in: 10, out: 2}
	w.ingestAndCheck("a message", "goose", s.dir, want, 1, 0, 0)
	file(2, 25)
	want.events, want.in = 2, 25
	w.ingestAndCheck("two", "goose", s.dir, want, 0, 0, 1)
	b := newBase(s, gooseDir+"sessions.db", gooseFirst+";"+gooseSeventh)
	b.do(`INSERT INTO sessions (id, name, working_dir, created_at, updated_at, accumulated_input_tokens, accumulated_output_tokens) VALUES ('20250916_061500', 'Mend the basket', '/home/ada/shop',
		'2025-09-16 04:15:00', '2025-09-16 04:16:00', 25, 2)`)
	for i := range 2 {
		b.do("INSERT INTO messages (session_id, message_id, role, content_json, created_timestamp) VALUES ('20250916_061500', ?, ?, ?, ?)", fmt.Sprintf("msg_20250916_061500_%d-aa", i),
			[]string{"user", "assistant"}[i], fmt.Sprintf(`[{"type":"text","text":"message %d","annotations":null}]`, i), 1758000000+i)
	}
	w.ingestAndCheck("taken over", "goose", s.dir, want)
	b.gooseSays("20250916_061500", "user", gooseText("goes on"), 5)
	want.events++
	w.ingestAndCheck("goes on", "goose", s.dir, want)
	b.do("VACUUM INTO ?", filepath.Join(s.dir, gooseDir+"backup.db"))
	w.ingestAndCheck("a backup", "goose", s.dir, want)
	late := newWorld(t)
	late.ingestAndCheck("late", "goose", s.dir, want)
}

// TestLifeGooseFew has a database with no more columns than the format needs.
func TestLifeGooseFew(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	b := newBase(s, gooseDir+"sessions.db", `CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, working_dir TEXT, accumulated_input_tokens INTEGER);
		CREATE TABLE messages (session_id TEXT, role TEXT, content_json TEXT, created_timestamp INTEGER);
		CREATE TABLE usage_ledger (session_id TEXT, created_timestamp INTEGER, model TEXT, input_tokens INTEGER, output_tokens INTEGER)`)
	for _, id := range []string{"s1", "s2"} {
		b.do("INSERT INTO sessions VALUES (?, 'Mend the basket', '/home/ada/shop', 7)", id)
		b.do("INSERT INTO messages VALUES (?, 'user', ?, 1790000000)", id, gooseText("mend "+id))
	}
	b.do("INSERT INTO usage_ledger VALUES ('s1', 1790000001, 'gpt-5', 10, 2), ('s1', 1790000002, 'gpt-5', 20, 3)")
	w.ingestAndCheck("few columns", "goose", s.dir, counts{runs: 2, conversations: 2, events: 2, in: 37, out: 5}, 5, 0, 0)
}
