package ingest_test

import (
	"fmt"
	"strings"
	"testing"
)

// The tables of version 16, and what version 17 added.
const (
	devinTables = `CREATE TABLE refinery_schema_history (version INTEGER PRIMARY KEY, name TEXT);
		CREATE TABLE sessions (id TEXT PRIMARY KEY, working_directory TEXT NOT NULL, backend_type TEXT NOT NULL, model TEXT NOT NULL, agent_mode TEXT NOT NULL,
			created_at INTEGER NOT NULL, last_activity_at INTEGER NOT NULL, title TEXT, main_chain_id INTEGER, hidden INTEGER NOT NULL DEFAULT 0, metadata TEXT);
		CREATE TABLE message_nodes (row_id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, node_id INTEGER NOT NULL, parent_node_id INTEGER,
			chat_message TEXT NOT NULL, created_at INTEGER NOT NULL, metadata TEXT, UNIQUE(session_id, node_id))`
	devinLater = `CREATE TABLE subagent_heads (session_id TEXT NOT NULL, agent_id TEXT NOT NULL, chain_node_id INTEGER NOT NULL, updated_at INTEGER NOT NULL,
			PRIMARY KEY (session_id, agent_id))`
	devinStart = 1788279318
)

// devinSays adds a node with the number n, which is also its time, to the main chain. A parent below 0 is none.
func (b *base) devinSays(session string, n, parent int, message string) {
	var above any
	if parent >= 0 {
		above = parent
	}
	b.do("INSERT INTO message_nodes (session_id, node_id, parent_node_id, chat_message, created_at) VALUES (?, ?, ?, ?, ?)", session, n, above, message, devinStart+n)
	b.do("UPDATE sessions SET last_activity_at = ?, main_chain_id = ? WHERE id = ?", devinStart+n, n, session)
}

// devinMessage is a message with the number i.
func devinMessage(i int, role, content, more string) string {
	return fmt.Sprintf(`{"message_id":"d0000000-0000-4000-8000-%012d","role":%q,"content":%q%s}`, i, role, content, more)
}

const devinMetrics = `,"metadata":{"generation_model":"swe-2","metrics":{"input_tokens":3,"output_tokens":10,"cache_read_tokens":70,"cache_creation_tokens":null}}`

// TestLifeDevin has a database whose program answers, runs a sub-agent that only its result names, copies what it goes on from, changes its tables,
// starts a sub-agent in the background, and deletes a session.
func TestLifeDevin(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	b := newBase(s, ".local/share/devin/cli/sessions.db", devinTables)
	b.do("INSERT INTO sessions (id, working_directory, backend_type, model, agent_mode, created_at, last_activity_at) VALUES ('woven-basket', '/home/ada/shop', 'windsurf', 'adaptive', 'bypass', ?, ?)", devinStart, devinStart)
	w.ingestAndCheck("started", "devin", s.dir, counts{})

	const session = "woven-basket"
	mend := devinMessage(1, "user", "mend the basket", `,"metadata":{"is_user_input":true}`)
	run := devinMessage(2, "assistant", "", `,"tool_calls":[{"id":"c1","name":"run_subagent","arguments":{"task":"taste"}}]`+devinMetrics)
	b.devinSays(session, 0, -1, mend)
	b.devinSays(session, 1, 0, run)
	b.do("UPDATE sessions SET title = 'Baskets' WHERE id = ?", session)
	w.ingestAndCheck("asked", "devin", s.dir, counts{runs: 1, conversations: 1, events: 2, calls: 1, in: 3, out: 10})
	if got := strings.Join(w.query("SELECT title || ' ' || project || ' ' || model FROM v_conversations WHERE verdict = 'counted'"), ","); got != "Baskets /home/ada/shop swe-2" {
		t.Errorf("asked: %q", got)
	}

	b.devinSays(session, 2, -1, devinMessage(20, "user", "taste", ""))
	b.devinSays(session, 3, 2, devinMessage(21, "assistant", "bitter", devinMetrics))
	w.ingestAndCheck("tastes", "devin", s.dir, counts{runs: 1, conversations: 1, events: 4, calls: 1, in: 6, out: 20}) // nothing tells whose words these are
	b.devinSays(session, 4, 1, devinMessage(3, "tool", "bitter", `,"tool_call_id":"c1","metadata":{"extensions":{"subagent/agent_id":"d8","subagent/chain_node_id":3,"subagent/profile_name":"Explore"}}`))
	tasted := counts{runs: 1, conversations: 2, links: 1, events: 5, calls: 1, results: 1, in: 6, out: 20}
	w.ingestAndCheck("tasted", "devin", s.dir, tasted)
	if got := strings.Join(w.query("SELECT agent || ' ' || model FROM v_conversations WHERE verdict = 'counted' AND agent <> ''"), ","); got != "Explore swe-2" {
		t.Errorf("tasted: %q", got)
	}
	newWorld(t).ingestAndCheck("fresh", "devin", s.dir, tasted)

	// The prompt of the system changes: the chain is copied.
	b.devinSays(session, 5, -1, mend)
	b.devinSays(session, 6, 5, run)
	b.devinSays(session, 7, 6, devinMessage(4, "assistant", "mended", devinMetrics))
	tasted.events, tasted.in, tasted.out = tasted.events+1, tasted.in+3, tasted.out+10
	w.ingestAndCheck("copied", "devin", s.dir, tasted)

	b.do(devinLater)
	w.ingestAndCheck("other tables", "devin", s.dir, tasted)
	b.devinSays(session, 8, -1, devinMessage(30, "user", "count the lids", ""))
	b.do("INSERT INTO subagent_heads VALUES (?, 'e9', 8, 0)", session)
	b.devinSays(session, 9, 7, devinMessage(5, "user", "and dye it", `,"metadata":{"is_user_input":true}`))
	tasted.conversations, tasted.links, tasted.events = 3, 2, tasted.events+2
	w.ingestAndCheck("in the background", "devin", s.dir, tasted)
	newWorld(t).ingestAndCheck("fresh", "devin", s.dir, tasted)

	// On another machine, another session has the same two words for an id. Its database is beside a copy of this one.
	b.do("VACUUM INTO ?", s.dir+"/copy.db")
	other := newBase(s, "other/devin/cli/sessions.db", devinTables)
	other.do("INSERT INTO sessions (id, working_directory, backend_type, model, agent_mode, created_at, last_activity_at) VALUES (?, '/home/ben/inn', 'windsurf', '', 'bypass', ?, 0)", session, devinStart+5000)
	other.devinSays(session, 0, -1, devinMessage(90, "user", "sweep the inn", `,"metadata":{"is_user_input":true}`))
	tasted.runs, tasted.conversations, tasted.events = 2, 4, tasted.events+1
	w.ingestAndCheck("another", "devin", s.dir, tasted)
	newWorld(t).ingestAndCheck("fresh", "devin", s.dir, tasted)
	b.do("UPDATE sessions SET hidden = 1 WHERE id = ?", session)
	w.ingestAndCheck("hidden", "devin", s.dir, tasted)
	b.do("DELETE FROM message_nodes; DELETE FROM sessions")
	w.ingestAndCheck("deleted", "devin", s.dir, tasted)
}
