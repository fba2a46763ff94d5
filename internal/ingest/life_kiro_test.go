package ingest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest"
)

// The tables of Amazon Q Developer CLI, and what Kiro CLI added to them.
const (
	qTables = `CREATE TABLE migrations (id INTEGER PRIMARY KEY, version INTEGER NOT NULL, migration_time INTEGER NOT NULL);
		CREATE TABLE history (id INTEGER PRIMARY KEY, command TEXT, shell TEXT, pid INTEGER, session_id TEXT, cwd TEXT);
		CREATE TABLE state (key TEXT PRIMARY KEY, value BLOB);
		CREATE TABLE auth_kv (key TEXT PRIMARY KEY, value TEXT);
		CREATE TABLE conversations (key TEXT PRIMARY KEY, value TEXT)`
	kiroTables = `CREATE TABLE conversations_v2 (key TEXT NOT NULL, conversation_id TEXT NOT NULL, value TEXT NOT NULL, created_at INTEGER NOT NULL,
			updated_at INTEGER NOT NULL, PRIMARY KEY (key, conversation_id));
		CREATE INDEX idx_conversations_v2_updated_at ON conversations_v2(updated_at DESC);
		INSERT INTO conversations_v2 SELECT key, json_extract(value, '$.conversation_id'), value, 1790000000000, 1790000000000 FROM conversations`
	kiroBase  = ".local/share/kiro-cli/data.sqlite3"
	kiroLogs  = ".kiro/sessions/cli/"
	kiroStart = 1790000000
)

func kiroID(n int) string { return fmt.Sprintf("1b000000-0000-4000-8000-%012d", n) }

// kiroEntry is a prompt with its answer, at the time n. It calls a tool or, if result is not 0, has the result of the call at that time.
func kiroEntry(n, result int) string {
	user, answer := fmt.Sprintf(`{"Prompt":{"prompt":"mend basket %d"}}`, n), fmt.Sprintf(`"ToolUse":{"message_id":"%s","content":"looking %d","tool_uses":[{"id":"tooluse_0123456789abcdef%04d","name":"fs_read","orig_name":"fs_read","args":{"path":"b"},"orig_args":{"path":"b"}}]}`, kiroID(n), n, n)
	at := fmt.Sprintf(`"2026-09-21T14:%02d:%02d.5Z"`, (13*60+20+n)/60%60, (20+n)%60)
	if result > 0 {
		user, at = fmt.Sprintf(`{"ToolUseResults":{"tool_use_results":[{"tool_use_id":"tooluse_0123456789abcdef%04d","content":[{"Text":"wicker"}],"status":"Success"}]}}`, result), "null"
		answer = fmt.Sprintf(`"Response":{"message_id":"%s","content":"mended %d"}`, kiroID(n), n)
	}
	return fmt.Sprintf(`{"user":{"additional_context":"","env_context":{"env_state":null},"content":%s,"timestamp":%s,"images":null},"assistant":{%s},"request_metadata":{"message_id":"%s","request_start_timestamp_ms":%d,"stream_end_timestamp_ms":%d,"model_id":"claude-sonnet-4.5"}}`,
		user, at, answer, kiroID(n), (kiroStart+n)*1000, (kiroStart+n)*1000+900)
}

// kiroTurn is a prompt with a call, its result and the answer: five events.
func kiroTurn(n int) string { return kiroEntry(n, 0) + "," + kiroEntry(n+1, n) }

func kiroState(id, summary string, turns ...string) string {
	shown := make([]string, len(turns))
	for i := range turns {
		shown[i] = fmt.Sprintf(`"> shown %d"`, i)
	}
	return fmt.Sprintf(`{"conversation_id":%q,"next_message":null,"history":[%s],"valid_history_range":[0,1],"transcript":[%s],"tools":{},"latest_summary":%s,"model_info":{"model_id":"claude-sonnet-4.5"}}`,
		id, strings.Join(turns, ","), strings.Join(shown, ","), summary)
}

// kiroSays writes a conversation as the program does after every answer, at the time n.
func (b *base) kiroSays(dir, id, value string, n int) {
	b.do("INSERT INTO conversations_v2 VALUES (?1, ?2, ?3, ?4, ?4) ON CONFLICT DO UPDATE SET value = ?3, updated_at = ?4", dir, id, value, (kiroStart+n)*1000)
}

// checkNoCredential fails if a stored version has a credential, or is the database itself.
func (w *world) checkNoCredential() {
	w.t.Helper()
	for path, all := range w.allVersions() {
		for _, content := range all {
			if strings.Contains(content, cursorToken) || strings.Contains(content, "SQLite format 3") {
				w.t.Errorf("%s has a credential in it", path)
			}
		}
	}
}

// countKiro ingests a directory once, and expects totals.
func (w *world) countKiro(what, dir string, want counts) {
	w.t.Helper()
	w.ingest("home", dir, ".")
	if got := countsOf(w.totals().Formats["kiro"]); got != want {
		w.t.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}

// TestLifeKiro has the database of a command line that overwrites the conversation of a directory, gets a table for several, follows its user to another
// directory, compacts a conversation, and takes a tangent back.
func TestLifeKiro(t *testing.T) {
	t.Parallel()
	s, w := newTree(t), newWorld(t)
	b := newBase(s, kiroBase, qTables)
	b.do("INSERT INTO auth_kv VALUES ('codewhisperer:odic:token', ?1); INSERT INTO history (command) VALUES (?1)", cursorToken)
	b.do("INSERT INTO conversations VALUES ('/home/ada/shop', ?), ('/home/ada/inn', '{')", kiroState(kiroID(901), "null", kiroTurn(1)))
	want := counts{runs: 1, conversations: 1, events: 5, calls: 1, results: 1, problems: 1}
	w.countKiro("early", s.dir, want)
	b.do("DELETE FROM conversations WHERE value = '{'")
	b.do("UPDATE conversations SET value = ?", kiroState(kiroID(902), "null", kiroTurn(5)))
	want.runs, want.conversations, want.events, want.calls, want.results = 2, 2, 10, 2, 2
	w.countKiro("overwritten", s.dir, want)

	b.do(kiroTables)
	b.kiroSays("/home/ada/shop", kiroID(903), kiroState(kiroID(903), "null", kiroTurn(11), kiroTurn(13)), 14)
	b.kiroSays("/home/ada/inn", kiroID(903), kiroState(kiroID(903), "null", kiroTurn(11), kiroTurn(13), kiroTurn(15)), 16)
	want.runs, want.conversations, want.events, want.calls, want.results = 3, 3, 25, 5, 5
	w.countKiro("in two directories", s.dir, want)
	b.do("DELETE FROM conversations_v2 WHERE key = '/home/ada/inn' AND conversation_id = ?", kiroID(903))

	// A compaction replaces what was said by a summary; a tangent is said and taken back.
	const summary = `["All baskets are mended.",{"stream_end_timestamp_ms":1790000017000}]`
	b.kiroSays("/home/ada/shop", kiroID(903), kiroState(kiroID(903), summary, kiroTurn(17), kiroTurn(19)), 20)
	want.events, want.calls, want.results = 36, 7, 7
	w.countKiro("compacted", s.dir, want)
	b.kiroSays("/home/ada/shop", kiroID(903), kiroState(kiroID(903), summary, kiroTurn(17)), 21)
	w.countKiro("taken back", s.dir, want)
	// What was dropped stands before what is left.
	order := w.query("SELECT strftime('%S', e.time) FROM v_events e JOIN v_runs r USING (run_id) WHERE e.counted AND kind IN ('message', 'compaction') AND r.native_id = ? ORDER BY seq", kiroID(903))
	if got := strings.Join(order, " "); got != "31 31 32 33 33 34 35 35 36 39 39 40 37 37 37 38" {
		t.Errorf("messages at %s", got)
	}
	w.checkNoCredential()
	w.checkReindex("taken back")
}

// kiroLine is a line of a session's log.
func kiroLine(kind, id, meta string, blocks ...string) string {
	return fmt.Sprintf(`{"version":"v1","kind":%q,"data":{"message_id":%q,"content":[%s]%s}}`+"\n", kind, id, strings.Join(blocks, ","), meta)
}

// kiroLogged is a turn as it stands in a log: it was copied from the database, so that prompts and results have other ids, or has n as its own.
func kiroLogged(n, own int) string {
	text := func(s string, n int) string { return fmt.Sprintf(`{"kind":"text","data":"%s %d"}`, s, n) }
	call := fmt.Sprintf("tooluse_0123456789abcdef%04d", n)
	return kiroLine("Prompt", kiroID(own), fmt.Sprintf(`,"meta":{"timestamp":%d}`, kiroStart+n), text("mend basket", n)) +
		kiroLine("AssistantMessage", kiroID(n), "", text("looking", n), fmt.Sprintf(`{"kind":"toolUse","data":{"toolUseId":%q,"name":"fs_read","input":{"path":"b"}}}`, call)) +
		kiroLine("ToolResults", kiroID(own+1), `,"results":{}`, fmt.Sprintf(`{"kind":"toolResult","data":{"toolUseId":%q,"content":[{"kind":"text","data":"wicker"}],"status":"success"}}`, call)) +
		kiroLine("AssistantMessage", kiroID(n+1), "", text("mended", n+1))
}

// TestLifeKiroSessions has a conversation that is saved to a file, and copied from the database into a session file, where it goes on.
func TestLifeKiroSessions(t *testing.T) {
	t.Parallel()
	s, w := newTree(t), newWorld(t)
	id := kiroID(904)
	b := newBase(s, kiroBase, qTables)
	b.do("INSERT INTO conversations VALUES ('/home/ada/shop', ?)", kiroState(id, "null", kiroTurn(1)))
	b.do(kiroTables)
	s.write("Documents/basket", kiroState(id, "null", kiroTurn(1)))
	want := counts{runs: 1, conversations: 1, events: 5, calls: 1, results: 1}
	w.countKiro("saved", s.dir, want)
	s.write(kiroLogs+id+".jsonl", kiroLogged(1, 501))
	s.write(kiroLogs+id+".json", fmt.Sprintf(`{"session_id":%q,"cwd":"/home/ada/shop","title":"Mend","parent_session_id":null,"session_state":{}}`, id))
	w.countKiro("copied", s.dir, want)
	s.append(kiroLogs+id+".jsonl", kiroLogged(3, 503))
	want.events, want.calls, want.results = 10, 2, 2
	w.countKiro("gone on", s.dir, want)
	s.write(kiroLogs+kiroID(905)+".jsonl", `{"version":"v1","kind":"Clear"}`+"\n")
	w.countKiro("cleared", s.dir, want)
	s.append(kiroLogs+kiroID(905)+".jsonl", kiroLogged(7, 507))
	want.runs, want.conversations, want.events, want.calls, want.results = 2, 2, 15, 3, 3
	w.countKiro("said", s.dir, want)
	s.write(kiroLogs+kiroID(905)+".json", fmt.Sprintf(`{"session_id":%q,"cwd":"/home/ada/shop","title":"Look","parent_session_id":%q,"session_state":{"rts_model_state":{"model_info":{"model_id":"auto"}},
		"conversation_metadata":{"user_turn_metadatas":[{"end_timestamp":"2026-09-21T14:14:00Z","input_token_count":7,"output_token_count":2,"metering_usage":[{"value":0.5,"unit":"credit"}]}]}}}`, kiroID(905), id))
	want.runs, want.links, want.in, want.out = 1, 1, 7, 2
	w.countKiro("a child", s.dir, want)
	if got := w.query("SELECT c.title || ' ' || c.model || ' ' || c.project FROM v_conversations c WHERE verdict = 'counted' ORDER BY 1"); strings.Join(got, ", ") != "Look auto /home/ada/shop, Mend claude-sonnet-4.5 /home/ada/shop" {
		t.Errorf("conversations %q", got)
	}
	w.checkReindex("sessions")
	found, err := w.Discover(t.Context(), ingest.Home{Dir: s.dir, Env: func(string) string { return "" }})
	if err != nil || len(found) != 2 || found[0].Dir != s.dir+"/.kiro/sessions" || found[1].Dir != s.dir+"/.local/share/kiro-cli" {
		t.Errorf("found %+v, %v", found, err)
	}
}

// TestLifeKiroExported has a session that was saved to a file before it went on: it counts once, and so does it without the session.
func TestLifeKiroExported(t *testing.T) {
	t.Parallel()
	s, w := newTree(t), newWorld(t)
	id := kiroID(910)
	session := fmt.Sprintf(`{"session_id":%q,"cwd":"/home/ada/shop","title":"Mend","session_state":{"conversation_metadata":{"user_turn_metadatas":[
		{"loop_id":{"rand":5},"message_ids":[%q],"input_token_count":7,"output_token_count":2}]}}}`, id, kiroID(501))
	lines := strings.Split(strings.TrimSpace(kiroLogged(1, 501)), "\n")
	s.write("Documents/basket.json", fmt.Sprintf("{\n  \"format\": \"kiro-session-export-v1\",\n  \"metadata\": %s,\n  \"log_entries\": [%s]\n}", session, strings.Join(lines, ",\n")))
	want := counts{runs: 1, conversations: 1, events: 5, calls: 1, results: 1, in: 7, out: 2}
	w.countKiro("exported", s.dir, want)
	if got := w.query("SELECT title || ' ' || project FROM v_conversations WHERE counted"); strings.Join(got, ", ") != "Mend /home/ada/shop" {
		t.Errorf("conversations %q", got)
	}
	s.write(kiroLogs+id+".json", session)
	s.write(kiroLogs+id+".jsonl", kiroLogged(1, 501))
	w.countKiro("with the session", s.dir, want)
	s.append(kiroLogs+id+".jsonl", kiroLogged(3, 503))
	want.events, want.calls, want.results = 10, 2, 2
	w.countKiro("gone on", s.dir, want)
	w.checkReindex("gone on")
}

// TestLifeKiroConverted has a session that was converted for version 3, after a compaction that kept its last message, and goes on there.
func TestLifeKiroConverted(t *testing.T) {
	t.Parallel()
	s, w := newTree(t), newWorld(t)
	id := kiroID(911)
	s.write(kiroLogs+id+".json", fmt.Sprintf(`{"session_id":%q,"cwd":"/home/ada/shop","title":"Mend","session_state":{}}`, id))
	s.write(kiroLogs+id+".jsonl", kiroLogged(1, 501)+`{"version":"v1","kind":"Compaction","data":{"summary":"All is mended."}}`+"\n")
	want := counts{runs: 1, conversations: 1, events: 6, calls: 1, results: 1}
	w.countKiro("a session", s.dir, want)

	const call = "tooluse_0123456789abcdef0001"
	line := func(id, at, payload string) string {
		return fmt.Sprintf(`{"id":%q,"timestamp":"2026-09-%s+00:00","payload":{%s}}`+"\n", id, at, payload)
	}
	converted := "cli_" + id + "_uHORXqEL"
	dir := ".kiro/sessions/c25a05601239adfe/" + converted + "/"
	const now = "22T08:00:00.123456"
	s.write(dir+"session.json", fmt.Sprintf(`{"schemaVersion":"1.0.0","id":%q,"title":"Mend","workspacePaths":["/home/ada/shop"],"createdReason":"human"}`, converted))
	s.write(dir+"messages.jsonl", line(kiroID(501), "21T14:13:21", `"type":"user","content":"mend basket 1"`)+
		line(kiroID(1)+"-text-0", now, `"type":"assistant","content":"looking 1","operationType":"Say"`)+
		line(kiroID(1)+"-tool-0", now, `"type":"tool_call","toolCallId":"`+call+`","toolName":"fs_read","args":{"path":"b"}`)+
		line(call+"-result", now, `"type":"tool_result","toolCallId":"`+call+`","content":"wicker","success":true`)+
		line(kiroID(2)+"-text-0", now, `"type":"assistant","content":"mended 2","operationType":"Say"`)+
		line("tombstone_summarize_"+kiroID(601), now, `"type":"tombstone","kind":"summarization"`)+
		line("summary_"+kiroID(601), now, `"type":"assistant","content":"All is mended.","operationType":"Summary"`)+
		line("compact_"+kiroID(601)+"_"+kiroID(2)+"-text-0", now, `"type":"assistant","content":"mended 2","operationType":"Say"`))
	want.runs, want.conversations, want.links = 2, 2, 1
	w.countKiro("converted", s.dir, want)
	s.append(dir+"messages.jsonl", line(kiroID(701), "22T09:00:00", `"type":"user","content":"and the lid?"`))
	want.events++
	w.countKiro("gone on", s.dir, want)
	if got := w.query("SELECT kind || ' ' || from_native_id || ' ' || to_native_id FROM v_links WHERE counted"); strings.Join(got, ", ") != "fork "+id+" "+converted {
		t.Errorf("links %q", got)
	}
	// Version 3 rewinds a session, too: what the new one has copied has its ids.
	const rewound = "sess_1b000000-0000-4000-8000-000000000912"
	other := ".kiro/sessions/c25a05601239adfe/" + rewound + "/"
	s.write(other+"session.json", fmt.Sprintf(`{"schemaVersion":"1.0.0","id":%q,"title":"Mend","parentSessionId":%q,"createdReason":"rewind"}`, rewound, converted))
	s.write(other+"messages.jsonl", line(kiroID(702), "22T09:10:00", `"type":"user","content":"or the handle?"`))
	want.runs, want.conversations, want.links, want.events = 3, 3, 2, want.events+1
	w.countKiro("rewound", s.dir, want)
	w.checkReindex("rewound")
}

// TestLifeKiroRewound has a conversation that was copied from the database, with what a hook had added, and is taken back to its first turn: the program
// makes a session that begins with copies of the lines and of what the turn cost.
func TestLifeKiroRewound(t *testing.T) {
	t.Parallel()
	s, w := newTree(t), newWorld(t)
	id, rewound := kiroID(909), kiroID(809) // the copy's path comes first
	const hook = `"additional_context":"the shop is open\n"`
	b := newBase(s, kiroBase, qTables)
	b.do(kiroTables)
	b.kiroSays("/home/ada/shop", id, kiroState(id, "null", strings.Replace(kiroTurn(1), `"additional_context":""`, hook, 1)), 2)
	want := counts{runs: 1, conversations: 1, events: 6, calls: 1, results: 1}
	w.countKiro("with a hook", s.dir, want)

	turn := func(n int) string {
		return fmt.Sprintf(`{"loop_id":{"rand":%d},"message_ids":[%q],"input_token_count":%d,"output_token_count":1,"metering_usage":[{"value":0.5,"unit":"credit"}]}`, n, kiroID(n), 100+n)
	}
	session := func(id, more string, turns ...string) {
		s.write(kiroLogs+id+".json", fmt.Sprintf(`{"session_id":%q,"cwd":"/"%s,"session_state":{"conversation_metadata":{"user_turn_metadatas":[%s]}}}`, id, more, strings.Join(turns, ",")))
	}
	copied := strings.Replace(kiroLogged(1, 501), `,"meta":{`, `,"meta":{"additionalContext":"the shop is open",`, 1)
	again := copied + kiroLogged(3, 503) + `{"version":"v1","kind":"Compaction","data":{"summary":"All is mended."}}` + "\n"
	session(id, `,"exported_from_v1":true`, turn(3))
	s.write(kiroLogs+id+".jsonl", again+kiroLogged(5, 505))
	want.events, want.calls, want.results, want.in, want.out = 17, 3, 3, 103, 1
	w.countKiro("copied", s.dir, want)
	session(rewound, fmt.Sprintf(`,"parent_session_id":%q,"session_created_reason":"rewind"`, id), turn(3), turn(7))
	s.write(kiroLogs+rewound+".jsonl", again+kiroLogged(7, 507))
	want.runs, want.conversations, want.links = 2, 2, 1
	want.events, want.calls, want.results, want.in, want.out = 22, 4, 4, 210, 2
	w.countKiro("rewound", s.dir, want)
	if got := w.query("SELECT kind || ' ' || from_native_id || ' ' || to_native_id FROM v_links WHERE counted"); strings.Join(got, ", ") != "fork "+id+" "+rewound {
		t.Errorf("links %q", got)
	}
	w.checkReindex("rewound")
}

// TestLifeKiroTurns has a conversation whose requests state tokens, in a session whose turns state them, too: the first turn has that request.
func TestLifeKiroTurns(t *testing.T) {
	t.Parallel()
	s, w := newTree(t), newWorld(t)
	id := kiroID(908)
	turn := func(rand, tokens, message int) string {
		return fmt.Sprintf(`{"loop_id":{"rand":%d},"message_ids":[%q,%q],"input_token_count":%d,"output_token_count":1}`, rand, kiroID(99), kiroID(message), tokens)
	}
	session := func(turns ...string) {
		s.write(kiroLogs+id+".json", fmt.Sprintf(`{"session_id":%q,"cwd":"/","session_state":{"conversation_metadata":{"user_turn_metadatas":[%s]}}}`, id, strings.Join(turns, ",")))
	}
	session(turn(1, 100, 1))
	s.write(kiroLogs+id+".jsonl", kiroLogged(1, 501))
	want := counts{runs: 1, conversations: 1, events: 5, calls: 1, results: 1, in: 100, out: 1}
	w.countKiro("a turn", s.dir, want)
	s.write("Documents/basket", fmt.Sprintf(`{"conversation_id":%q,"next_message":null,"history":[{"user":{"content":{"ToolUseResults":{"tool_use_results":[]}}},
		"assistant":{"Response":{"message_id":%q,"content":"looking 1"}},"request_metadata":{"uncached_input_tokens":90,"output_tokens":1}}]}`, id, kiroID(1)))
	want.in = 90
	w.countKiro("its request", s.dir, want)
	session(turn(1, 100, 1), turn(2, 7, 2))
	want.in, want.out = 97, 2
	w.countKiro("another turn", s.dir, want)
	w.checkReindex("another turn")
}

// TestLifeKiroEditor has a session of the editor with its executions, which it moves to another layout.
func TestLifeKiroEditor(t *testing.T) {
	t.Parallel()
	s, w := newTree(t), newWorld(t)
	const (
		editor = ".config/Kiro/User/globalStorage/kiro.kiroagent/"
		hash   = "4b911e9f2016fd74f00661e38e16644c"
		begun  = `{"message":{"role":"user","content":"paint %[1]d","id":"u%[1]d"}},{"message":{"role":"assistant","content":"%[2]s","id":"a%[1]d"},"executionId":"e%[1]d"}`
	)
	id := kiroID(906)
	session := func(items ...string) string {
		return fmt.Sprintf(`{"sessionId":%q,"title":"Paint","workspaceDirectory":"/home/ada/shop","history":[%s]}`, id, strings.Join(items, ","))
	}
	s.write(editor+"workspace-sessions/L2g_/"+id+".json", session(fmt.Sprintf(begun, 1, "On it."), fmt.Sprintf(begun, 2, "painted")))
	want := counts{runs: 1, conversations: 1, events: 3}
	w.countKiro("without executions", s.dir, want)
	for n := range 3 {
		s.write(fmt.Sprintf("%s%s/%s/%032x", editor, hash, hash, n), fmt.Sprintf(`{"executionId":"e%[1]d","chatSessionId":%[2]q,"startTime":178400000%[1]d000,"input":{"data":{"messages":[{"role":"user","content":"paint %[1]d"}]}},
			"actions":[{"actionType":"runCommand","actionId":"r","input":{"command":"paint"},"output":{"output":"blue"}},{"actionType":"say","actionId":"s","output":{"message":"painted %[1]d"}}],"usageSummary":[{"unit":"credit","usage":0.5}]}`, n, id))
	}
	want.events, want.calls, want.results = 12, 3, 3
	w.countKiro("with executions", s.dir, want)
	if got := w.query("SELECT sum(json_extract(attributes, '$.credits')) FROM v_events WHERE kind = 'lifecycle'"); strings.Join(got, "") != "1.5" {
		t.Errorf("credits %q", got)
	}
	if got := w.query("SELECT group_concat(substr(role, 1, 1), '') FROM (SELECT role FROM v_events WHERE counted ORDER BY seq)"); strings.Join(got, "") != "uatauatauata" {
		t.Errorf("roles %q", got)
	}
	moved := ".kiro/sessions/c25a05601239adfe/" + id + "/"
	s.write(moved+"session.json", fmt.Sprintf(`{"schemaVersion":"1.0.0","id":%q,"title":"Paint it","workspacePaths":["/home/ada/shop"]}`, id))
	s.write(moved+"messages.jsonl", `{"id":"x1","timestamp":"2026-09-22T08:00:00.000Z","payload":{"type":"user","content":"paint"}}`+"\n")
	want.events, want.calls, want.results = 1, 0, 0
	w.countKiro("moved", s.dir, want)
	w.checkReindex("editor")
}

// TestLifeKiroRenamed has a session that gets another title and model, which come before the first ones in the alphabet.
func TestLifeKiroRenamed(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	id := kiroID(907)
	dir := ".kiro/sessions/c25a05601239adfe/" + id + "/"
	s.write(dir+"messages.jsonl", `{"id":"x1","timestamp":"2026-09-22T08:00:00.000Z","payload":{"type":"user","content":"paint"}}`+"\n")
	for _, said := range [][3]string{{"Paint it", "gpt-5", "/home/ada/shop"}, {"A shelf", "claude-sonnet-4.5", "/home/ada/inn"}} {
		s.write(dir+"session.json", fmt.Sprintf(`{"schemaVersion":"1.0.0","id":%q,"title":%q,"modelId":%q,"workspacePaths":[%q]}`, id, said[0], said[1], said[2]))
		w.ingest("home", s.dir, ".")
		if got, want := w.query("SELECT title || '|' || model || '|' || project FROM v_conversations WHERE counted"), strings.Join(said[:], "|"); strings.Join(got, ",") != want {
			t.Errorf("conversation %q, want %q", got, want)
		}
	}
}
