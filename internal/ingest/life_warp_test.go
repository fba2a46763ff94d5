package ingest_test

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The tables of Warp that matter here, with one of those that hold secrets.
const (
	warpQueries = `CREATE TABLE mcp_server_installations (id TEXT PRIMARY KEY NOT NULL, variable_values TEXT NOT NULL);
		INSERT INTO mcp_server_installations VALUES ('github', '` + cursorToken + `');
		CREATE TABLE commands (id INTEGER PRIMARY KEY NOT NULL, command TEXT NOT NULL);
		INSERT INTO commands (command) VALUES ('export TOKEN=` + cursorToken + `');
		CREATE TABLE ai_queries (id INTEGER PRIMARY KEY NOT NULL, exchange_id TEXT NOT NULL UNIQUE, conversation_id TEXT NOT NULL, start_ts DATETIME NOT NULL, input TEXT NOT NULL,
			working_directory TEXT, output_status TEXT NOT NULL, model_id TEXT NOT NULL DEFAULT '', planning_model_id TEXT NOT NULL DEFAULT '', coding_model_id TEXT NOT NULL DEFAULT '')`
	warpTasks = `CREATE TABLE agent_conversations (id INTEGER PRIMARY KEY NOT NULL, conversation_id TEXT NOT NULL UNIQUE, conversation_data TEXT NOT NULL,
			last_modified_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP);
		CREATE TABLE agent_tasks (id INTEGER PRIMARY KEY NOT NULL, conversation_id TEXT NOT NULL, task_id TEXT NOT NULL UNIQUE, task BLOB NOT NULL,
			last_modified_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, FOREIGN KEY (conversation_id) REFERENCES agent_conversations (conversation_id))`
	warpBase = ".local/state/warp-terminal/warp.sqlite"
	warpA    = "d0000000-0000-4000-8000-00000000000a"
	warpB    = "d0000000-0000-4000-8000-00000000000b"
	warpC    = "d0000000-0000-4000-8000-00000000000c"
)

// warpAsks adds a prompt to the history, or changes its state. Its number is the minute of its time.
func (b *base) warpAsks(conversation string, n int, text, status string) {
	b.do(`INSERT INTO ai_queries (exchange_id, conversation_id, start_ts, input, working_directory, output_status, model_id) VALUES (?, ?, ?, ?, '/home/ada/shop', ?, 'auto')
		ON CONFLICT DO UPDATE SET output_status = excluded.output_status`,
		fmt.Sprintf("%s %d", conversation, n), conversation, fmt.Sprintf("2026-10-01 08:%02d:00.25", n), fmt.Sprintf(`[{"Query":{"text":%q,"context":[]}}]`, text), fmt.Sprintf("%q", status))
}

// warpSays is the message n of a task, of the kind that a field has; the number is also the minute of its time.
func warpSays(n, kind int, content []byte) []byte {
	return message(1, fmt.Sprintf("e0000000-0000-4000-8000-%012d", n), 13, "r1", 14, message(1, 1790841600+60*n, 2, 250000000), kind, content)
}

// warpPrompt, warpAnswer, warpCall and warpResult are messages.
func warpPrompt(n int, text string) []byte {
	return warpSays(n, 2, message(1, text, 2, message(1, message(1, "/home/ada/shop", 2, "/home/ada"), 11, message(1, "main", 2, "main")), 3, message(1, "b", 2, message(1, "willow")), 3, message(1, "a", 2, message(1, "osier"))))
}

func warpAnswer(n int, text string) []byte { return warpSays(n, 3, message(1, text)) }

func warpCall(n int, id, command string) []byte {
	return warpSays(n, 4, message(1, id, 2, message(1, command, 2, 1)))
}

func warpResult(n int, id, output string, exit int) []byte {
	return warpSays(n, 5, message(1, id, 2, message(3, "ls", 5, message(1, output, 2, exit, 3, "k"))))
}

// warpSaves writes a conversation as the program does when an answer has ended: what is stated of it, and all its tasks.
func (b *base) warpSaves(conversation, data string, minute int, tasks ...[]byte) {
	at := fmt.Sprintf("2026-10-01 08:%02d:30", minute)
	b.do(`INSERT INTO agent_conversations (conversation_id, conversation_data, last_modified_at) VALUES (?, ?, ?)
		ON CONFLICT DO UPDATE SET conversation_data = excluded.conversation_data, last_modified_at = excluded.last_modified_at`, conversation, data, at)
	for _, task := range tasks {
		id := string(task[2 : 2+task[1]])
		b.do(`INSERT INTO agent_tasks (conversation_id, task_id, task, last_modified_at) VALUES (?, ?, ?, ?)
			ON CONFLICT (task_id) DO UPDATE SET task = excluded.task, last_modified_at = excluded.last_modified_at`, conversation, id, task, at)
	}
}

// warpTask is a task with messages; parent is "" for that of the conversation.
func warpTask(id, description, parent string, messages ...[]byte) []byte {
	task := message(1, id, 2, description)
	if parent != "" {
		task = append(task, message(3, message(1, parent))...)
	}
	for _, m := range messages {
		task = append(task, message(5, m)...)
	}
	return append(task, message(8, "for the server")...)
}

// warpUsage is what is stated of a conversation that used so many tokens and cents.
func warpUsage(tokens int, cents string, more string) string {
	return fmt.Sprintf(`{"server_conversation_token":"f0000000-0000-4000-8000-00000000000a"%s,"conversation_usage_metadata":{"was_summarized":false,"context_window_usage":0.1,"credits_spent":1.5,
		"total_charged_usage":{"input_cost_in_cents":%s,"output_cost_in_cents":0.0,"input_tokens":%d,"output_tokens":7},"token_usage":[{"model_id":"claude-4-5-sonnet","warp_tokens":%d}]}}`, more, cents, tokens, tokens+7)
}

// TestLifeWarp has a database with prompts alone, whose program begins to keep conversations: one that is asked, answered, has a sub-agent, goes back, is
// forked, and is dropped.
func TestLifeWarp(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	b := newBase(s, warpBase, warpQueries)
	b.warpAsks(warpA, 1, "why does osier snap", "Pending")
	want := counts{runs: 1, conversations: 1, events: 1}
	w.ingestAndCheck("prompts alone", "warp", s.dir, want, 1, 0, 0)
	b.warpAsks(warpA, 1, "why does osier snap", "Completed")
	w.ingestAndCheck("answered", "warp", s.dir, want, 0, 0, 1)

	// The program is updated. A prompt is in the history first, and then in a task, too.
	b.do(warpTasks)
	b.warpAsks(warpB, 2, "mend the basket", "Pending")
	want.runs, want.conversations, want.events = 2, 2, 2
	w.ingestAndCheck("updated", "warp", s.dir, want, 1, 0, 0)
	root := [][]byte{warpPrompt(2, "mend the basket"), warpSays(3, 25, message(1, "claude-4-5-sonnet", 2, "Claude")), warpSays(3, 15, message(1, "Wet it.")), warpAnswer(4, "I look."), warpCall(5, "c1", "ls basket")}
	b.warpSaves(warpB, warpUsage(100, "1.5", ""), 5, warpTask("root", "Mend the basket", "", root...))
	want.events, want.calls, want.in, want.out, want.cost = 1+4, 1, 100, 7, 15000
	w.ingestAndCheck("a call", "warp", s.dir, want, 0, 0, 1)

	// The call ends, and a sub-agent is asked. The history has prompts that the tasks have, and one that they do not.
	root = append(root, warpResult(6, "c1", "no such basket", 2), warpSays(7, 4, message(1, "c2", 19, message(1, "sub", 2, "count the rods", 4, []byte{}))))
	sub := [][]byte{warpPrompt(8, "count the rods"), warpAnswer(9, "forty-one")}
	b.warpAsks(warpB, 2, "mend the basket", "Completed")
	b.warpAsks(warpB, 8, "never mind", "Cancelled")
	b.warpSaves(warpB, warpUsage(300, "4.25", ""), 9, warpTask("root", "Mend the basket", "", root...), warpTask("sub", "Count", "root", sub...))
	want.conversations, want.events, want.calls, want.results, want.links, want.in, want.cost = 3, want.events+2+2+1, 2, 1, 1, 300, 42500
	w.ingestAndCheck("a sub-agent", "warp", s.dir, want, 0, 0, 1)
	for query, want := range map[string]string{
		"SELECT title || '|' || project || '|' || branch || '|' || model || '|' || status FROM v_runs WHERE run_id IN (SELECT run_id FROM v_usage)": "Mend the basket|/home/ada/shop|main|claude-4-5-sonnet|Cancelled",
		"SELECT tool || ' ' || coalesce(status, '') || ' ' || coalesce(failed, '') FROM v_tool_calls WHERE counted ORDER BY 1":                      "run_shell_command command_finished 1,subagent  ",
		"SELECT title || ' ' || agent FROM v_conversations WHERE child":                                                                             "Count research",
		"SELECT model || ' ' || (attributes ->> '$.credits') FROM v_usage WHERE counted":                                                            "claude-4-5-sonnet 1.5",
	} {
		if got := strings.Join(w.query(query), ","); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}

	// Before it goes back the program makes a copy, with what the conversation used. What was said is in the copy; the sub-agent's task is
	// gone from the database.
	b.warpSaves(warpC, warpUsage(300, "4.25", ""), 10, warpTask("copy", "(Pre-Rewind) Mend the basket", "", root...))
	b.do("DELETE FROM agent_tasks WHERE task_id = 'sub'")
	b.warpSaves(warpB, warpUsage(300, "4.25", ""), 10, warpTask("root", "Mend the basket", "", root[:1]...))
	want.runs, want.conversations, want.links = 3, 4, 2
	w.ingestAndCheck("went back", "warp", s.dir, want, 1, 0, 1)

	// The program drops a conversation: it stays in the archive.
	b.do("DELETE FROM agent_tasks WHERE conversation_id = ?", warpC)
	b.do("DELETE FROM agent_conversations WHERE conversation_id = ?", warpC)
	w.ingestAndCheck("dropped", "warp", s.dir, want, 0, 0, 0)
	w.checkNoCredential()
}

// TestLifeWarpTorn: a task that is cut is a problem of its conversation, and hides no other one. A database that SQLite cannot read is not stored, since it
// holds secrets.
func TestLifeWarpTorn(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	b := newBase(s, warpBase, warpQueries+";"+warpTasks)
	whole := warpTask("t1", "Mend", "", warpPrompt(1, "mend the basket"))
	b.warpSaves(warpA, `{}`, 1, whole)
	b.warpSaves(warpB, `{}`, 1, warpTask("t2", "Dye", "", warpPrompt(2, "dye it")))
	b.do("UPDATE agent_tasks SET task = substr(task, 1, length(task) - 20) WHERE task_id = 't2'")
	w.ingest("home", s.dir, ".")
	if got, want := countsOf(w.totals().Formats["warp"]), (counts{runs: 1, conversations: 1, events: 1, problems: 1}); got != want {
		t.Errorf("torn:\n got %+v\nwant %+v", got, want)
	}
	s.write(".local/state/warp-oss/warp.sqlite", "SQLite format 3\x00"+strings.Repeat(cursorToken, 500))
	s.write(".local/state/warp-terminal-preview/warp.sqlite-wal", cursorToken)
	s.write(".local/state/warp-terminal/dev.warp.Warp-User", cursorToken)
	if r := w.ingest("home", s.dir, "."); len(r.Problems) != 1 || r.New != 0 {
		t.Errorf("unreadable: %+v", r)
	}
	w.checkNoCredential()
}

// TestLifeWarpLater has a kind of message, and a tool with its result, of a version of the program that is not known: they are kept for a later release, and
// what the server notes is not.
func TestLifeWarpLater(t *testing.T) {
	t.Parallel()
	s, w := newTree(t), newWorld(t)
	b := newBase(s, warpBase, warpQueries+";"+warpTasks)
	odd := append(warpSays(2, 99, message(1, "woven")), message(7, "for the server")...)
	b.warpSaves(warpA, `{}`, 4, warpTask("t1", "Mend", "", warpPrompt(1, "mend the basket"), odd, warpSays(3, 4, message(1, "c1", 77, message(1, "loom"))), warpSays(4, 5, message(1, "c1", 78, message(1, "cloth")))))
	w.ingest("home", s.dir, ".")
	if got := w.query("SELECT kind FROM v_events ORDER BY line, offset"); !slices.Equal(got, []string{"lifecycle", "message", "unknown", "tool_call", "tool_result"}) {
		t.Errorf("%v", got)
	}
	for path, versions := range w.allVersions() {
		for _, of := range [][]byte{message(99, message(1, "woven")), message(77, message(1, "loom")), message(78, message(1, "cloth"))} {
			if !strings.Contains(versions[0], base64.StdEncoding.EncodeToString(of)) {
				t.Errorf("%s lacks %q:\n%s", path, of, versions[0])
			}
		}
		if strings.Contains(versions[0], "for the server") || strings.Contains(versions[0], base64.StdEncoding.EncodeToString([]byte("for the server"))) {
			t.Errorf("%s has what is for the server:\n%s", path, versions[0])
		}
	}
}
