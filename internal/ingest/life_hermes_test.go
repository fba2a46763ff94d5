package ingest_test

import (
	"fmt"
	"strings"
	"testing"
)

// The tables of Hermes' schema 4, and what later ones added.
const (
	hermesFirst = `CREATE TABLE schema_version (version INTEGER NOT NULL);
		CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT NOT NULL, user_id TEXT, model TEXT, model_config TEXT, system_prompt TEXT, parent_session_id TEXT, started_at REAL NOT NULL, ended_at REAL,
			end_reason TEXT, message_count INTEGER DEFAULT 0, tool_call_count INTEGER DEFAULT 0, input_tokens INTEGER DEFAULT 0, output_tokens INTEGER DEFAULT 0, title TEXT,
			FOREIGN KEY (parent_session_id) REFERENCES sessions(id));
		CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id), role TEXT NOT NULL, content TEXT, tool_call_id TEXT, tool_calls TEXT, tool_name TEXT,
			timestamp REAL NOT NULL, token_count INTEGER, finish_reason TEXT);
		CREATE INDEX idx_messages_session ON messages(session_id, timestamp)`
	hermesLater = `ALTER TABLE sessions ADD COLUMN cache_read_tokens INTEGER DEFAULT 0;
		ALTER TABLE sessions ADD COLUMN cache_write_tokens INTEGER DEFAULT 0;
		ALTER TABLE sessions ADD COLUMN billing_provider TEXT;
		ALTER TABLE sessions ADD COLUMN estimated_cost_usd REAL;
		ALTER TABLE sessions ADD COLUMN actual_cost_usd REAL;
		ALTER TABLE sessions ADD COLUMN api_call_count INTEGER DEFAULT 0;
		ALTER TABLE sessions ADD COLUMN cwd TEXT;
		ALTER TABLE sessions ADD COLUMN system_prompt_hash TEXT;
		ALTER TABLE messages ADD COLUMN reasoning TEXT;
		ALTER TABLE messages ADD COLUMN _compressed_summary INTEGER NOT NULL DEFAULT 0;
		ALTER TABLE messages ADD COLUMN active INTEGER NOT NULL DEFAULT 1;
		ALTER TABLE messages ADD COLUMN compacted INTEGER NOT NULL DEFAULT 0;
		CREATE TABLE system_prompts (hash TEXT PRIMARY KEY, prompt TEXT NOT NULL);
		CREATE TABLE session_model_usage (session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, model TEXT NOT NULL, billing_provider TEXT NOT NULL DEFAULT '',
			billing_base_url TEXT NOT NULL DEFAULT '', billing_mode TEXT NOT NULL DEFAULT '', task TEXT NOT NULL DEFAULT '', api_call_count INTEGER NOT NULL DEFAULT 0,
			input_tokens INTEGER NOT NULL DEFAULT 0, output_tokens INTEGER NOT NULL DEFAULT 0, cache_read_tokens INTEGER NOT NULL DEFAULT 0, cache_write_tokens INTEGER NOT NULL DEFAULT 0,
			reasoning_tokens INTEGER NOT NULL DEFAULT 0, estimated_cost_usd REAL NOT NULL DEFAULT 0, actual_cost_usd REAL NOT NULL DEFAULT 0, cost_status TEXT, cost_source TEXT, first_seen REAL, last_seen REAL,
			PRIMARY KEY (session_id, model, billing_provider, billing_base_url, billing_mode, task));
		INSERT INTO session_model_usage (session_id, model, input_tokens, output_tokens, first_seen, last_seen)
			SELECT id, coalesce(model, 'unknown'), input_tokens, output_tokens, started_at, started_at FROM sessions WHERE input_tokens + output_tokens > 0`
)

const (
	hermesStart = 1788000000
	hermesA     = "20260829_104000_a1a2a3"
	hermesB     = "20260829_120000_b1b2b3"
	hermesC     = "20260829_105000_c1c2c3"
	hermesD     = "20260829_130000_d1d2d3d4"
)

func (b *base) hermesSession(id, parent string, at int) {
	b.do("INSERT INTO sessions (id, source, model, parent_session_id, started_at) VALUES (?, 'cli', 'hermes-4', nullif(?, ''), ?)", id, parent, hermesStart+at)
}

// hermesSays adds a message at a time.
func (b *base) hermesSays(session, role, content string, at int) {
	b.do("INSERT INTO messages (session_id, role, content, timestamp) VALUES (?, ?, nullif(?, ''), ?)", session, role, content, float64(hermesStart+at)+0.25)
}

// hermesUsed sets the sums of a session.
func (b *base) hermesUsed(session string, in, out int) {
	b.do("UPDATE sessions SET input_tokens = ?, output_tokens = ? WHERE id = ?", in, out, session)
}

// hermesModel adds to the sums of a model.
func (b *base) hermesModel(session, model, task string, in, out int, cost float64) {
	b.do(`INSERT INTO session_model_usage (session_id, model, task, api_call_count, input_tokens, output_tokens, estimated_cost_usd, first_seen) VALUES (?, ?, ?, 1, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET api_call_count = api_call_count + 1, input_tokens = input_tokens + excluded.input_tokens, output_tokens = output_tokens + excluded.output_tokens,
		estimated_cost_usd = estimated_cost_usd + excluded.estimated_cost_usd`, session, model, task, in, out, cost, hermesStart+20)
}

const hermesSummary = "[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted: the basket is mended."

// TestLifeHermes has a database whose program moves it to later schemas, shortens a conversation in place and by going on in another
// session, takes back a prompt, starts a sub-agent and a branch, and deletes what is old.
func TestLifeHermes(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	b := newBase(s, ".hermes/state.db", hermesFirst)
	b.hermesSession(hermesA, "", 0)
	b.hermesSession("20260829_104000_eeeeee", "", 0) // nobody says anything in it
	b.hermesSays(hermesA, "user", "mend the basket", 1)
	b.hermesSays(hermesA, "assistant", "", 2)
	b.do(`UPDATE messages SET tool_calls = '[{"id":"c1","type":"function","function":{"name":"terminal","arguments":"{\"command\":\"ls\"}"}}]' WHERE role = 'assistant'`)
	b.hermesSays(hermesA, "tool", `{"output":"wicker","exit_code":0}`, 3)
	b.do("UPDATE messages SET tool_call_id = 'c1', tool_name = 'terminal' WHERE role = 'tool'")
	b.hermesUsed(hermesA, 100, 10)
	want := counts{runs: 1, conversations: 1, events: 3, calls: 1, results: 1, in: 100, out: 10}
	w.ingestAndCheck("schema 4", "hermes", s.dir, want, 3, 0, 0)

	b.hermesSays(hermesA, "assistant", "mended", 4)
	b.hermesUsed(hermesA, 150, 20)
	want.events, want.in, want.out = 4, 150, 20
	w.ingestAndCheck("an answer", "hermes", s.dir, want, 0, 1, 1)

	// The sums of the session become those of its model, and do not count twice.
	b.do(hermesLater)
	w.ingestAndCheck("later schema", "hermes", s.dir, want)
	b.hermesModel(hermesA, "hermes-4", "", 50, 5, 0)
	b.hermesModel(hermesA, "gpt-5", "", 30, 3, 0.25)
	b.hermesModel(hermesA, "gpt-5", "compression", 70, 7, 0) // not in the sums of the session
	b.hermesUsed(hermesA, 230, 28)
	b.do("INSERT INTO system_prompts VALUES ('h', 'You are Hermes.'); UPDATE sessions SET title = 'The basket', cwd = '/home/ada/shop', system_prompt_hash = 'h' WHERE id = ?", hermesA)
	want.in, want.out, want.cost = 300, 35, 250000
	w.ingestAndCheck("more models", "hermes", s.dir, want, 1, 0, 1)
	if got := w.query("SELECT title || ' ' || project FROM v_conversations WHERE verdict = 'counted'"); strings.Join(got, ",") != "The basket /home/ada/shop" {
		t.Errorf("conversations %q", got)
	}

	// The conversation is shortened in place: the last message is written again behind a summary.
	b.do("UPDATE messages SET active = 0, compacted = content <> 'mended' OR content IS NULL WHERE session_id = ?", hermesA)
	b.hermesSays(hermesA, "user", hermesSummary, 5)
	b.do("UPDATE messages SET _compressed_summary = 1 WHERE content = ?", hermesSummary)
	b.hermesSays(hermesA, "assistant", "mended", 4)
	b.hermesSays(hermesA, "user", "and paint it", 6)
	want.events = 6
	w.ingestAndCheck("shortened", "hermes", s.dir, want, 0, 0, 1)

	b.do("UPDATE messages SET active = 0 WHERE content = 'and paint it'")
	b.hermesSays(hermesA, "user", "and oil it", 7)
	want.events = 7
	w.ingestAndCheck("taken back", "hermes", s.dir, want)
	if got := w.query("SELECT count(*) FROM v_events WHERE attributes LIKE '%rewound%'"); got[0] != "1" {
		t.Errorf("%s messages taken back", got[0])
	}

	// Some versions write what is carried over with another time.
	b.do("UPDATE messages SET active = 0, compacted = 1 WHERE session_id = ? AND active = 1", hermesA)
	b.hermesSays(hermesA, "user", hermesSummary+" Twice.", 8)
	b.hermesSays(hermesA, "user", "and oil it", 9)
	want.events = 8
	w.ingestAndCheck("shortened again", "hermes", s.dir, want)

	// It goes on in another session, which begins with what is carried over, at another time.
	b.do("UPDATE sessions SET ended_at = ?, end_reason = 'compression' WHERE id = ?", hermesStart+100, hermesA)
	b.hermesSession(hermesB, hermesA, 100)
	b.hermesSays(hermesB, "user", hermesSummary+" And painted.", 100)
	b.hermesSays(hermesB, "user", "and oil it", 101)
	b.hermesSays(hermesB, "assistant", "oiled", 102)
	want.runs, want.conversations, want.events, want.links = 2, 2, 10, 1
	w.ingestAndCheck("goes on", "hermes", s.dir, want)

	b.hermesSession(hermesC, hermesA, 50)
	b.do(`UPDATE sessions SET source = 'subagent', model_config = json_object('_delegate_from', ?) WHERE id = ?`, hermesA, hermesC)
	b.hermesSays(hermesC, "user", "count the straws", 51)
	b.hermesSays(hermesC, "assistant", "41", 52)
	b.hermesUsed(hermesC, 5, 1)
	want.conversations, want.events, want.links, want.in, want.out = 3, 12, 2, 305, 36
	w.ingestAndCheck("a sub-agent", "hermes", s.dir, want)

	b.hermesSession(hermesD, hermesB, 200)
	b.do(`UPDATE sessions SET model_config = json_object('_branched_from', ?) WHERE id = ?`, hermesB, hermesD)
	b.hermesSays(hermesD, "assistant", "oiled", 102)
	b.hermesSays(hermesD, "user", "now the lid", 201)
	want.runs, want.conversations, want.events, want.links = 3, 4, 13, 3
	w.ingestAndCheck("a branch", "hermes", s.dir, want)
	late := newWorld(t)
	late.ingestAndCheck("late", "hermes", s.dir, want)
	b.do("VACUUM INTO ?", s.dir+"/.hermes/backup.db")
	w.ingestAndCheck("a backup", "hermes", s.dir, want)
	s.remove(".hermes/backup.db")

	b.do("DELETE FROM messages; DELETE FROM session_model_usage; DELETE FROM sessions")
	w.ingestAndCheck("deleted", "hermes", s.dir, want, 0, 0, 0)
}

// TestLifeHermesUndo has an early version, which deletes what is taken back and writes the rest anew, with other times.
func TestLifeHermesUndo(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	b := newBase(s, ".hermes/profiles/coder/state.db", hermesFirst)
	b.hermesSession(hermesA, "", 0)
	b.hermesSays(hermesA, "user", "weave a mat", 1)
	b.hermesSays(hermesA, "assistant", "woven", 2)
	b.hermesSays(hermesA, "user", "sell it", 3)
	want := counts{runs: 1, conversations: 1, events: 3}
	w.ingestAndCheck("three", "hermes", s.dir, want, 2, 0, 0)
	b.do("DELETE FROM messages")
	b.hermesSays(hermesA, "user", "weave a mat", 11)
	b.hermesSays(hermesA, "assistant", "woven", 12)
	want.events = 2
	w.ingestAndCheck("undone", "hermes", s.dir, want, 0, 0, 1)
	b.hermesSays(hermesA, "user", "keep it", 13)
	want.events = 3
	w.ingestAndCheck("goes on", "hermes", s.dir, want, 0, 1, 0)
}

// TestLifeHermesFiles has a session in files, which is in the database, too, goes on there, and is exported.
func TestLifeHermesFiles(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	const log = ".hermes/sessions/" + hermesD + ".jsonl"
	line := func(role, content string, at int) string {
		return fmt.Sprintf("{\"role\": %q, \"content\": %q, \"timestamp\": \"2026-08-29T10:40:%02d.250000\"}\n", role, content, at)
	}
	s.write(log, "{\"role\": \"session_meta\", \"tools\": [], \"model\": \"hermes-4\", \"platform\": \"telegram\", \"timestamp\": \"2026-08-29T10:40:00.250000\"}\n"+line("user", "is the loom free?", 1))
	want := counts{runs: 1, conversations: 1, events: 1}
	w.ingestAndCheck("a prompt", "hermes", s.dir, want, 1, 0, 0)
	s.append(log, line("assistant", "it is", 2)+line("user", "weave a mat", 3))
	want.events = 3
	w.ingestAndCheck("grown", "hermes", s.dir, want, 0, 1, 0)
	s.write(".hermes/sessions/session_"+hermesD+".json", fmt.Sprintf(`{"session_id": %q, "model": "hermes-4", "base_url": "", "platform": "telegram", "session_start": "2026-08-29T10:40:00", "messages": [
		{"role": "user", "content": "is the loom free?"}, {"role": "assistant", "content": "it is", "reasoning": "I see it."}, {"role": "user", "content": "weave a mat"}]}`, hermesD))
	want.events = 4 // it has the reasoning
	w.ingestAndCheck("a snapshot", "hermes", s.dir, want, 1, 0, 0)

	b := newBase(s, ".hermes/state.db", hermesFirst)
	b.hermesSession(hermesD, "", 0)
	b.hermesSays(hermesD, "user", "is the loom free?", 1)
	b.hermesSays(hermesD, "assistant", "it is", 2)
	b.hermesSays(hermesD, "user", "weave a mat", 3)
	b.hermesSays(hermesD, "assistant", "woven", 4)
	b.hermesSays(hermesD, "user", "sell it", 5)
	b.hermesUsed(hermesD, 60, 6)
	want.events, want.in, want.out = 5, 60, 6
	w.ingestAndCheck("in the database", "hermes", s.dir, want, 2, 0, 0)
	s.write("export.jsonl", fmt.Sprintf(`{"id": %q, "source": "telegram", "user_id": null, "model": "hermes-4", "model_config": null, "system_prompt": null, "parent_session_id": null, "started_at": 1788000000, "input_tokens": 60, "output_tokens": 6, "messages": [
		{"id": 1, "role": "user", "content": "is the loom free?", "timestamp": 1788000001.25}, {"id": 5, "role": "user", "content": "sell it to [REDACTED]", "timestamp": 1788000005.25}]}`, hermesD))
	s.write("export.jsonl", strings.ReplaceAll(s.read("export.jsonl"), "\n\t\t", "")+"\n")
	w.ingestAndCheck("exported", "hermes", s.dir, want, 1, 0, 0)
	b.hermesUpgrade()
	b.hermesUsed(hermesD, 80, 8)
	want.in, want.out = 80, 8
	w.ingestAndCheck("goes on", "hermes", s.dir, want)
	late := newWorld(t)
	late.ingestAndCheck("late", "hermes", s.dir, want)

	// What is only in the export counts as it says.
	alone := newWorld(t)
	s.remove(".hermes/state.db")
	s.remove(".hermes/state.db-wal")
	s.remove(log)
	s.remove(".hermes/sessions/session_" + hermesD + ".json")
	alone.ingestAndCheck("only exported", "hermes", s.dir, counts{runs: 1, conversations: 1, events: 2, in: 60, out: 6})
}

// hermesUpgrade moves a database to a later schema, with requests of a model that are also in the sums of the session.
func (b *base) hermesUpgrade() {
	b.do(hermesLater)
	b.hermesModel(hermesD, "hermes-4", "", 20, 2, 0)
}

// TestLifeHermesFew has a database with no more columns than the format needs.
func TestLifeHermesFew(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	b := newBase(s, ".hermes/state.db", `CREATE TABLE sessions (id TEXT PRIMARY KEY);
		CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, tool_call_id TEXT, tool_calls TEXT, timestamp REAL);
		CREATE TABLE session_model_usage (session_id TEXT, model TEXT, billing_provider TEXT, api_call_count INTEGER, input_tokens INTEGER, output_tokens INTEGER,
			cache_read_tokens INTEGER, cache_write_tokens INTEGER, reasoning_tokens INTEGER, estimated_cost_usd REAL, actual_cost_usd REAL)`)
	for _, id := range []string{hermesA, hermesB} {
		b.do("INSERT INTO sessions VALUES (?)", id)
		b.do("INSERT INTO messages (session_id, role, content, timestamp) VALUES (?, 'user', ?, 1788000000.5)", id, "mend "+id)
	}
	b.do("INSERT INTO session_model_usage (session_id, model, input_tokens, output_tokens) VALUES (?, 'gpt-5', 10, 2)", hermesA)
	w.ingestAndCheck("few columns", "hermes", s.dir, counts{runs: 2, conversations: 2, events: 2, in: 10, out: 2}, 4, 0, 0)
}
