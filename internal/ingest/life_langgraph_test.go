package ingest_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The tables of LangGraph's saver for SQLite, before and after it had a column for the path of a task; and a table of the user's program.
const (
	graphCheckpoints = `CREATE TABLE checkpoints (thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id TEXT NOT NULL,
			parent_checkpoint_id TEXT, type TEXT, checkpoint BLOB, metadata BLOB, PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id));
		CREATE TABLE customers (name TEXT, password TEXT);
		INSERT INTO customers VALUES ('ada', 'a-password-of-ada');`
	graphWrites = `CREATE TABLE writes (thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id TEXT NOT NULL, task_id TEXT NOT NULL,
			idx INTEGER NOT NULL, channel TEXT NOT NULL, type TEXT, value BLOB, PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx));
		PRAGMA wal_checkpoint`
	graphPath = `ALTER TABLE writes ADD COLUMN task_path TEXT NOT NULL DEFAULT ''`
)

// packValue writes a value as MessagePack: a map is a list of keys and values.
func packValue(v any) (b []byte) {
	switch v := v.(type) {
	case nil:
		return []byte{0xc0}
	case int:
		return binary.BigEndian.AppendUint32([]byte{0xce}, uint32(v))
	case string:
		return append(binary.BigEndian.AppendUint16([]byte{0xda}, uint16(len(v))), v...)
	case packed:
		return v
	case fields:
		b = binary.BigEndian.AppendUint16([]byte{0xde}, uint16(len(v)/2))
		for _, each := range v {
			b = append(b, packValue(each)...)
		}
	case []any:
		b = binary.BigEndian.AppendUint16([]byte{0xdc}, uint16(len(v)))
		for _, each := range v {
			b = append(b, packValue(each)...)
		}
	}
	return b
}

// packed is a value as MessagePack, and fields are the keys and values of a map.
type (
	packed []byte
	fields []any
)

// graphObject writes an object of LangChain's, as LangGraph does.
func graphObject(module, class string, members fields) packed {
	body := packValue([]any{"langchain_core.messages." + module, class, members, "model_validate_json"})
	return append(binary.BigEndian.AppendUint32([]byte{0xc9}, uint32(len(body))), append([]byte{5}, body...)...)
}

// graphID is an id of 36 characters, which LangChain gives messages.
func graphID(n int) string { return fmt.Sprintf("b0000000-0000-4000-8000-%012d", n) }

func graphSaid(n int, text string) packed {
	return graphObject("human", "HumanMessage", fields{"content", text, "type", "human", "id", graphID(n)})
}

// graphAnswer is an answer with n tokens of input and a tenth of output, and a call if it names a tool.
func graphAnswer(n int, text, call string) packed {
	calls := []any{}
	if call != "" {
		calls = append(calls, fields{"name", call, "args", fields{"lid", n}, "id", fmt.Sprint("call_", n), "type", "tool_call"})
	}
	return graphObject("ai", "AIMessage", fields{"content", text, "type", "ai", "id", "lc_run--" + graphID(n), "tool_calls", calls,
		"response_metadata", fields{"model_name", "gpt-5.2"}, "usage_metadata", fields{"input_tokens", n * 10, "output_tokens", n, "total_tokens", n * 11}})
}

func graphResult(n, call int, text string) packed {
	return graphObject("tool", "ToolMessage", fields{"content", text, "type", "tool", "id", graphID(n), "tool_call_id", fmt.Sprint("call_", call), "status", "success"})
}

// graphAt is the id of a checkpoint of second n: a UUID of version 6.
func graphAt(n int) string {
	at := time.Date(2026, 6, 15, 10, 0, n, 0, time.UTC).UnixMicro()*10 + 122_192_928_000_000_000
	h := fmt.Sprintf("%015x", at)
	return h[:8] + "-" + h[8:12] + "-6" + h[12:] + "-8001-0123456789ab"
}

// graph is a thread in one of its graphs. It has the state that each checkpoint repeats.
type graph struct {
	b         *base
	thread    string
	namespace string
	state     []any
	last      int  // the second of the last checkpoint, 0 if there is none
	bare      bool // checkpoints have no messages
}

// saves adds a checkpoint of second n with all messages so far.
func (g *graph) saves(n int, source string) {
	var parent any
	if g.last > 0 {
		parent = graphAt(g.last)
	}
	g.last = n
	values := fields{"files", fields{"lid.txt", "a-secret-of-ada"}, "messages", g.state, "__pregel_tasks", g.state}
	if g.bare {
		values = fields{}
	}
	b := packValue(fields{"v", 4, "ts", "2026-06-15T10:00:00+00:00", "id", graphAt(n), "channel_values", values, "channel_versions", fields{}})
	g.b.do("INSERT OR REPLACE INTO checkpoints VALUES (?, ?, ?, ?, 'msgpack', ?, CAST(? AS BLOB))", g.thread, g.namespace, graphAt(n), parent, b,
		fmt.Sprintf(`{"source": %q, "step": %d, "parents": {}, "agent_name": "coder", "cwd": "/home/ada/basket", "token": "a-token-of-ada"}`, source, n))
}

// writes adds what a step after the last checkpoint wrote, and to which channels of LangGraph's own.
func (g *graph) writes(messages ...any) {
	for i, value := range []any{messages, append([]any{}, g.state...), nil} {
		g.b.do("INSERT OR IGNORE INTO writes (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, value) VALUES (?, ?, ?, ?, ?, ?, 'msgpack', ?)",
			g.thread, g.namespace, graphAt(g.last), "a0000000-0000-0000-0000-000000000001", i, []string{"messages", "__pregel_tasks", "branch:to:model"}[i], packValue(value))
	}
	g.state = append(g.state, messages...)
}

// runs runs a graph with a prompt at second n, which has an answer: four checkpoints.
func (g *graph) runs(n int, prompt, answer packed) {
	g.saves(n, "input")
	g.writes(prompt)
	g.saves(n+1, "loop")
	g.writes(answer)
	g.saves(n+2, "loop")
}

// checkSecrets fails if an original has what only states, tables and metadata of the program have.
func checkSecrets(t *testing.T, w *world) {
	for _, path := range w.query("SELECT path FROM v_files") {
		for _, content := range w.versions(path) {
			for _, secret := range []string{"a-secret-of-ada", "a-password-of-ada", "a-token-of-ada"} {
				if strings.Contains(content, secret) {
					t.Errorf("%s has %s", path, secret)
				}
			}
		}
	}
}

const deepThread = "019f3a00-0000-7000-8000-000000000001"

// TestLifeDeepAgents has a thread that goes on while each checkpoint repeats it, calls a sub-agent, moves to another place with its database, has its checkpoints
// made smaller by a new version, and is deleted.
func TestLifeDeepAgents(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	b := newBase(s, ".deepagents/sessions.db", graphCheckpoints+graphWrites)
	s.write(".deepagents/.state/auth.json", `{"key":"a-secret-of-ada"}`)
	g := &graph{b: b, thread: deepThread}
	g.runs(1, graphSaid(1, "mend the basket"), graphAnswer(2, "I look.", "task"))
	want := counts{runs: 1, conversations: 1, events: 3, calls: 1, in: 20, out: 2}
	w.ingestAndCheck("begun", "langgraph", s.dir, want, 1, 0, 0)

	sub := &graph{b: b, thread: deepThread, namespace: "tools:c0000000-0000-4000-8000-000000000001"}
	sub.runs(4, graphSaid(3, "look at it"), graphAnswer(4, "a hole", ""))
	g.writes(graphResult(5, 2, "a hole"))
	g.saves(7, "loop")
	g.writes(graphAnswer(6, "It has a hole.", ""))
	g.saves(8, "loop")
	want.conversations, want.events, want.results, want.in, want.out, want.links = 2, 7, 1, 120, 12, 1
	w.ingestAndCheck("with a sub-agent", "langgraph", s.dir, want, 0, 1, 0)

	// A new version keeps the database elsewhere, and has a column more and messages in few checkpoints.
	b.do("PRAGMA wal_checkpoint(TRUNCATE)")
	b.Close()
	if err := os.Rename(filepath.Join(s.dir, ".deepagents/sessions.db"), filepath.Join(s.dir, ".deepagents/.state/sessions.db")); err != nil {
		t.Fatal(err)
	}
	b = baseAt(t, filepath.Join(s.dir, ".deepagents/.state/sessions.db"))
	b.do(graphPath)
	g.b, g.bare = b, true
	g.runs(11, graphSaid(7, "and the lid"), graphAnswer(8, "as well", ""))
	want.events, want.in, want.out = 9, 200, 20
	w.ingestAndCheck("moved", "langgraph", s.dir, want)
	newWorld(t).ingestAndCheck("fresh", "langgraph", s.dir, want)

	b.do("DELETE FROM checkpoints; DELETE FROM writes")
	w.ingestAndCheck("deleted", "langgraph", s.dir, want, 0, 0, 0)
	checkSecrets(t, w)
	if got := w.query("SELECT agent || ' ' || project || ' ' || title || ' ' || model FROM v_runs"); fmt.Sprint(got) != "[coder /home/ada/basket mend the basket gpt-5.2]" {
		t.Errorf("runs %q", got)
	}
}

// TestLifeLangGraph has a program whose threads go back and on from there, are copied with the database, are deleted and begun again, and whose graph calls
// another with all messages.
func TestLifeLangGraph(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	b := newBase(s, "app/checkpoints.sqlite", graphCheckpoints+graphWrites)
	g := &graph{b: b, thread: "customer"}
	g.runs(1, graphSaid(1, "how wide is it"), graphAnswer(2, "41", ""))
	want := counts{runs: 1, conversations: 1, events: 2, in: 20, out: 2}
	w.ingestAndCheck("begun", "langgraph", s.dir, want, 1, 0, 0)

	// From the second checkpoint on it answers again.
	g.state, g.last = g.state[:1], 2
	g.b.do("INSERT INTO writes VALUES ('customer', '', ?, 'a0000000-0000-0000-0000-000000000002', 0, 'messages', 'msgpack', ?)", graphAt(2), packValue([]any{graphAnswer(3, "42", "")}))
	g.state = append(g.state, graphAnswer(3, "42", ""))
	g.saves(5, "loop")
	want.events, want.in, want.out = 3, 50, 5
	w.ingestAndCheck("answered again", "langgraph", s.dir, want, 0, 1, 0)

	b.do("VACUUM INTO ?", s.dir+"/backup.db")
	w.ingestAndCheck("a copy", "langgraph", s.dir, want)
	g.runs(10, graphSaid(4, "thanks"), graphAnswer(5, "as you wish", ""))
	other := &graph{b: baseAt(t, s.dir+"/backup.db"), thread: "customer", state: append([]any{}, g.state[:2]...), last: 5}
	other.runs(20, graphSaid(6, "and the lid"), graphAnswer(7, "43", ""))
	want.events, want.in, want.out = 7, 170, 17
	w.ingestAndCheck("both go on", "langgraph", s.dir, want, 0, 2, 0)

	// A graph that is called with all messages gives them back, and its own.
	sub := &graph{b: b, thread: "customer", namespace: "team:c0000000-0000-4000-8000-000000000002"}
	sub.saves(31, "input")
	sub.writes(g.state...)
	sub.saves(32, "loop")
	sub.writes(graphAnswer(8, "and round", ""))
	sub.saves(33, "loop")
	g.writes(sub.state...)
	g.saves(34, "loop")
	want.conversations, want.events, want.links, want.in, want.out = 2, 8, 1, 250, 25
	w.ingestAndCheck("called", "langgraph", s.dir, want, 0, 1, 0)
	newWorld(t).ingestAndCheck("fresh", "langgraph", s.dir, want)

	b.do("DELETE FROM checkpoints; DELETE FROM writes")
	g = &graph{b: b, thread: "customer"}
	g.runs(40, graphSaid(11, "how long is it"), graphAnswer(12, "51", ""))
	want.runs, want.conversations, want.events, want.in, want.out = 2, 3, 10, 370, 37
	w.ingestAndCheck("begun again", "langgraph", s.dir, want, 1, 0, 0)
	checkSecrets(t, w)
}

// TestLifeLangGraphStates has threads whose messages are in checkpoints alone: of a program that has them saved at the end, which later saves each step; and
// one that begins with messages of another.
func TestLifeLangGraphStates(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	b := newBase(s, "app/exit.db", graphCheckpoints+graphWrites)
	g := &graph{b: b, thread: graphID(100)}
	g.state = []any{graphSaid(1, "how wide is it"), graphAnswer(2, "41", "")}
	g.saves(1, "loop")
	want := counts{runs: 1, conversations: 1, events: 2, in: 20, out: 2}
	w.ingestAndCheck("begun", "langgraph", s.dir, want, 1, 0, 0)
	g.state = append(g.state, graphSaid(3, "and how long"), graphAnswer(4, "51", ""))
	g.saves(2, "loop")
	want.events, want.in, want.out = 4, 60, 6
	w.ingestAndCheck("gone on", "langgraph", s.dir, want, 0, 0, 1)

	fork := &graph{b: b, thread: graphID(101), state: append([]any{}, g.state[:2]...)}
	fork.saves(10, "update")
	fork.runs(11, graphSaid(5, "and how high"), graphAnswer(6, "61", ""))
	want.runs, want.conversations, want.events, want.in, want.out, want.links = 2, 2, 6, 120, 12, 1
	w.ingestAndCheck("forked", "langgraph", s.dir, want, 2, 0, 0)

	g.runs(20, graphSaid(7, "thanks"), graphAnswer(8, "as you wish", ""))
	want.events, want.in, want.out = 8, 200, 20
	w.ingestAndCheck("each step", "langgraph", s.dir, want)
	checkSecrets(t, w)
}

// TestLangGraphWithoutMessages has a thread of many steps, none of which wrote a message, beside many threads that are saved at the end alone.
func TestLangGraphWithoutMessages(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	b := newBase(s, "app/graph.db", graphCheckpoints+graphWrites)
	const numbers = `WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 1000)`
	b.do(numbers + ` INSERT INTO checkpoints SELECT 'a', '', printf('%05d', n), printf('%05d', n - 1), 'json', '{}', '{"source":"loop"}' FROM n`)
	b.do(numbers + ` INSERT INTO writes SELECT 'a', '', printf('%05d', n), 'task', i, 'lid', 'json', '{}' FROM n, (SELECT 0 AS i UNION SELECT 1 UNION SELECT 2)`)
	b.do(numbers + ` INSERT INTO checkpoints SELECT 'b' || n, '', '1', NULL, 'json',
		'{"channel_values":{"messages":[{"lc":1,"type":"constructor","id":["langchain_core","messages","HumanMessage"],"kwargs":{"content":"hi"}}]}}', '{"source":"loop"}'
		FROM n WHERE n <= 200`)
	w.ingest("home", s.dir, ".")
	if got, want := countsOf(w.totals().Formats["langgraph"]), (counts{runs: 200, conversations: 200, events: 200}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestDamagedMsgpack: a value that is none is a problem of its thread, and hides no other.
func TestDamagedMsgpack(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	g := &graph{b: newBase(s, "app/graph.db", graphCheckpoints+graphWrites), thread: "a"}
	g.runs(1, graphSaid(1, "hello"), graphAnswer(2, "hi", ""))
	g.b.do("UPDATE writes SET value = x'c1' WHERE rowid = 1")
	w.ingest("home", s.dir, ".")
	if got, want := countsOf(w.totals().Formats["langgraph"]), (counts{runs: 1, conversations: 1, events: 1, in: 20, out: 2, problems: 1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestLifeLangGraphJavaScript has threads of programs in JavaScript, which writes JSON; in early versions as text, under another type.
func TestLifeLangGraphJavaScript(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	b := newBase(s, "app/js.db", graphCheckpoints+graphWrites)
	object := func(class, members string) string {
		return fmt.Sprintf(`{"lc":1,"type":"constructor","id":["langchain_core","messages",%q],"kwargs":{%s,"additional_kwargs":{},"response_metadata":{}}}`, class, members)
	}
	said := func(n int) string {
		return object("HumanMessage", fmt.Sprintf(`"content":"how wide is it","id":%q`, graphID(n)))
	}
	answer := func(n int) string {
		return object("AIMessage", fmt.Sprintf(`"content":"41","id":%q,"tool_calls":[],"usage_metadata":{"input_tokens":10,"output_tokens":1,"total_tokens":11}`, graphID(n)))
	}
	for i, typ := range []any{"json", "Checkpoint", nil} {
		thread := graphID(200 + i)
		cast := "CAST(? AS BLOB)"
		if typ == "Checkpoint" {
			cast = "?"
		}
		b.do("INSERT INTO checkpoints VALUES (?, '', ?, NULL, ?, "+cast+", "+cast+")", thread, graphAt(1), typ, `{"v":4,"channel_values":{}}`, `{"source":"input","step":-1}`)
		for idx, value := range []string{"[" + said(10*i+1) + "]", "[" + answer(10*i+2) + "]"} {
			b.do("INSERT INTO writes VALUES (?, '', ?, ?, ?, ?, ?, "+cast+")", thread, graphAt(1), "a0000000-0000-0000-0000-000000000001", idx, []string{"messages", "answers"}[idx], typ, value)
		}
		ended := graphID(300 + i) // and one that was saved at the end alone
		b.do("INSERT INTO checkpoints VALUES (?, '', ?, NULL, ?, "+cast+", "+cast+")", ended, graphAt(1), typ,
			`{"v":4,"channel_values":{"messages":[`+said(10*i+3)+","+answer(10*i+4)+`]}}`, `{"source":"loop","step":1}`)
	}
	w.ingestAndCheck("begun", "langgraph", s.dir, counts{runs: 6, conversations: 6, events: 12, in: 60, out: 6}, 6, 0, 0)
}
