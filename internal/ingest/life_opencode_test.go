package ingest_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

const openStore = "opencode/storage/"

// openTree writes one session with one step as OpenCode did up to 1.1. The call has ended or not.
func (s *tree) openTree(status string) {
	s.write(openStore+"session/p/ses_a.json", `{"id":"ses_a","projectID":"p","directory":"/home/ada/shop","title":"Mend the basket","version":"1.1.0","time":{"created":1780000000000,"updated":1780000000000}}`)
	s.write(openStore+"message/ses_a/msg_1.json", `{"id":"msg_1","sessionID":"ses_a","role":"user","time":{"created":1780000000000}}`)
	s.write(openStore+"part/msg_1/prt_1.json", `{"id":"prt_1","sessionID":"ses_a","messageID":"msg_1","type":"text","text":"mend the basket"}`)
	s.write(openStore+"message/ses_a/msg_2.json", `{"id":"msg_2","sessionID":"ses_a","role":"assistant","time":{"created":1780000001000},"modelID":"claude-sonnet-4-5","providerID":"anthropic","cost":0.25,"tokens":{"input":10,"output":20,"reasoning":5,"cache":{"read":0,"write":0}}}`)
	s.write(openStore+"part/msg_2/prt_2.json", fmt.Sprintf(`{"id":"prt_2","sessionID":"ses_a","messageID":"msg_2","type":"tool","callID":"c1","tool":"bash","state":{"status":%q,"input":{"command":"go test"},"output":"fine basket"}}`, status))
	if status == "completed" {
		s.write(openStore+"part/msg_2/prt_3.json", `{"id":"prt_3","sessionID":"ses_a","messageID":"msg_2","type":"step-finish","cost":0.25,"tokens":{"input":10,"output":20,"reasoning":5,"cache":{"read":0,"write":0}}}`)
	}
}

// openBase is a database with the program's tables.
type openBase struct {
	*base
	now int64
}

func newOpenBase(t *testing.T, path string) *openBase {
	b := &openBase{baseAt(t, path), 1780000100000}
	b.do("CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, directory text, title text, version text, time_created integer, time_updated integer)")
	b.do("CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer, time_updated integer, data text NOT NULL)")
	b.do("CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, time_created integer, time_updated integer, data text NOT NULL)")
	return b
}

func (b *openBase) session(id, parent string) {
	b.now += 1000
	var of any
	if parent != "" {
		of = parent
	}
	b.do("INSERT INTO session VALUES (?, 'p', ?, '/home/ada/shop', 'Mend the basket', '1.2.0', ?, ?)", id, of, b.now, b.now)
}

func (b *openBase) message(id, session, data string) {
	b.now += 1000
	b.do("INSERT INTO message VALUES (?, ?, ?, ?, ?)", id, session, b.now, b.now, data)
}

func (b *openBase) part(id, message, session, data string) {
	b.now += 1000
	b.do("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET data = excluded.data, time_updated = excluded.time_updated", id, message, session, b.now, b.now, data)
}

// migrated is what the program's migration makes of openTree.
func (b *openBase) migrated() {
	b.session("ses_a", "")
	b.message("msg_1", "ses_a", `{"role":"user","time":{"created":1780000000000}}`)
	b.part("prt_1", "msg_1", "ses_a", `{"type":"text","text":"mend the basket"}`)
	b.message("msg_2", "ses_a", `{"role":"assistant","time":{"created":1780000001000},"modelID":"claude-sonnet-4-5","providerID":"anthropic","cost":0.25,"tokens":{"input":10,"output":20,"reasoning":5,"cache":{"read":0,"write":0}}}`)
	b.part("prt_2", "msg_2", "ses_a", `{"type":"tool","callID":"c1","tool":"bash","state":{"status":"completed","input":{"command":"go test"},"output":"fine basket"}}`)
	b.part("prt_3", "msg_2", "ses_a", `{"type":"step-finish","cost":0.25,"tokens":{"input":10,"output":20,"reasoning":5,"cache":{"read":0,"write":0}}}`)
}

func (w *world) opencode(what string, want counts) {
	w.t.Helper()
	if got := countsOf(w.totals().Formats["opencode"]); got != want {
		w.t.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
	}
	w.checkReindex(what)
}

// TestLifeOpenCodeTree has a session whose records are rewritten while it runs.
func TestLifeOpenCodeTree(t *testing.T) {
	t.Parallel()
	l := newLife(t, "opencode")
	l.openTree("running")
	// the message's own tokens until there is a step
	l.ingestAndCheck("running", counts{runs: 1, conversations: 1, events: 2, calls: 1, in: 10, out: 25, cost: 250000})
	l.openTree("completed")
	l.ingestAndCheck("completed", counts{runs: 1, conversations: 1, events: 3, calls: 1, results: 1, in: 10, out: 25, cost: 250000})
	l.checkQuery("a step has the time of its message", "SELECT time FROM v_usage WHERE counted", "2026-05-28T20:26:41.000000Z")
	l.checkQuery("also by day", "SELECT day FROM v_cost_daily", "2026-05-28")
	l.write(openStore+"session/p/ses_b.json", `{"id":"ses_b","projectID":"p","parentID":"ses_a","directory":"/home/ada/shop","title":"look","version":"1.1.0","time":{"created":1780000002000}}`)
	l.write(openStore+"part/msg_3/prt_4.json", `{"id":"prt_4","type":"text","text":"a part that names nothing"}`)
	l.ingestAndCheck("part first", counts{runs: 1, conversations: 2, events: 3, calls: 1, results: 1, in: 10, out: 25, cost: 250000, links: 1})
	l.checkQuery("whose words, as a guess", "SELECT role FROM v_events WHERE kind = 'message' AND path LIKE '%prt_4.json'", "user")
	l.write(openStore+"message/ses_b/msg_3.json", `{"id":"msg_3","sessionID":"ses_b","role":"assistant","time":{"created":1780000002000}}`)
	l.ingestAndCheck("message later", counts{runs: 1, conversations: 2, events: 4, calls: 1, results: 1, in: 10, out: 25, cost: 250000, links: 1})
	l.checkFresh("as it is now")
	l.checkQuery("whose words", "SELECT role FROM v_events WHERE kind = 'message' AND path LIKE '%prt_4.json'", "assistant")
	l.checkSearch("names nothing", 1)
	l.checkCopy("laptop", counts{runs: 1, conversations: 2, events: 4, calls: 1, results: 1, in: 10, out: 25, cost: 250000, links: 1})
}

// openStream is what the program printed, with the end of another line before it, when it wrote openTree, or when the session was resumed.
func openStream(msg, text string) string {
	head := `,"timestamp":1780000003000,"sessionID":"ses_a","part":{"sessionID":"ses_a","messageID":"` + msg + `",`
	said := "read 3 files\n" + `{"type":"step_start"` + head + `"id":"prt_0","type":"step-start"}}` + "\n"
	if text != "" {
		said += `{"type":"text"` + head + `"id":"prt_1","type":"text","text":"` + text + `"}}` + "\n"
	}
	return said + `{"type":"tool_use"` + head + `"id":"prt_2","type":"tool","callID":"c1","tool":"bash","state":{"status":"completed","input":{"command":"go test"},"output":"fine basket"}}}` + "\n" +
		`{"type":"step_finish"` + head + `"id":"prt_3","type":"step-finish","cost":0.25,"tokens":{"input":10,"output":20,"reasoning":5,"cache":{"read":0,"write":0}}}}` + "\n"
}

// TestLifeOpenCodeStream has saved output of two runs of a session, a copy of it, and then the session itself; and the session before the output.
func TestLifeOpenCodeStream(t *testing.T) {
	t.Parallel()
	first, second := openStream("msg_2", ""), openStream("msg_4", "a lid for it")
	alone := counts{runs: 1, conversations: 1, events: 2, calls: 1, results: 1, in: 10, out: 25, cost: 250000, problems: 1}
	resumed := counts{runs: 1, conversations: 1, events: 5, calls: 2, results: 2, in: 20, out: 50, cost: 500000, problems: 2}
	both := counts{runs: 1, conversations: 1, events: 6, calls: 2, results: 2, in: 20, out: 50, cost: 500000, problems: 2}

	l := newLife(t, "opencode")
	l.write("ci/1.log", first[:len(first)-100])
	l.ingestAndCheck("running", counts{runs: 1, conversations: 1, events: 2, calls: 1, results: 1, problems: 2}) // half a line
	l.append("ci/1.log", first[len(first)-100:])
	l.ingestAndCheck("ended", alone)
	l.write("ci/again/1.log", first)
	l.ingestAndCheck("copied", alone)
	l.write("ci/2", second)
	l.ingestAndCheck("resumed", resumed)
	l.openTree("completed") // which does not have the second run
	l.ingestAndCheck("with its session", both)
	l.checkQuery("what counts", "SELECT DISTINCT path FROM v_events WHERE counted AND kind = 'tool_call' ORDER BY path", "ci/2", openStore+"part/msg_2/prt_2.json")
	l.checkSearch("lid", 1)
	l.checkFresh("with its session")

	l = newLife(t, "opencode")
	l.openTree("completed")
	l.ingestAndCheck("a session", counts{runs: 1, conversations: 1, events: 3, calls: 1, results: 1, in: 10, out: 25, cost: 250000})
	l.write("ci/1.log", first)
	l.write("ci/2", second)
	l.ingestAndCheck("with its output", both)
}

// TestLifeOpenCodeDatabase has the same session in a database, before, after and beside the tree: it counts once, and a
// message more costs no more than its own rows.
func TestLifeOpenCodeDatabase(t *testing.T) {
	for _, beside := range []bool{false, true} {
		t.Run(fmt.Sprintf("tree %v", beside), func(t *testing.T) {
			s, w := newTree(t), newWorld(t)
			if beside {
				s.openTree("running")
				w.ingest("home", s.dir, ".")
			}
			s.write("opencode/log", "")
			b := newOpenBase(t, filepath.Join(s.dir, "opencode", "opencode.db"))
			b.migrated()
			w.ingest("home", s.dir, ".")
			want := counts{runs: 1, conversations: 1, events: 3, calls: 1, results: 1, in: 10, out: 25, cost: 250000}
			w.opencode("migrated", want)
			if n := len(w.versions("opencode/opencode.db")); n != 0 {
				t.Errorf("the database itself is stored %d times", n)
			}
			if r := w.ingest("home", s.dir, "."); r.New+r.Rewritten+r.Grown != 0 {
				t.Errorf("nothing changed, and %+v was stored", r)
			}

			// Only the log of the database changes.
			b.message("msg_3", "ses_a", `{"role":"user","time":{"created":1780000200000}}`)
			b.part("prt_5", "msg_3", "ses_a", `{"type":"text","text":"and now the shelf"}`)
			r := w.ingest("home", s.dir, ".")
			if r.New != 1 || r.Rewritten != 0 {
				t.Errorf("one message more: %d new, %d rewritten", r.New, r.Rewritten)
			}
			want.events++
			w.opencode("one more", want)
			b.part("prt_5", "msg_3", "ses_a", `{"type":"text","text":"and now the shelf, please"}`)
			r = w.ingest("home", s.dir, ".")
			if r.New != 0 || r.Rewritten != 1 {
				t.Errorf("one part rewritten: %d new, %d rewritten", r.New, r.Rewritten)
			}
			w.opencode("rewritten", want)
			if n := len(w.versions("opencode/opencode.db/ses_a/msg_3.ndjson")); n != 2 {
				t.Errorf("%d versions of a message, want 2", n)
			}

			// What the program deletes stays, and a child joins its parent.
			b.do("DELETE FROM part WHERE message_id = 'msg_2'")
			b.do("DELETE FROM message WHERE id = 'msg_2'")
			b.session("ses_b", "ses_a")
			w.ingest("home", s.dir, ".")
			want.conversations, want.links = 2, 1
			w.opencode("deleted", want)
			b.do("PRAGMA wal_checkpoint(TRUNCATE)")
			if r := w.ingest("home", s.dir, "."); r.New+r.Rewritten+r.Grown != 0 {
				t.Errorf("a checkpoint changed nothing, and %+v was stored", r)
			}
		})
	}
}

// TestLifeOpenCodeSecond moves a database to version 2, which copies what there was, goes on there, and forks it.
func TestLifeOpenCodeSecond(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	s.write("opencode/log", "")
	b := newOpenBase(t, filepath.Join(s.dir, "opencode", "opencode.db"))
	b.do("CREATE TABLE session_message (id text PRIMARY KEY, session_id text NOT NULL, type text NOT NULL, seq integer NOT NULL, time_created integer, time_updated integer, data text NOT NULL)")
	second := func(id, session, typ string, made int64, data string) {
		b.now += 1000
		b.do("INSERT INTO session_message VALUES (?, ?, ?, ?, ?, ?, ?)", id, session, typ, b.now, made, b.now, data)
	}
	const answer = `{"agent":"build","model":{"id":"claude-sonnet-4-5","providerID":"anthropic"},"content":[{"type":"text","text":"fine basket"}],"cost":0.25,
		"tokens":{"input":10,"output":20,"reasoning":5,"cache":{"read":0,"write":0}},"time":{"created":%d}}`
	b.migrated()
	second("msg_1", "ses_a", "user", 1780000000000, `{"text":"mend the basket"}`) // as version 1 prepared it
	w.ingest("home", s.dir, ".")
	want := counts{runs: 1, conversations: 1, events: 3, calls: 1, results: 1, in: 10, out: 25, cost: 250000}
	w.opencode("version 1", want)

	b.do("CREATE TABLE session_v2 (id text PRIMARY KEY, project_id text, parent_id text, fork_session_id text, directory text, title text, version text, time_created integer, time_updated integer)")
	b.do("INSERT INTO session_v2 SELECT id, project_id, parent_id, NULL, directory, title, '2.0.8', time_created, time_updated FROM session")
	second("msg_2", "ses_a", "assistant", 1780000001000, fmt.Sprintf(answer, int64(1780000001000)))
	w.ingest("home", s.dir, ".")
	w.opencode("taken over", want)

	second("msg_3", "ses_a", "user", 1780000300000, `{"text":"and the shelf"}`)
	second("msg_4", "ses_a", "assistant", 1780000301000, fmt.Sprintf(answer, int64(1780000301000)))
	w.ingest("home", s.dir, ".")
	want = counts{runs: 1, conversations: 1, events: 5, calls: 1, results: 1, in: 20, out: 50, cost: 500000}
	w.opencode("gone on", want)

	b.do("INSERT INTO session_v2 VALUES ('ses_f', 'p', NULL, 'ses_a', '/home/ada/shop', 'Mend the basket', '2.0.8', 1780000400000, 1780000400000)")
	b.do("INSERT INTO session_message SELECT 'f' || id, 'ses_f', type, seq, time_created, time_updated, data FROM session_message")
	second("fmsg_5", "ses_f", "user", 1780000500000, `{"text":"the other shelf"}`)
	w.ingest("home", s.dir, ".")
	want.runs, want.conversations, want.events, want.links = 2, 2, 6, 1
	w.opencode("forked", want)

	for _, table := range []string{"part", "message", "session"} {
		b.do("DROP TABLE " + table)
	}
	if r := w.ingest("home", s.dir, "."); len(r.Problems) != 0 {
		t.Errorf("version 2 alone: %+v", r.Problems)
	}
	w.opencode("version 2 alone", want)
}

// TestLifeOpenCodeForkLate has a session in files and in a database, of which is told only later that it is a fork: what stands in both is a
// copy in both.
func TestLifeOpenCodeForkLate(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	s.openTree("completed")
	b := newOpenBase(t, filepath.Join(s.dir, "opencode", "opencode.db"))
	b.migrated()
	w.ingest("home", s.dir, ".")
	w.opencode("a session", counts{runs: 1, conversations: 1, events: 3, calls: 1, results: 1, in: 10, out: 25, cost: 250000})
	b.do("CREATE TABLE session_message (id text PRIMARY KEY, session_id text NOT NULL, type text NOT NULL, seq integer NOT NULL, time_created integer, time_updated integer, data text NOT NULL)")
	b.do("CREATE TABLE session_v2 (id text PRIMARY KEY, project_id text, parent_id text, fork_session_id text, directory text, title text, version text, time_created integer, time_updated integer)")
	b.do("INSERT INTO session_v2 VALUES ('ses_a', 'p', NULL, 'ses_z', '/home/ada/shop', 'Mend the basket', '2.0.8', 1780000400000, 1780000400000)")
	w.ingest("home", s.dir, ".")
	w.opencode("a fork", counts{runs: 1, conversations: 1, calls: 0, links: 1})
}

// TestLifeOpenCodeFile has a source that is nothing but the database, of a name of its own.
func TestLifeOpenCodeFile(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	b := newOpenBase(t, filepath.Join(s.dir, "mine.sqlite"))
	b.do("PRAGMA wal_checkpoint(TRUNCATE)") // the schema is in its first page
	b.migrated()
	w.ingest("home", s.dir, "mine.sqlite")
	want := counts{runs: 1, conversations: 1, events: 3, calls: 1, results: 1, in: 10, out: 25, cost: 250000}
	w.opencode("alone", want)
	b.part("prt_9", "msg_2", "ses_a", `{"type":"text","text":"mended"}`)
	w.ingest("home", s.dir, "mine.sqlite")
	want.events++
	w.opencode("grown", want)
	b.part("prt_8", "msg_gone", "ses_a", `{"type":"text","text":"said in a message that is lost"}`)
	w.ingest("home", s.dir, "mine.sqlite")
	want.events++
	w.opencode("a part without its message", want)
	b.do("DROP TABLE part")
	b.do("PRAGMA wal_checkpoint(TRUNCATE)")
	if r := w.ingest("home", s.dir, "mine.sqlite"); len(r.Problems) != 1 {
		t.Errorf("a database without a table: %+v", r.Problems)
	}
}

// TestLifeOpenCodeBroken damages the database: its bytes are kept with those of its log, once, and it is told of until it is well again.
func TestLifeOpenCodeBroken(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	s.write("opencode/log", "")
	b := newOpenBase(t, filepath.Join(s.dir, "opencode", "opencode.db"))
	b.migrated()
	b.do("PRAGMA wal_checkpoint(TRUNCATE)")
	w.ingest("home", s.dir, ".")
	want := counts{runs: 1, conversations: 1, events: 3, calls: 1, results: 1, in: 10, out: 25, cost: 250000}
	w.opencode("well", want)
	b.message("msg_3", "ses_a", `{"role":"user","time":{"created":1780000200000}}`) // in the log
	well := s.read("opencode/opencode.db")
	bad := []byte(well)
	for i := 4096; i < len(bad); i++ { // the first page has the schema
		bad[i] = 0xff
	}
	s.write("opencode/opencode.db", string(bad))
	log := s.read("opencode/opencode.db-wal")
	for i := range 2 {
		if r := w.ingest("home", s.dir, "."); len(r.Problems) != 1 || r.New != 2*(1-int64(i)) {
			t.Errorf("scan %d of a broken database: %d new, problems %+v", i, r.New, r.Problems)
		}
	}
	for path, content := range map[string]string{"opencode/opencode.db/opencode.db": string(bad), "opencode/opencode.db/opencode.db-wal": log} {
		if all := w.versions(path); len(all) != 1 || all[0] != content {
			t.Errorf("%s is stored %d times, or with other bytes", path, len(all))
		}
	}
	w.opencode("broken", want)
	s.write("opencode/opencode.db", well)
	if r := w.ingest("home", s.dir, "."); len(r.Problems) != 0 || r.New != 1 {
		t.Errorf("a mended database: %d new, problems %+v", r.New, r.Problems)
	}
}

// TestLifeOpenCodeLateRole has a part that is written anew before the message that it belongs to can be read: once that is there, the newest version of the part
// is what counts.
func TestLifeOpenCodeLateRole(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	const part, message = "opencode/storage/part/msg_w1/prt_w1.json", "opencode/storage/message/ses_w/msg_w2.json"
	written := func(what, name, content string) {
		s.write(name, content)
		w.ingest("home", s.dir, ".")
		w.unchecked = what
		w.reindexed("again")
	}
	written("of an unknown type", part, `{"id":"prt_w1","sessionID":"ses_w","messageID":"msg_w1","type":"knot","text":"read stone.go","synthetic":true}`)
	written("a text", part, `{"id":"prt_w1","sessionID":"ses_w","messageID":"msg_w1","type":"text","text":"read stone.go"}`)
	written("a message", message, `{"id":"msg_w2","sessionID":"ses_w","role":"assistant","time":{"created":1780000001000},"modelID":"gpt-4o-mini","providerID":"openai","tokens":{"input":120,"output":16}}`)
	if got := w.query("SELECT version FROM v_events WHERE path = ? AND verdict = 'counted'", part); fmt.Sprint(got) != "[2]" {
		t.Errorf("versions of the part that count: %v", got)
	}
}

// TestLifeMiMoCode has a session in the database of OpenCode and, with the same ids, in that of MiMo Code, which imported it:
// it counts once.
func TestLifeMiMoCode(t *testing.T) {
	t.Parallel()
	s, w := newTree(t), newWorld(t)
	s.write("opencode/log", "")
	s.write("mimocode/log", "")
	newOpenBase(t, filepath.Join(s.dir, "opencode", "opencode.db")).migrated()
	b := newOpenBase(t, filepath.Join(s.dir, "mimocode", "mimocode.db"))
	b.migrated()
	w.ingest("home", s.dir, ".")
	want := counts{runs: 1, conversations: 1, events: 3, calls: 1, results: 1, in: 10, out: 25, cost: 250000}
	w.opencode("imported", want)
	b.message("msg_3", "ses_a", `{"role":"user","time":{"created":1780000200000}}`)
	b.part("prt_5", "msg_3", "ses_a", `{"type":"text","text":"and now the shelf"}`)
	w.ingest("home", s.dir, ".")
	want.events++
	w.opencode("gone on", want)
	if n := len(w.versions("mimocode/mimocode.db/ses_a/msg_3.ndjson")); n != 1 {
		t.Errorf("%d versions of its message, want 1", n)
	}
}

// TestLifeZCode has a database of Z Code, whose schema takes more than one page, while a session goes on and after the program has deleted
// its old measurements.
func TestLifeZCode(t *testing.T) {
	t.Parallel()
	s, w := newTree(t), newWorld(t)
	s.write(".zcode/cli/db/log", "")
	b := &openBase{baseAt(t, filepath.Join(s.dir, ".zcode", "cli", "db", "db.sqlite")), 1780000100000}
	for i := range 60 {
		b.do(fmt.Sprintf("CREATE TABLE a_%d (id text PRIMARY KEY, %s text)", i, strings.Repeat("long_", 20)))
	}
	b.do("CREATE TABLE session (id text PRIMARY KEY, project_id text, workspace_id text, parent_id text, directory text, path text, title text, version text, time_created integer, time_updated integer, time_archived integer, task_type text)")
	b.do("CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer, time_updated integer, data text NOT NULL, sequence integer)")
	b.do("CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, time_created integer, time_updated integer, data text NOT NULL, sequence integer)")
	b.do("CREATE TABLE model_usage (id text PRIMARY KEY, session_id text NOT NULL, input_tokens integer)")
	b.do("INSERT INTO session VALUES ('sess_a', 'p', 'w', NULL, '/home/ada/shop', '/home/ada/shop', 'Mend the basket', '0.16.9', 1, 1, NULL, 'interactive')")
	b.do("INSERT INTO model_usage VALUES ('u1', 'sess_a', 1000)")
	message := func(id, data, part string) {
		b.do("INSERT INTO message VALUES (?, 'sess_a', 1780000100000, 1780000100000, ?, 0)", id, data)
		b.do("INSERT INTO part VALUES (?, ?, 'sess_a', 1780000100000, 1780000100000, ?, 0)", "prt_"+id, id, part)
	}
	message("msg_1", `{"role":"user","time":{"created":1780000100000},"model":{}}`, `{"type":"text","text":"mend the basket"}`)
	message("msg_2", `{"role":"assistant","time":{"created":1780000100000},"modelID":"GLM-5.3","providerID":"builtin:zai","cost":0,"tokens":{"total":1020,"input":1000,"output":20,"reasoning":5,"cache":{"read":900,"write":40}}}`,
		`{"type":"step-finish","reason":"stop","cost":0,"tokens":{"total":1020,"input":1000,"output":20,"reasoning":5,"cache":{"read":900,"write":40}}}`)
	w.ingest("home", s.dir, ".")
	want := counts{runs: 1, conversations: 1, events: 1, in: 60, out: 20}
	w.opencode("begun", want)
	b.do("DELETE FROM model_usage")
	message("msg_3", `{"role":"user","time":{"created":1780000100000},"model":{}}`, `{"type":"text","text":"and the shelf"}`)
	w.ingest("home", s.dir, ".")
	want.events++
	w.opencode("gone on", want)
	if n := len(w.versions(".zcode/cli/db/db.sqlite/sess_a/msg_3.ndjson")); n != 1 {
		t.Errorf("%d versions of its message, want 1", n)
	}
}
