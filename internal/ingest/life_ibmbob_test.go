package ingest_test

import (
	"fmt"
	"strings"
	"testing"
)

// The tables of Bob 2.0 and what later versions added.
const (
	bobFirst = `CREATE TABLE tasks (id TEXT PRIMARY KEY, project_id TEXT NOT NULL, parent_id TEXT REFERENCES tasks(id), title TEXT NOT NULL DEFAULT '', status TEXT NOT NULL DEFAULT 'active',
			first_message TEXT, directory TEXT NOT NULL, version TEXT, git_sha TEXT, git_branch TEXT, env TEXT, costs TEXT, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
			time_archived INTEGER, locked_by TEXT, lock_lease_until INTEGER);
		CREATE TABLE messages (id TEXT PRIMARY KEY, task_id TEXT NOT NULL REFERENCES tasks(id) ON DELETE CASCADE, role TEXT NOT NULL, data TEXT NOT NULL, created_at INTEGER NOT NULL);
		CREATE TABLE _migrations (name TEXT PRIMARY KEY, applied_at INTEGER NOT NULL)`
	bobLater = `ALTER TABLE tasks ADD COLUMN approval_config TEXT;
		ALTER TABLE tasks ADD COLUMN message_queue TEXT;
		ALTER TABLE tasks ADD COLUMN task_type TEXT NOT NULL DEFAULT 'normal';
		ALTER TABLE tasks ADD COLUMN last_error TEXT;
		ALTER TABLE tasks ADD COLUMN is_pinned INTEGER NOT NULL DEFAULT 0;
		CREATE TABLE key_value_store (key TEXT PRIMARY KEY, value_json TEXT NOT NULL);
		INSERT INTO key_value_store VALUES ('featureFlags.v1', '{"a-flag":"of the service"}')`
)

// bobAt is the time of message n, in milliseconds.
func bobAt(n int) int64 { return 1790000000000 + int64(n)*1000 }

func bobID(n int) string { return fmt.Sprintf("b0000000-0000-4000-8000-%012d", n) }

func (b *base) bobTask(n, parent int, costs string) {
	b.do("INSERT INTO tasks (id, project_id, parent_id, title, directory, costs, created_at, updated_at) VALUES (?, 'file:/home/ada/baskets', CASE WHEN ? > 0 THEN ? END, ?, '', nullif(?, ''), ?, ?)",
		bobID(n), parent, bobID(parent), fmt.Sprintf("task %d", n), costs, bobAt(0), bobAt(0)+int64(n))
}

// bobMessage is message n, which is also its time. members are what it has besides role, id and time; they end with a comma, or there are none.
func bobMessage(n int, role, members, meta string) string {
	return fmt.Sprintf(`{"role":%q,"id":%q,%s"_meta":{"timestamp":%d%s}}`, role, bobID(n), members, bobAt(n), meta)
}

func bobSpent(in, read, out int) string {
	return fmt.Sprintf(`,"spend":{"input":%d,"output":%d,"cacheRead":%d,"cacheWrite":0,"cost":%g}`, in, out, read, float64(in+out)*2e-6)
}

func (b *base) bobSays(task, n int, role, members, meta string) {
	b.do("INSERT INTO messages (id, task_id, role, data, created_at) VALUES (?, ?, ?, ?, ?)", bobID(n), bobID(task), role, bobMessage(n, role, members, meta), bobAt(n))
	b.do("UPDATE tasks SET updated_at = ? WHERE id = ?", bobAt(n), bobID(task))
}

// TestLifeBob has a database whose program answers, adds columns, starts a sub-agent and ends it, writes the messages of a task anew, takes over a
// task of Bob 1, and deletes a task.
func TestLifeBob(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	b := newBase(s, ".bob/db/bob.db", bobFirst)
	b.bobTask(1, 0, "")
	want := counts{}
	w.ingestAndCheck("begun", "ibm-bob", s.dir, want, 1, 0, 0)
	b.bobSays(1, 10, "system", `"content":"You are Bob",`, "")
	b.bobSays(1, 11, "user", `"content":"mend the basket",`, "")
	b.bobSays(1, 12, "assistant", `"content":"looking",`, bobSpent(110, 100, 5))
	want = counts{runs: 1, conversations: 1, events: 2, in: 10, out: 5}
	w.ingestAndCheck("answered", "ibm-bob", s.dir, want, 1, 0, 1)

	b.do(bobLater)
	b.do("UPDATE tasks SET title = 'Mend the basket', locked_by = 'me', lock_lease_until = 5, approval_config = '{\"approvedCommands\":[\"rm baskets\"]}', env = '{\"modeId\":\"agent\"}'")
	b.bobSays(1, 13, "assistant", `"content":"","toolCalls":[{"id":"call_1","name":"spawn_subagent","arguments":{"prompt":"count"}}],`, bobSpent(120, 100, 6))
	b.bobTask(2, 1, `{"input":40,"output":4,"cacheRead":0,"cacheWrite":0,"cost":0.001}`)
	b.do("UPDATE tasks SET task_type = 'subagent', status = 'running' WHERE id = ?", bobID(2))
	want.links, want.events, want.calls, want.in, want.out = 1, 3, 1, 70, 15
	w.ingestAndCheck("a sub-agent runs", "ibm-bob", s.dir, want, 1, 1, 1)

	inside := strings.Join([]string{
		bobMessage(21, "user", `"content":"count",`, ""),
		bobMessage(22, "assistant", `"content":"","toolCalls":[{"id":"call_2","name":"execute_command","arguments":{"command":"ls"}}],`, bobSpent(40, 0, 4)),
		bobMessage(23, "tool", `"content":"41","toolUsage":{"signature":{"id":"call_2","name":"execute_command","isError":false}},`, ""),
		bobMessage(24, "assistant", `"content":"41 rods",`, bobSpent(50, 0, 3)),
	}, ",")
	b.bobSays(1, 25, "tool", `"content":"41 rods","toolUsage":{"signature":{"id":"call_1","name":"spawn_subagent"}},"messages":[`+inside+`],`, fmt.Sprintf(`,"subagentId":%q`, bobID(2)))
	b.bobSays(1, 26, "assistant", `"content":"41 of them",`, bobSpent(9, 0, 1))
	b.do(`UPDATE tasks SET status = 'completed', updated_at = updated_at + 1, costs = '{"input":90,"output":7,"cacheRead":0,"cacheWrite":0,"cost":0.002}' WHERE id = ?`, bobID(2))
	want.conversations, want.events, want.calls, want.results, want.in, want.out = 2, 9, 2, 2, 129, 19
	w.ingestAndCheck("it has ended", "ibm-bob", s.dir, want, 0, 1, 2)
	if got := w.query("SELECT title || ' ' || project || ' ' || mode FROM v_conversations WHERE verdict = 'counted' AND NOT child"); strings.Join(got, ",") != "Mend the basket /home/ada/baskets agent" {
		t.Errorf("conversations %q", got)
	}

	// The rows of the task are written anew: with other numbers and times, and in another order.
	b.do("CREATE TABLE kept AS SELECT * FROM messages ORDER BY id DESC; DELETE FROM messages")
	b.do("INSERT INTO messages SELECT id, task_id, role, data, created_at + 500000 FROM kept; DROP TABLE kept")
	w.ingestAndCheck("written anew", "ibm-bob", s.dir, want, 0, 0, 0)

	// Of a task of Bob 1 nothing counts: its own files have it.
	old := "legacy-bob-code-" + bobID(3)
	b.do(`INSERT INTO tasks (id, project_id, title, directory, costs, created_at, updated_at) VALUES (?, 'file:/home/ada/baskets', 'old', '', '{"input":7,"output":7,"cost":1}', 1, 1)`, old)
	b.do(`INSERT INTO messages VALUES (?, ?, 'user', '{"content":"an old willow"}', 1)`, bobID(31), old)
	w.ingestAndCheck("taken over", "ibm-bob", s.dir, want, 2, 0, 0)
	if hits := w.query("SELECT count(*) FROM v_events WHERE kind = 'message' AND verdict = 'uncounted'"); hits[0] != "1" {
		t.Errorf("%s uncounted messages", hits[0])
	}

	b.do("VACUUM INTO ?", s.dir+"/backup.db")
	w.ingestAndCheck("a copy", "ibm-bob", s.dir, want)
	b.do("PRAGMA foreign_keys = ON; DELETE FROM tasks WHERE parent_id NOT NULL; DELETE FROM tasks WHERE id = ?", bobID(1))
	w.ingestAndCheck("deleted", "ibm-bob", s.dir, want)
	for _, other := range []string{"rm baskets", "of the service"} {
		for _, path := range w.query("SELECT path FROM v_files") {
			for _, content := range w.versions(path) {
				if strings.Contains(content, other) {
					t.Errorf("%s has %s", path, other)
				}
			}
		}
	}

	late := newWorld(t) // the copy has what the database has no longer
	late.ingest("home", s.dir, ".")
	if got := countsOf(late.totals().Formats["ibm-bob"]); got != want {
		t.Errorf("late: %+v, want %+v", got, want)
	}
}

// TestBobHugeNumbers has numbers that no type holds: they are unknown, and what is beside them is read.
func TestBobHugeNumbers(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	b := newBase(s, ".bob/db/bob.db", bobFirst)
	b.bobTask(1, 0, `{"input":1e400,"output":4,"cost":1e400}`)
	b.bobSays(1, 11, "user", `"content":"mend the basket",`, "")
	b.bobSays(1, 12, "assistant", `"content":"mended",`, `,"durationMs":1e400,"spend":{"input":10,"output":5,"cost":1e400,"contextTokens":1e400}`)
	w.ingestAndCheck("huge", "ibm-bob", s.dir, counts{runs: 1, conversations: 1, events: 2, in: 10, out: 5})
	if got := w.query("SELECT count(*) FROM v_usage WHERE attributes ->> 'bobcoins' IS NOT NULL"); got[0] != "0" {
		t.Errorf("%s rows have bobcoins", got[0])
	}
}
