package ingest_test

import (
	"encoding/binary"
	"path"
	"strings"
	"testing"
)

// The tables of Antigravity's databases.
const gravityTables = `CREATE TABLE trajectory_meta (trajectory_id text, cascade_id text, trajectory_type integer, source integer, PRIMARY KEY (trajectory_id));
	CREATE TABLE steps (idx integer, step_type integer NOT NULL DEFAULT 0, status integer NOT NULL DEFAULT 0, has_subtrajectory numeric NOT NULL DEFAULT false,
		metadata blob, error_details blob, permissions blob, task_details blob, render_info blob, step_payload blob, step_format integer NOT NULL DEFAULT 0, PRIMARY KEY (idx));
	CREATE TABLE gen_metadata (idx integer, data blob, size integer NOT NULL DEFAULT 0, PRIMARY KEY (idx));
	CREATE TABLE executor_metadata (idx integer, data blob, PRIMARY KEY (idx));
	CREATE TABLE parent_references (idx integer, data blob, PRIMARY KEY (idx));
	CREATE TABLE trajectory_metadata_blob (id text DEFAULT "main", data blob, PRIMARY KEY (id));
	CREATE TABLE battle_mode_infos (idx integer, data blob, PRIMARY KEY (idx))`

// message is a protobuf message of the fields number, value, number, value, ...
func message(fields ...any) (b []byte) {
	for i := 0; i < len(fields); i += 2 {
		number := uint64(fields[i].(int))
		switch v := fields[i+1].(type) {
		case int:
			b = binary.AppendUvarint(binary.AppendUvarint(b, number<<3), uint64(v))
		case string:
			b = append(binary.AppendUvarint(binary.AppendUvarint(b, number<<3|2), uint64(len(v))), v...)
		case []byte:
			b = append(binary.AppendUvarint(binary.AppendUvarint(b, number<<3|2), uint64(len(v))), v...)
		}
	}
	return b
}

// gravityTime is the time of a minute of the conversations' hour.
func gravityTime(minute int) []byte { return message(1, 1790841600+60*minute, 2, 250000000) }

// gravityUsage is the tokens of a request: 60 of input, 40 from the cache and out of output, 2 of which are thought.
func gravityUsage(response string, out int) []byte {
	return message(1, 1320, 2, 60, 3, out, 5, 40, 6, 24, 7, "bot-"+response, 9, 2, 10, out-2, 11, response)
}

// gravityMeta is the metadata of a step of a trajectory: of the user (source 4), the program in his name (3) or the model (2).
func gravityMeta(minute, source int, trajectory string, more ...any) []byte {
	return append(message(1, gravityTime(minute), 3, source, 20, message(1, trajectory)), message(more...)...)
}

// gravityDoes adds a step, the number of which is also the minute of its time.
func (b *base) gravityDoes(idx, typ, status int, meta []byte, payload ...any) {
	b.do("INSERT OR REPLACE INTO steps (idx, step_type, status, metadata, step_payload) VALUES (?, ?, ?, ?, ?)", idx, typ, status, meta,
		message(append([]any{1, typ, 4, status, 5, meta}, payload...)...))
}

// gravityRequests adds a request whose answer is the step with the number step, after a prompt that is not kept.
func (b *base) gravityRequests(idx, step int, usage []byte, more ...any) {
	chat := append(message(1, "You are an agent.", 2, message(1, "all that was said"), 3, 1320, 4, usage, 19, "gemini-3.5-flash", 21, "Gemini 3.5 Flash (Medium)"), message(more...)...)
	data := message(1, chat, 2, []byte{byte(step)}, 3, "a prompt in full")
	b.do("INSERT OR REPLACE INTO gen_metadata VALUES (?, ?, ?)", idx, data, len(data))
}

func (b *base) gravityIsAbout(trajectory, parent string) {
	b.do("DELETE FROM trajectory_meta")
	b.do("INSERT INTO trajectory_meta VALUES (?, 'x', 4, 17)", trajectory)
	meta := message(1, message(1, "file:///home/ada/the%20shop", 4, "main"), 2, gravityTime(0), 7, "file:///home/ada/the%20shop", 18, "default-cli-project")
	if parent != "" {
		meta = append(meta, message(5, parent, 17, 1)...)
	}
	b.do("INSERT OR REPLACE INTO trajectory_metadata_blob (data) VALUES (?)", meta)
}

// gravityBasket has a prompt, an answer that calls, and what the call brought about.
func (b *base) gravityBasket(trajectory string) {
	call := message(1, "call_1", 2, "run_command", 3, `{"CommandLine":"go test ./basket"}`)
	b.gravityDoes(0, 14, 3, gravityMeta(0, 4, trajectory), 19, message(1, "mend", 3, message(1, "mend the "), 3, message(1, "basket")))
	b.gravityDoes(1, 14, 3, gravityMeta(1, 3, trajectory), 19, message(1, "keep it short"))
	b.gravityDoes(2, 15, 3, gravityMeta(2, 2, trajectory, 9, gravityUsage("r1", 10)), 20, message(1, "I look.", 3, "A hole?", 7, call))
	b.gravityDoes(3, 21, 2, gravityMeta(3, 2, trajectory, 4, call))
	b.gravityRequests(0, 2, gravityUsage("r1", 10))
}

// TestLifeAntigravityDatabase has a conversation that only a database has. It goes on, tries twice, thinks in the background, goes back and is forked;
// a log comes that repeats it, and a sub-agent's conversation.
func TestLifeAntigravityDatabase(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	const (
		dir = ".gemini/antigravity-acp/conversations/"
		a   = "a0000000-0000-4000-8000-00000000000a"
	)
	b := newBase(s, dir+a+".db", gravityTables)
	b.gravityIsAbout("t1", "")
	b.gravityBasket("t1")
	want := counts{runs: 1, conversations: 1, events: 6, calls: 1, results: 1, in: 60, out: 10}
	w.ingestAndCheck("asked", "antigravity", s.dir, want, 2, 0, 0)
	for query, want := range map[string]string{
		"SELECT title || '|' || project FROM v_runs":                       "mend the basket|/home/ada/the shop",
		"SELECT project FROM v_conversations":                              "/home/ada/the shop",
		"SELECT tool || ' ' || coalesce(status, '') FROM v_tool_calls":     "run_command RUNNING",
		"SELECT DISTINCT model FROM v_usage":                               "Gemini 3.5 Flash (Medium)",
		"SELECT cache_read_tokens || ' ' || reasoning_tokens FROM v_usage": "40 2",
		"SELECT substr(time, 1, 22) FROM v_usage":                          "2026-10-01T08:02:00.25",
	} {
		if got := strings.Join(w.query(query), ","); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}

	// The call ends. An answer is tried twice, and what the program does in the background is only in its step.
	b.gravityDoes(3, 21, 3, gravityMeta(3, 2, "t1", 4, message(1, "call_1", 2, "run_command")), 28, message(6, 0, 21, message(1, "ok basket")))
	b.gravityDoes(4, 15, 3, gravityMeta(4, 2, "t1", 9, gravityUsage("r2", 20), 28, message(2, gravityUsage("r2", 20))), 20, message(1, "Mended."))
	b.gravityRequests(1, 4, gravityUsage("r2", 20), 17, message(1, 1, 2, gravityUsage("r2failed", 5)), 17, message(2, gravityUsage("r2", 20)))
	b.gravityDoes(5, 23, 3, gravityMeta(5, 5, "t1", 9, append(gravityUsage("r3", 7), message(1, 330)...)), 30, message(5, "The basket is mended."))
	want.events, want.in, want.out = 8, 60*4, 10+20+5+7
	w.ingestAndCheck("answered", "antigravity", s.dir, want, 0, 0, 2)
	if got := strings.Join(w.query("SELECT model || ' ' || output_tokens FROM v_usage WHERE counted ORDER BY output_tokens"), ","); got != "Gemini 3.5 Flash (Medium) 5,gemini-2.5-flash-lite 7,Gemini 3.5 Flash (Medium) 10,Gemini 3.5 Flash (Medium) 20" {
		t.Errorf("models %s", got)
	}

	// The user goes back: the steps from there on are other ones, of another trajectory. What was said before was paid for.
	b.do("DELETE FROM steps WHERE idx >= 4")
	b.do("DELETE FROM gen_metadata WHERE idx >= 1")
	b.gravityIsAbout("t2", "")
	b.gravityDoes(4, 15, 3, gravityMeta(9, 2, "t2", 9, gravityUsage("r4", 30)), 20, message(1, "Woven."))
	b.gravityRequests(1, 4, gravityUsage("r4", 30))
	want.events, want.in, want.out = 7, want.in+60, want.out+30
	w.ingestAndCheck("went back", "antigravity", s.dir, want, 0, 0, 2)

	// A log repeats the conversation with its tokens, and has the prompt as it was sent.
	log := strings.Replace(dir, "conversations", "brain", 1) + a + "/.system_generated/logs/transcript_full.jsonl"
	s.write(log, gravityAsks(0, "mend the basket")+gravityAnswers(2, `,"content":"I look.","tool_calls":[{"name":"run_command","args":{}}]`)+gravityStep(3, "MODEL", "RUN_COMMAND", `,"content":"ok basket"`)+
		`{"step_index":4,"source":"MODEL","type":"PLANNER_RESPONSE","status":"DONE","created_at":"2026-10-01T08:09:00Z","content":"Woven.","input_tokens":60,"cache_read_tokens":40,"output_tokens":30}`+"\n")
	want.events = 5
	w.ingestAndCheck("logged", "antigravity", s.dir, want, 1, 0, 0)

	// A fork has the steps, the requests and the log of the conversation that it was forked from. A sub-agent has its own.
	const fork, child = "a0000000-0000-4000-8000-00000000000f", "a0000000-0000-4000-8000-0000000000ff"
	f := newBase(s, ".gemini/antigravity-cli/conversations/"+fork+".db", gravityTables)
	f.gravityIsAbout("t3", "")
	f.do("INSERT INTO parent_references VALUES (0, ?)", message(1, "t2", 2, 4, 5, 2, 6, a))
	f.gravityBasket("t1")
	s.write(".gemini/antigravity-cli/brain/"+fork+"/.system_generated/logs/transcript_full.jsonl", gravityAsks(0, "mend the basket")+gravityAnswers(2, `,"content":"I look."`))
	c := newBase(s, ".gemini/antigravity-cli/conversations/"+child+".db", gravityTables)
	c.gravityIsAbout("t4", a)
	c.gravityDoes(0, 14, 3, gravityMeta(0, 4, "t4"), 19, message(1, "count"))
	c.gravityDoes(1, 15, 3, gravityMeta(1, 2, "t4"), 20, message(1, "41"))
	c.gravityRequests(0, 1, gravityUsage("r5", 3))
	s.write(dir+a+".meta", `{"cwd":"/home/ada/zed"}`)
	s.write(dir+"a0000000-0000-4000-8000-0000000000aa.pb", "\x01\x02")
	want.runs, want.conversations, want.events, want.links, want.in, want.out = 2, 3, 5+2+2, 2, want.in+60, want.out+3
	w.ingestAndCheck("forked", "antigravity", s.dir, want, 5, 0, 0) // the fork has the same steps as the first conversation had
	if got := strings.Join(w.query("SELECT project FROM v_conversations WHERE verdict = 'counted' ORDER BY project"), ","); got != strings.Repeat(",/home/ada/the shop", 3)[1:] {
		t.Errorf("projects %s", got)
	}
	if got := strings.Join(w.query("SELECT kind FROM v_links ORDER BY kind"), ","); got != "fork,parent" {
		t.Errorf("links %s", got)
	}
	for _, file := range []string{dir + a + ".db", dir + a + ".meta", log} {
		s.remove(file)
	}
	w.ingestAndCheck("deleted", "antigravity", s.dir, want, 0, 0, 0)
}

// TestLifeAntigravityChanged has a database without a table that all versions of the program have made: the whole database is kept, since the requests
// in it cannot be read.
func TestLifeAntigravityChanged(t *testing.T) {
	for _, table := range []string{"parent_references", "gen_metadata"} {
		s, w := newTree(t), newWorld(t)
		const name = ".gemini/antigravity/conversations/a0000000-0000-4000-8000-00000000000a.db"
		b := newBase(s, name, gravityTables)
		b.gravityIsAbout("t1", "")
		b.gravityBasket("t1")
		b.do("DROP TABLE " + table)
		if r := w.ingest("home", s.dir, "."); len(r.Problems) != 1 || !strings.Contains(r.Problems[0].Reason, table) || len(w.versions(name+"/"+path.Base(name))) != 1 {
			t.Errorf("%s: problems %+v", table, r.Problems)
		}
	}
}

// TestLifeAntigravityMoved has a conversation whose directory gets another name, which comes before the old one in the alphabet, and a sub-agent.
func TestLifeAntigravityMoved(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	const dir, a, child = ".gemini/antigravity/conversations/", "a0000000-0000-4000-8000-00000000000a", "a0000000-0000-4000-8000-0000000000ff"
	b := newBase(s, dir+a+".db", gravityTables)
	c := newBase(s, dir+child+".db", gravityTables)
	for _, d := range []*base{b, c} {
		d.gravityIsAbout("t1", "")
		d.gravityBasket("t1")
	}
	c.gravityIsAbout("t1", a)
	s.write(dir+child+".meta", `{"cwd":"/home/ada/zed"}`)
	w.ingest("home", s.dir, ".")
	b.do("UPDATE trajectory_metadata_blob SET data = ?", message(1, message(1, "file:///home/ada/a%20new%20shop"), 2, gravityTime(0)))
	c.do("UPDATE trajectory_metadata_blob SET data = ?", message(2, gravityTime(0), 5, a))
	w.ingest("home", s.dir, ".")
	for query, want := range map[string]string{
		"SELECT project FROM v_runs ORDER BY 1":          "/home/ada/a new shop,/home/ada/zed",
		"SELECT project FROM v_conversations ORDER BY 1": "/home/ada/a new shop,/home/ada/zed",
		"SELECT count(*) FROM v_runs WHERE child":        "1",
	} {
		if got := strings.Join(w.query(query), ","); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	w.checkReindex("moved")
}
