package ingest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// The tables of OpenClaw 2026.9.2 that matter here, and what 2026.9.7 added.
const (
	clawTables = `CREATE TABLE session_windows (session_id TEXT NOT NULL PRIMARY KEY, session_key TEXT NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL) STRICT;
		CREATE TABLE session_nodes (session_key TEXT NOT NULL PRIMARY KEY, current_session_id TEXT NOT NULL, entry_json TEXT NOT NULL, updated_at INTEGER NOT NULL) STRICT;
		CREATE TABLE auth_profile_store (store_key TEXT NOT NULL PRIMARY KEY, store_json TEXT NOT NULL, updated_at INTEGER NOT NULL) STRICT;
		CREATE TABLE transcript_events (session_id TEXT NOT NULL, seq INTEGER NOT NULL, event_json TEXT NOT NULL, created_at INTEGER NOT NULL, PRIMARY KEY (session_id, seq)) STRICT`
	clawPacked = `CREATE TABLE later (session_id TEXT NOT NULL, seq INTEGER NOT NULL, event_json TEXT, created_at INTEGER NOT NULL, event_zstd BLOB, event_utf8_bytes INTEGER,
			navigation_json TEXT, PRIMARY KEY (session_id, seq)) STRICT;
		INSERT INTO later SELECT session_id, seq, event_json, created_at, NULL, NULL, NULL FROM transcript_events;
		DROP TABLE transcript_events; ALTER TABLE later RENAME TO transcript_events`
	clawD    = "0f000000-0000-4000-8000-00000000000d"
	clawE    = "0f000000-0000-4000-8000-00000000000e"
	clawBase = ".openclaw/agents/main/agent/openclaw-agent.sqlite"
)

// clawSays adds lines of a session as rows.
func (b *base) clawSays(session string, from int, lines string) {
	for i, line := range strings.Split(strings.TrimSuffix(lines, "\n"), "\n") {
		b.do("INSERT INTO transcript_events (session_id, seq, event_json, created_at) VALUES (?, ?, ?, ?)", session, from+i, line, int64(1793700000000)+int64(from+i))
	}
}

// clawCold returns a file to which the program has moved a session from the database.
func clawCold(session, lines string) string {
	text := fmt.Sprintf(`{"kind":"header","version":1,"sessionId":%q,"generation":"g"}`+"\n", session)
	for i, line := range strings.Split(strings.TrimSuffix(lines, "\n"), "\n") {
		entry, err := json.Marshal(line)
		if err != nil {
			panic(err)
		}
		text += fmt.Sprintf(`{"kind":"event","row":{"seq":%d,"event_json":%s,"created_at":1}}`+"\n", i, entry)
	}
	return string(zstdFrame(text + `{"kind":"fts","row":{"text":"mend","message_id":"m","role":"user","timestamp":1}}` + "\n"))
}

// TestLifeOpenClawBase has sessions in the database that has the keys, too: they are taken out of it, row by row, as they grow, are
// compressed and cut, and nothing else is.
func TestLifeOpenClawBase(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	b := newBase(s, clawBase, clawTables)
	b.do("INSERT INTO auth_profile_store VALUES ('primary', ?, 1)", `{"profiles":{"anthropic:default":{"key":"`+cursorToken+`"}}}`)
	b.clawSays(claudeA, 0, piHead(claudeA, 0, "")+piTurn("a", 1))
	b.clawSays(claudeB, 0, piHead(claudeB, 1, "")+piTurn("b", 100))
	want := counts{runs: 2, conversations: 2, events: 4, in: 20, out: 6, cost: 20000}
	w.ingestAndCheck("said", "openclaw", s.dir, want)
	if got := w.query("SELECT DISTINCT agent || ' ' || title FROM v_runs WHERE native_id = '" + claudeA + "'"); len(got) != 1 || got[0] != "main mend basket 1" {
		t.Errorf("run %q", got)
	}

	b.clawSays(claudeA, 3, piTurn("a", 2))
	want.events, want.in, want.out, want.cost = 6, 30, 9, 30000
	w.ingestAndCheck("gone on", "openclaw", s.dir, want, 0, 1, 0)

	b.do(clawPacked)
	long := strings.TrimSuffix(piEntry("a9", 40, `"role":"user","content":"a basket of `+strings.Repeat("willow ", 200)+`"`), "\n")
	b.do("INSERT INTO transcript_events VALUES (?, 9, NULL, 1793700000009, ?, ?, '{}')", claudeA, zstdFrame(long), len(long))
	want.events++
	w.ingestAndCheck("a long one", "openclaw", s.dir, want)
	legible := false
	for _, all := range w.allVersions() {
		for _, content := range all {
			legible = legible || strings.Contains(content, "a basket of willow willow")
		}
	}
	if !legible {
		t.Error("a compressed entry is stored as it is")
	}

	b.do("DELETE FROM transcript_events WHERE session_id = ? AND seq IN (3, 4)", claudeA) // what was asked and paid stays
	w.ingestAndCheck("a turn less", "openclaw", s.dir, want, 0, 0, 1)
	b.do("INSERT INTO session_nodes VALUES ('agent:main:main', ?, '{}', 1), ('agent:main:subagent:x', ?, ?, 2)", claudeA, claudeB,
		`{"label":"Weave the lid","spawnedBy":"agent:main:main"}`)
	want.runs, want.links = 1, 1
	w.ingestAndCheck("chats", "openclaw", s.dir, want, 1, 0, 0)
	if got := w.query("SELECT DISTINCT title || ' ' || group_id FROM v_runs WHERE native_id = '" + claudeB + "'"); len(got) != 1 || got[0] != "Weave the lid agent:main:subagent:x" {
		t.Errorf("child %q", got)
	}
	b.do("UPDATE session_nodes SET updated_at = 9, entry_json = json_set(entry_json, '$.totalTokens', 7)")
	w.ingestAndCheck("what is not kept has changed", "openclaw", s.dir, want, 0, 0, 0)
	s.write(clawHouse+claudeB+".jsonl", piHead(claudeB, 1, "")+piTurn("b", 100)) // as the program left it when it made the database
	w.ingestAndCheck("a file of before", "openclaw", s.dir, want, 1, 0, 0)

	// The chat had another session before, from which the child was started. Its file was moved when the database was made, as was one that the
	// database did not get.
	b.do("INSERT INTO session_windows VALUES (?, 'agent:main:main', 10, 10), (?, 'agent:main:main', 30, 30), (?, 'agent:main:subagent:x', 20, 20)", claudeC, claudeA, claudeB)
	b.clawSays(claudeC, 0, piHead(claudeC, 2, "")+piTurn("c", 200))
	const aside = ".openclaw/agents/main/session-sqlite-import-archive/"
	s.move(clawHouse+claudeB+".jsonl", aside+"agent_main_subagent_x."+claudeB+".jsonl.imported-1793700000000")
	s.write(aside+"archive-tier."+clawD+".jsonl.reset.2026-11-01T10-00-00.000Z.imported-1793700000000", piHead(clawD, 3, "")+piTurn("d", 300))
	want.runs, want.conversations, want.events, want.in, want.out, want.cost = 3, 4, want.events+4, want.in+20, want.out+6, want.cost+20000
	want.links = 2 // the child's former parent was the chat's latest session
	w.ingestAndCheck("earlier sessions", "openclaw", s.dir, want)
	if got := w.query("SELECT r.native_id || ' ' || r.agent FROM v_runs r WHERE r.group_id = 'agent:main:main' ORDER BY 1"); len(got) != 2 || got[0] != claudeA+" main" || got[1] != claudeC+" main" {
		t.Errorf("the chat's sessions are %q", got)
	}
	if got := w.query("SELECT agent FROM v_runs WHERE native_id = '" + clawD + "'"); len(got) != 1 || got[0] != "main" {
		t.Errorf("what the database did not get is of %q", got)
	}

	// What is old is moved out of the database: what was archived from there stays as it was, and what was not is read now.
	b.do("DELETE FROM transcript_events WHERE session_id = ?", claudeC)
	s.write(clawHouse+"cold/"+strings.Repeat("c", 64)+".jsonl.zst", clawCold(claudeC, piHead(claudeC, 2, "")+piTurn("c", 200)))
	s.write(clawHouse+"cold/"+strings.Repeat("e", 64)+".jsonl.zst", clawCold(clawE, piHead(clawE, 4, "")+piTurn("e", 400)))
	want.runs, want.conversations, want.events, want.in, want.out, want.cost = 4, 5, want.events+2, want.in+10, want.out+3, want.cost+10000
	w.ingestAndCheck("cold", "openclaw", s.dir, want)
	w.checkNoSecrets()
}
