package ingest_test

import (
	"fmt"
	"strings"
	"testing"
)

// The tables of the SDK's SQLiteSession, and what AdvancedSQLiteSession adds; and a table of the user's program.
const (
	openaiAgentsFirst = `CREATE TABLE agent_sessions (
                session_id TEXT PRIMARY KEY, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP);
		CREATE TABLE agent_messages (
                id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, message_data TEXT NOT NULL, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
                FOREIGN KEY (session_id) REFERENCES agent_sessions (session_id) ON DELETE CASCADE);
		CREATE INDEX idx_agent_messages_session_id ON agent_messages (session_id, id);
		CREATE TABLE customers (name TEXT, password TEXT);
		INSERT INTO customers VALUES ('ada', 'a-password-of-ada');
		PRAGMA wal_checkpoint`
	openaiAgentsAdvanced = `CREATE TABLE message_structure (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, message_id INTEGER NOT NULL,
			branch_id TEXT NOT NULL DEFAULT 'main', message_type TEXT NOT NULL, sequence_number INTEGER NOT NULL, user_turn_number INTEGER, branch_turn_number INTEGER, tool_name TEXT,
			created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP);
		CREATE TABLE turn_usage (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, branch_id TEXT NOT NULL DEFAULT 'main', user_turn_number INTEGER NOT NULL,
			requests INTEGER DEFAULT 0, input_tokens INTEGER DEFAULT 0, output_tokens INTEGER DEFAULT 0, total_tokens INTEGER DEFAULT 0, input_tokens_details JSON, output_tokens_details JSON,
			created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, UNIQUE(session_id, branch_id, user_turn_number))`
)

func agentsTime(n int) string { return fmt.Sprintf("2026-06-15 10:%02d:%02d", n/60, n%60) }

// agentsSay adds an item at second n.
func (b *base) agentsSay(session string, n int, item string) {
	b.do("INSERT OR IGNORE INTO agent_sessions VALUES (?1, ?2, ?2)", session, agentsTime(n))
	b.do("INSERT INTO agent_messages (session_id, message_data, created_at) VALUES (?, ?, ?)", session, item, agentsTime(n))
}

func agentsUser(text string) string { return fmt.Sprintf(`{"content": %q, "role": "user"}`, text) }

func agentsAnswer(text string) string {
	return fmt.Sprintf(`{"id": "msg_1", "content": [{"annotations": [], "text": %q, "type": "output_text", "logprobs": []}], "role": "assistant", "status": "completed", "type": "message"}`, text)
}

// agentsPlace puts the last item into a branch.
func (b *base) agentsPlace(branch, typ string, turn int) {
	b.do(`INSERT INTO message_structure (session_id, message_id, branch_id, message_type, sequence_number, user_turn_number, branch_turn_number, created_at)
		SELECT session_id, id, ?1, ?2, (SELECT count(*) + 1 FROM message_structure), ?3, ?3, created_at FROM agent_messages ORDER BY id DESC LIMIT 1`, branch, typ, turn)
}

// agentsBranch refers to the messages of a session before a turn.
func (b *base) agentsBranch(session, from, to string, turn int) {
	b.do(`INSERT INTO message_structure (session_id, message_id, branch_id, message_type, sequence_number, user_turn_number, branch_turn_number)
		SELECT session_id, message_id, ?3, message_type, 100 + sequence_number, user_turn_number, branch_turn_number FROM message_structure
		WHERE session_id = ?1 AND branch_id = ?2 AND branch_turn_number < ?4 ORDER BY sequence_number`, session, from, to, turn)
}

func (b *base) agentsUsed(session, branch string, turn, requests, in, out, cached int) {
	b.do(`INSERT OR REPLACE INTO turn_usage (session_id, branch_id, user_turn_number, requests, input_tokens, output_tokens, total_tokens, input_tokens_details, output_tokens_details)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, '{"reasoning_tokens": 0}')`, session, branch, turn, requests, in, out, in+out, fmt.Sprintf(`{"cached_tokens": %d}`, cached))
}

// TestLifeOpenaiAgents has a program whose sessions go on, take items back, are cleared and made shorter.
func TestLifeOpenaiAgents(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	b := newBase(s, "app/conversations.db", openaiAgentsFirst)
	b.agentsSay("customer", 1, agentsUser("mend the basket"))
	want := counts{runs: 1, conversations: 1, events: 1}
	w.ingestAndCheck("begun", "openai-agents", s.dir, want, 1, 0, 0)
	b.agentsSay("customer", 2, `{"arguments": "{}", "call_id": "call_1", "name": "mend", "type": "function_call"}`)
	b.agentsSay("customer", 2, `{"call_id": "call_1", "output": "mended", "type": "function_call_output"}`)
	b.agentsSay("customer", 2, agentsAnswer("done"))
	want.events, want.calls, want.results = 4, 1, 1
	w.ingestAndCheck("answered", "openai-agents", s.dir, want, 0, 1, 0)

	b.do("DELETE FROM agent_messages WHERE id = (SELECT max(id) FROM agent_messages)") // pop_item
	b.agentsSay("customer", 3, agentsAnswer("it is mended"))
	want.events = 5
	w.ingestAndCheck("taken back", "openai-agents", s.dir, want, 0, 0, 1)

	b.do("VACUUM INTO ?", s.dir+"/backup.db") // and that goes on by itself
	w.ingestAndCheck("a copy", "openai-agents", s.dir, want)
	b.agentsSay("customer", 4, agentsUser("thanks"))
	other := baseAt(t, s.dir+"/backup.db")
	other.agentsSay("customer", 5, agentsUser("and the lid"))
	other.agentsSay("customer", 5, agentsAnswer("as well"))
	want.events = 8
	w.ingestAndCheck("both go on", "openai-agents", s.dir, want, 0, 2, 0)

	// The history is made shorter: all is deleted, and what remains is written anew.
	b.do("DELETE FROM agent_messages; DELETE FROM agent_sessions")
	w.ingestAndCheck("cleared", "openai-agents", s.dir, want, 0, 0, 0)
	b.agentsSay("customer", 6, agentsUser("mend the basket"))
	b.agentsSay("customer", 6, `{"id": "cmp_1", "type": "compaction", "encrypted_content": "Z2liYmVyaXNo"}`)
	b.agentsSay("customer", 7, agentsUser("and the chair"))
	want.runs, want.conversations, want.events = 2, 2, 9
	w.ingestAndCheck("made shorter", "openai-agents", s.dir, want, 1, 0, 0)
	for _, path := range w.query("SELECT path FROM v_files") {
		for _, content := range w.versions(path) {
			if strings.Contains(content, "a-password-of-ada") {
				t.Errorf("%s has a password", path)
			}
		}
	}
}

// TestLifeOpenaiAgentsBranches has a session with branches and usage, of which one is deleted.
func TestLifeOpenaiAgentsBranches(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	b := newBase(s, "app/analytics.db", openaiAgentsAdvanced+";"+openaiAgentsFirst)
	for turn := 1; turn <= 2; turn++ {
		b.agentsSay("chat", 2*turn, agentsUser(fmt.Sprint("question ", turn)))
		b.agentsPlace("main", "user", turn)
		b.agentsSay("chat", 2*turn+1, agentsAnswer(fmt.Sprint("answer ", turn)))
		b.agentsPlace("main", "assistant", turn)
	}
	b.agentsUsed("chat", "main", 1, 1, 100, 10, 40)
	want := counts{runs: 1, conversations: 1, events: 4, in: 60, out: 10}
	w.ingestAndCheck("begun", "openai-agents", s.dir, want, 2, 0, 0)
	b.agentsUsed("chat", "main", 2, 1, 200, 20, 0)
	want.in, want.out = 260, 30
	w.ingestAndCheck("used", "openai-agents", s.dir, want, 0, 0, 1)
	b.agentsUsed("chat", "main", 2, 2, 500, 50, 0) // the turn went on: the row is replaced by the sum
	want.in, want.out = 560, 60
	w.ingestAndCheck("used more", "openai-agents", s.dir, want, 0, 0, 1)

	b.agentsBranch("chat", "main", "other", 2)
	b.agentsSay("chat", 8, agentsUser("another question"))
	b.agentsPlace("other", "user", 2)
	b.agentsUsed("chat", "other", 2, 1, 30, 3, 0)
	want.conversations, want.events, want.in, want.out = 2, 5, 590, 63
	w.ingestAndCheck("branched", "openai-agents", s.dir, want, 0, 1, 1)
	b.agentsBranch("chat", "other", "third", 3)
	want.conversations = 3
	w.ingestAndCheck("branched again", "openai-agents", s.dir, want, 0, 1, 0)
	b.do("DELETE FROM message_structure WHERE branch_id = 'other'; DELETE FROM turn_usage WHERE branch_id = 'other'")
	w.ingestAndCheck("deleted", "openai-agents", s.dir, want, 0, 0, 2)

	late := newWorld(t) // the question of the branch that was deleted is in the third one, too
	late.ingest("home", s.dir, ".")
	if got := countsOf(late.totals().Formats["openai-agents"]); got.events != 5 || got.in != 560 || got.conversations != 2 {
		t.Errorf("late: %+v", got)
	}
}
