package ingest_test

import (
	"fmt"
	"strings"
	"testing"
)

// The tables of the editor's database that matter, as its first versions had them, and what later ones added.
const (
	qoderFirst = `CREATE TABLE chat_message (id varchar(64) PRIMARY KEY, session_id VARCHAR(64), request_id VARCHAR(64), role VARCHAR(64), content TEXT,
			tool_result TEXT, token_info TEXT, gmt_create INTEGER);
		CREATE TABLE supabase_token (user_id TEXT, access_token TEXT);
		INSERT INTO supabase_token VALUES ('ada', 'an-access-token')`
	qoderLater = `CREATE TABLE chat_session (session_id varchar(64) PRIMARY KEY, user_id VARCHAR(64) NOT NULL, user_name varchar(64),
			session_title varchar(256) NOT NULL, project_id varchar(64) NOT NULL, project_uri varchar(512), project_name varchar(64), gmt_create INTEGER,
			gmt_modified INTEGER, session_type VARCHAR(64) DEFAULT '')`
	qoderLast = `ALTER TABLE chat_message ADD COLUMN summary TEXT;
		ALTER TABLE chat_message ADD COLUMN model_info TEXT;
		ALTER TABLE chat_session ADD COLUMN mode VARCHAR(64) DEFAULT '';
		ALTER TABLE chat_session ADD COLUMN preferred_model_info TEXT DEFAULT '';
		ALTER TABLE chat_session ADD COLUMN extra TEXT DEFAULT '';
		ALTER TABLE chat_session ADD COLUMN parent_session_id VARCHAR(64) DEFAULT '';
		ALTER TABLE chat_session ADD COLUMN parent_tool_call_id VARCHAR(128) DEFAULT '';
		CREATE TABLE chat_record (request_id varchar(64) PRIMARY KEY, session_id varchar(64) NOT NULL, question TEXT, answer TEXT, extra TEXT DEFAULT '{}')`
)

const qoderSealed = "Qk3vZ0n8r1pXh2Lw9sYtAdF6uKe5Jq=="

// qoderAt is the time of message n, in milliseconds.
func qoderAt(n int) int64 { return 1790000000000 + int64(n)*1000 }

func (b *base) qoderSession(id, title, parent string) {
	b.do(`INSERT INTO chat_session (session_id, user_id, user_name, session_title, project_id, project_uri, gmt_create, gmt_modified, session_type)
		VALUES (?, 'user-of-ada', 'ada', ?, 'p', 'file:///home/ada/shop', ?, ?, 'assistant')`, id, title, qoderAt(0), qoderAt(0))
	if parent != "" {
		b.do("UPDATE chat_session SET parent_session_id = ?, parent_tool_call_id = 'toolu_1', session_type = 'agent_sub_search' WHERE session_id = ?", parent, id)
	}
}

func (b *base) qoderSays(session string, n int, role, tokens, tool string) {
	content := qoderSealed
	if role == "tool" {
		content = ""
	}
	b.do("INSERT INTO chat_message (id, session_id, request_id, role, content, tool_result, token_info, gmt_create) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		fmt.Sprintf("e0d0%04d-0000-4000-8000-000000000000", n), session, fmt.Sprintf("r%d", n/10), role, content, tool, tokens, qoderAt(n))
}

func qoderTokens(prompt, cached, completion int) string {
	return fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"cached_tokens":%d,"max_input_tokens":200000}`, prompt, completion, cached)
}

func qoderTool(status, results string) string {
	return fmt.Sprintf(`{"sessionId":"s","toolCallId":"toolu_1","toolCallName":"Agent","toolCallStatus":%q,"parameters":{"prompt":"count the rods"},`+
		`"results":%s,"errorMsg":""}`, status, results)
}

// TestLifeQoderDatabase has the database of Qoder's editor: its versions add tables and columns, a session answers and starts a sub-agent, gets a
// transcript that states nothing of tokens, and another one that does; and it is copied and deleted.
func TestLifeQoderDatabase(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	const (
		home = ".config/Qoder/SharedClientCache/"
		task = "task-0c0ffee00000000000aa.session.execution"
		sub  = "5e6f7a8b-0000-4000-8000-000000000002"
	)
	b := newBase(s, home+"cache/db/local.db", qoderFirst)
	s.write(home+"cache/machine_token.json", `{"token":"a-machine-token"}`)
	b.qoderSays(task, 1, "user", "", "")
	want := counts{runs: 1, conversations: 1, events: 1}
	w.ingestAndCheck("asked", "claude-code", s.dir, want, 1, 0, 0)
	b.do(qoderLater)
	b.qoderSession(task, "Line the basket", "")
	w.ingestAndCheck("a title", "claude-code", s.dir, want, 0, 0, 1)
	b.do(qoderLast)
	b.qoderSays(task, 2, "assistant", qoderTokens(110, 100, 5), "")
	b.do(`INSERT INTO chat_record (request_id, session_id, extra) VALUES ('r0', ?, '{"modelConfig":{"key":"ultimate","apiKey":"a-key-of-a-model"}}')`, task)
	want.events, want.in, want.out = 2, 10, 5
	w.ingestAndCheck("answered", "claude-code", s.dir, want, 0, 0, 1)
	if got := w.query("SELECT title || ' ' || project || ' ' || model FROM v_runs"); strings.Join(got, ",") != "Line the basket /home/ada/shop ultimate" {
		t.Errorf("runs %q", got)
	}

	// A sub-agent.
	b.qoderSays(task, 3, "tool", "", qoderTool("RUNNING", "null"))
	b.qoderSession(sub, "count the rods", task)
	b.qoderSays(sub, 21, "user", "", "")
	b.qoderSays(sub, 22, "assistant", qoderTokens(50, 0, 2), "")
	want.conversations, want.links, want.events, want.calls, want.in, want.out = 2, 1, 5, 1, 60, 7
	w.ingestAndCheck("a sub-agent", "claude-code", s.dir, want, 1, 0, 1)
	b.do("UPDATE chat_message SET tool_result = ? WHERE role = 'tool'", qoderTool("FINISHED", `[{"text":"41 rods of willow"}]`))
	want.events, want.results = 6, 1
	w.ingestAndCheck("it has ended", "claude-code", s.dir, want, 0, 0, 1)

	// The editor writes a transcript of the session, with which what was said counts, and the tokens of the database still do.
	line := func(n int, kind, message string) string {
		return fmt.Sprintf(`{"type":"%s","sessionId":"%s","uuid":"90d0000%d-0000-4000-8000-000000000000","timestamp":"2026-09-21T14:13:%02dZ",`+
			`"cwd":"/home/ada/shop","message":%s}`+"\n", kind, task, n, n, message)
	}
	transcript := ".qoder/projects/-home-ada-shop/transcript/" + task + ".jsonl"
	text := line(1, "user", `{"role":"user","content":"line the basket"}`) +
		line(2, "assistant", `{"role":"assistant","content":[{"type":"text","text":"lined with felt"}]}`)
	s.write(transcript, text)
	want.events, want.calls, want.results = 4, 0, 0
	w.ingestAndCheck("a transcript", "claude-code", s.dir, want, 1, 0, 0)
	got := w.query("SELECT title || ' ' || project FROM v_conversations WHERE verdict = 'counted' AND NOT child")
	if strings.Join(got, ",") != "Line the basket /home/ada/shop" {
		t.Errorf("conversations %q", got)
	}
	text += line(3, "assistant", `{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"Agent",`+
		`"input":{"prompt":"count the rods","description":"Count","subagent_type":"search"}}]}`) +
		strings.Replace(line(4, "user", `{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"41 rods"}]}`),
			`"cwd"`, `"toolUseResult":{"agentId":"c0ffee1"},"cwd"`, 1)
	s.write(transcript, text)
	// It names a sub-agent by an id of its own, of which there is no transcript yet.
	want.conversations, want.links, want.events, want.calls, want.results = 1, 2, 4, 1, 1
	w.ingestAndCheck("a transcript that names the sub-agent", "claude-code", s.dir, want, 0, 1, 0)

	// Qoder's own tokens, of which no version is known that writes them to such a transcript: then those of the database do not count.
	text += line(5, "assistant", `{"id":"m1","role":"assistant","model":"ultimate","content":[{"type":"text","text":"41"}],`+
		`"usage":{"input_tokens":9,"output_tokens":1,"cache_read_input_tokens":2,"credits":0.5}}`)
	s.write(transcript, text)
	want.events, want.in, want.out = 5, 7, 1
	w.ingestAndCheck("tokens in both", "claude-code", s.dir, want, 0, 1, 0)

	b.do("VACUUM INTO ?", s.dir+"/backup.db")
	w.ingestAndCheck("a copy", "claude-code", s.dir, want)
	b.do("DELETE FROM chat_message")
	b.do("DELETE FROM chat_session")
	w.ingestAndCheck("deleted", "claude-code", s.dir, want, 0, 0, 0)
	for _, other := range []string{"an-access-token", "a-machine-token", "user-of-ada", "a-key-of-a-model"} {
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
	if got := countsOf(late.totals().Formats["claude-code"]); got != want {
		t.Errorf("late: %+v, want %+v", got, want)
	}
}
