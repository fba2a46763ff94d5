package ingest_test

import (
	"fmt"
	"strings"
	"testing"
)

// The tables of Shelley's first migrations, and what later ones added.
const (
	shelleyFirst = `CREATE TABLE conversations (conversation_id TEXT PRIMARY KEY, slug TEXT, user_initiated BOOLEAN NOT NULL DEFAULT TRUE,
			created_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP, updated_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP);
		CREATE TABLE messages (message_id TEXT PRIMARY KEY, conversation_id TEXT NOT NULL, sequence_id INTEGER NOT NULL, type TEXT NOT NULL, llm_data TEXT, user_data TEXT, usage_data TEXT,
			created_at DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP, FOREIGN KEY (conversation_id) REFERENCES conversations(conversation_id) ON DELETE CASCADE);
		CREATE TABLE migrations (migration_number INTEGER PRIMARY KEY, migration_name TEXT NOT NULL)`
	shelleyLater = `ALTER TABLE conversations ADD COLUMN cwd TEXT;
		ALTER TABLE conversations ADD COLUMN archived BOOLEAN NOT NULL DEFAULT FALSE;
		ALTER TABLE conversations ADD COLUMN parent_conversation_id TEXT;
		ALTER TABLE conversations ADD COLUMN model TEXT;
		ALTER TABLE conversations ADD COLUMN conversation_options TEXT NOT NULL DEFAULT '{}';
		ALTER TABLE messages ADD COLUMN display_data TEXT;
		ALTER TABLE messages ADD COLUMN excluded_from_context BOOLEAN NOT NULL DEFAULT FALSE;
		ALTER TABLE messages ADD COLUMN generation INTEGER NOT NULL DEFAULT 1;
		CREATE TABLE models (model_id TEXT PRIMARY KEY, api_key TEXT NOT NULL);
		INSERT INTO models VALUES ('custom', 'a-key-of-ada')`
	shelleyForks = `ALTER TABLE messages ADD COLUMN forked_from_message_id TEXT;
		ALTER TABLE messages ADD COLUMN other_usage_data TEXT`
)

func shelleyID(n int) string { return fmt.Sprintf("e0000000-0000-4000-8000-%012d", n) }

// shelleySays adds message n, which is also its time; usage may be "".
func (b *base) shelleySays(conversation string, n int, typ, content, usage string) {
	role := map[string]int{"agent": 1}[typ]
	b.do("INSERT INTO messages (message_id, conversation_id, sequence_id, type, llm_data, usage_data, created_at) VALUES (?, ?, ?, ?, ?, nullif(?, ''), ?)", shelleyID(n), conversation, n, typ,
		fmt.Sprintf(`{"Role":%d,"Content":[%s]}`, role, content), usage, fmt.Sprintf("2026-06-15 10:00:%02d", n))
}

func shelleyText(text string) string { return fmt.Sprintf(`{"Type":2,"Text":%q}`, text) }

// shelleyUsed is a usage at second n; without a time if n is 0.
func shelleyUsed(n, in, read, written, out int, cost string) string {
	times := ""
	if n > 0 {
		times = fmt.Sprintf(`,"start_time":"2026-06-15T10:00:%02d.000000001Z","end_time":"2026-06-15T10:00:%02d.5Z"`, n, n)
	}
	return fmt.Sprintf(`{"input_tokens":%d,"cache_read_input_tokens":%d,"cache_creation_input_tokens":%d,"output_tokens":%d,"cost_usd":%s,"model":"claude-sonnet-4-6"%s}`,
		in, read, written, out, cost, times)
}

// shelleyFork copies the messages of a conversation up to one to another, under other ids.
func (b *base) shelleyFork(from, to string, last int) {
	b.do("INSERT INTO conversations (conversation_id, cwd, created_at, updated_at) SELECT ?, cwd, created_at, updated_at FROM conversations WHERE conversation_id = ?", to, from)
	b.do(`INSERT INTO messages (message_id, conversation_id, sequence_id, type, llm_data, user_data, usage_data, other_usage_data, forked_from_message_id, created_at)
		SELECT ?1 || message_id, ?1, sequence_id, type, llm_data, user_data, usage_data, other_usage_data, message_id, created_at FROM messages WHERE conversation_id = ?2 AND sequence_id <= ?3`, to, from, last)
}

// TestLifeShelley has a database whose program answers, adds columns, starts a sub-agent, forks a conversation and that again, and deletes the
// first.
func TestLifeShelley(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	b := newBase(s, ".config/shelley/shelley.db", shelleyFirst)
	b.do("INSERT INTO conversations (conversation_id, created_at, updated_at) VALUES ('cAAAAAA', '2026-06-15 10:00:00', '2026-06-15 10:00:00')")
	want := counts{}
	w.ingestAndCheck("begun", "shelley", s.dir, want, 1, 0, 0)
	b.shelleySays("cAAAAAA", 1, "user", shelleyText("mend the basket"), "")
	b.shelleySays("cAAAAAA", 2, "agent", shelleyText("looking"), shelleyUsed(2, 10, 100, 20, 5, "0.25"))
	want = counts{runs: 1, conversations: 1, events: 2, in: 10, out: 5, cost: 250000}
	w.ingestAndCheck("answered", "shelley", s.dir, want, 1, 0, 0)

	b.do(shelleyLater)
	b.do("UPDATE conversations SET slug = 'mend-the-basket', cwd = '/home/ada/baskets', model = 'claude', updated_at = '2026-06-15 10:00:03', conversation_options = '{\"thinking_level\":\"high\",\"end_of_turn_hooks\":[{\"url\":\"https://hook.example/secret\"}]}'")
	b.do("INSERT INTO conversations (conversation_id, slug, user_initiated, parent_conversation_id, cwd) VALUES ('cBBBBBB', 'count', FALSE, 'cAAAAAA', '/home/ada/baskets')")
	b.shelleySays("cAAAAAA", 3, "agent", `{"Type":5,"ID":"toolu_1","ToolName":"subagent","ToolInput":{"slug":"count","prompt":"count"}}`, shelleyUsed(3, 20, 0, 0, 6, "0"))
	b.shelleySays("cBBBBBB", 4, "user", shelleyText("count"), "")
	b.shelleySays("cBBBBBB", 5, "agent", shelleyText("41"), shelleyUsed(0, 7, 0, 0, 3, "0.1"))
	b.shelleySays("cAAAAAA", 6, "tool", `{"Type":6,"ToolUseID":"toolu_1","ToolResult":[{"Type":2,"Text":"41"}],"Display":{"slug":"count","conversation_id":"cBBBBBB"}}`, "")
	want.conversations, want.links, want.events, want.calls, want.results, want.in, want.out, want.cost = 2, 1, 6, 1, 1, 37, 14, 350000
	w.ingestAndCheck("a sub-agent", "shelley", s.dir, want, 2, 0, 2)
	if got := w.query("SELECT title || ' ' || project FROM v_conversations WHERE verdict = 'counted' AND NOT child"); strings.Join(got, ",") != "mend-the-basket /home/ada/baskets" {
		t.Errorf("conversations %q", got)
	}

	b.do(shelleyForks)
	b.shelleyFork("cAAAAAA", "cCCCCCC", 2)
	b.shelleyFork("cBBBBBB", "cDDDDDD", 5) // a request without times
	want.runs, want.conversations, want.links = 3, 4, 3
	w.ingestAndCheck("forked", "shelley", s.dir, want)
	b.shelleySays("cCCCCCC", 7, "user", shelleyText("differently"), "")
	b.do("UPDATE messages SET other_usage_data = ? WHERE message_id = ?", "["+strings.Replace(shelleyUsed(7, 90, 0, 0, 4, "0.01"), "{", `{"purpose":"slug",`, 1)+"]", shelleyID(7))
	want.events, want.in, want.out, want.cost = 7, 127, 18, 360000
	w.ingestAndCheck("the fork goes on", "shelley", s.dir, want)
	b.shelleyFork("cCCCCCC", "cEEEEEE", 7)
	b.shelleySays("cEEEEEE", 8, "agent", shelleyText("as you wish"), shelleyUsed(8, 3, 0, 0, 2, "0"))
	want.runs, want.conversations, want.links, want.events, want.in, want.out = 4, 5, 4, 8, 130, 20
	w.ingestAndCheck("a fork of the fork", "shelley", s.dir, want)

	// A copy of the database goes on.
	b.do("VACUUM INTO ?", s.dir+"/backup.db")
	w.ingestAndCheck("a copy", "shelley", s.dir, want)
	b.do("PRAGMA foreign_keys = ON; DELETE FROM conversations WHERE conversation_id = 'cAAAAAA'")
	w.ingestAndCheck("deleted", "shelley", s.dir, want)
	for _, secret := range []string{"a-key-of-ada", "hook.example"} {
		for _, path := range w.query("SELECT path FROM v_files") {
			for _, content := range w.versions(path) {
				if strings.Contains(content, secret) {
					t.Errorf("%s has %s", path, secret)
				}
			}
		}
	}

	late := newWorld(t) // of the first conversation there are only the copies
	s.remove("backup.db")
	late.ingest("home", s.dir, ".")
	if got := countsOf(late.totals().Formats["shelley"]); got.events != 6 || got.in != 110 || got.cost != 360000 || got.runs != 3 {
		t.Errorf("late: %+v", got)
	}
}
