package ingest_test

import (
	"fmt"
	"strings"
	"testing"
)

// The tables of Crush's first migration, with its triggers, and what later ones added.
const (
	crushFirst = `CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT NOT NULL, message_count INTEGER NOT NULL DEFAULT 0,
			prompt_tokens INTEGER NOT NULL DEFAULT 0, completion_tokens INTEGER NOT NULL DEFAULT 0, cost REAL NOT NULL DEFAULT 0.0, updated_at INTEGER NOT NULL, created_at INTEGER NOT NULL);
		CREATE TABLE files (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, path TEXT NOT NULL, content TEXT NOT NULL);
		CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, role TEXT NOT NULL, parts BLOB NOT NULL default '[]', model TEXT,
			created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, finished_at INTEGER, FOREIGN KEY (session_id) REFERENCES sessions (id) ON DELETE CASCADE);
		CREATE INDEX idx_messages_session_id ON messages (session_id);
		CREATE TRIGGER count_messages AFTER INSERT ON messages BEGIN UPDATE sessions SET message_count = message_count + 1 WHERE id = new.session_id; END`
	crushLater = `ALTER TABLE sessions ADD COLUMN summary_message_id TEXT;
		ALTER TABLE messages ADD COLUMN provider TEXT;
		ALTER TABLE messages ADD COLUMN is_summary_message INTEGER DEFAULT 0 NOT NULL;
		ALTER TABLE sessions ADD COLUMN todos TEXT;
		ALTER TABLE messages ADD COLUMN prism_model_id TEXT;
		CREATE TABLE read_files (session_id TEXT NOT NULL, path TEXT NOT NULL, read_at INTEGER NOT NULL)`
)

const (
	crushA     = "c0000000-0000-4000-8000-00000000000a"
	crushStart = 1790000000
)

func (b *base) crushSession(id string, parent any) {
	b.do("INSERT INTO sessions (id, parent_session_id, title, updated_at, created_at) VALUES (?, ?, 'Mend the basket', ?, ?)", id, parent, crushStart, crushStart)
}

func crushMessage(n int) string { return fmt.Sprintf("d0000000-0000-4000-8000-%012d", n) }

// crushSays adds a message with the number n, which is also its time.
func (b *base) crushSays(session string, n int, role, parts string) {
	b.do("INSERT INTO messages (id, session_id, role, parts, model, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
		crushMessage(n), session, role, parts, map[string]string{"assistant": "claude-sonnet-4-5"}[role], crushStart+n, crushStart+n)
}

// crushSpends adds to what a session cost, at the time n.
func (b *base) crushSpends(session string, cost float64, n int) {
	b.do("UPDATE sessions SET cost = cost + ?, prompt_tokens = 9000, completion_tokens = 20, updated_at = ? WHERE id = ?", cost, crushStart+n, session)
}

func crushText(text string) string {
	return fmt.Sprintf(`[{"type":"text","data":{"text":%q}},{"type":"finish","data":{"reason":"end_turn","time":0}}]`, text)
}

// TestLifeCrush has a database whose program receives an answer, starts a sub-agent, adds columns, and forgets a session.
func TestLifeCrush(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	const file = "shop/.crush/crush.db"
	b := newBase(s, file, crushFirst)
	b.crushSession(crushA, nil)
	b.crushSession("c0000000-0000-4000-8000-00000000000b", nil) // nobody says anything in it
	b.crushSays(crushA, 1, "user", crushText("mend the basket"))
	b.crushSays(crushA, 2, "assistant", `[]`)
	want := counts{runs: 1, conversations: 1, events: 1}
	w.ingestAndCheck("a prompt", "crush", s.dir, want, 3, 0, 0)

	// The answer is received piece by piece: the same row is written anew.
	b.do("UPDATE messages SET parts = ?, updated_at = ? WHERE id = ?", `[{"type":"text","data":{"text":"loo"}}]`, crushStart+2, crushMessage(2))
	want.events = 2
	w.ingestAndCheck("a piece", "crush", s.dir, want, 0, 0, 1)
	call := fmt.Sprintf(`[{"type":"text","data":{"text":"looking"}},{"type":"tool_call","data":{"id":"call_0","name":"agent","input":%q,"finished":true}},{"type":"finish","data":{"reason":"tool_use","time":1}}]`, `{"prompt":"count"}`)
	b.do("UPDATE messages SET parts = ?, updated_at = ? WHERE id = ?", call, crushStart+3, crushMessage(2))
	b.crushSpends(crushA, 0.25, 3)
	want.events, want.calls, want.cost = 3, 1, 250000
	w.ingestAndCheck("the answer", "crush", s.dir, want, 0, 0, 2)

	// A sub-agent costs, and then its parent says that it cost that, too.
	child := crushMessage(2) + "$$call_0"
	b.crushSession(child, crushA)
	b.crushSays(child, 4, "user", crushText("count"))
	b.crushSays(child, 5, "assistant", crushText("41"))
	b.crushSpends(child, 0.1, 5)
	b.crushSpends(crushA, 0.1, 6)
	b.crushSays(crushA, 6, "tool", `[{"type":"tool_result","data":{"tool_call_id":"call_0","name":"agent","content":"41","is_error":false}}]`)
	want.conversations, want.links, want.events, want.results, want.cost = 2, 1, 6, 1, 350000
	w.ingestAndCheck("a sub-agent", "crush", s.dir, want, 2, 1, 1)
	checkModel := func() {
		t.Helper()
		if got := w.query("SELECT model || ' ' || title FROM v_conversations WHERE verdict = 'counted'"); strings.Join(got, ",") != "claude-sonnet-4-5 Mend the basket,claude-sonnet-4-5 Mend the basket" {
			t.Errorf("conversations %q", got)
		}
	}
	checkModel()

	b.do(crushLater)
	b.crushSays(crushA, 7, "assistant", crushText("a summary of the basket"))
	b.do("UPDATE messages SET is_summary_message = 1, model = 'prism', prism_model_id = 'claude-sonnet-4-5' WHERE id = ?", crushMessage(7)) // a router chose it
	b.do("UPDATE sessions SET summary_message_id = ?, updated_at = ? WHERE id = ?", crushMessage(7), crushStart+7, crushA)
	b.crushSays(crushA, 8, "user", "")
	b.do("UPDATE messages SET parts = ? WHERE id = ?", zstdFrame(crushText("and the shelf")), crushMessage(8)) // as a variant of the program stores it
	want.events = 8
	w.ingestAndCheck("later", "crush", s.dir, want)
	if got := w.query("SELECT role FROM v_events WHERE kind = 'system' AND counted"); len(got) != 1 {
		t.Errorf("%d summaries", len(got))
	}
	checkModel()
	late := newWorld(t)
	late.ingestAndCheck("late", "crush", s.dir, want)

	// A copy of the project goes on, then the original does so, too, and is deleted.
	b.do("VACUUM INTO ?", s.dir+"/copy.db")
	c := newBase(s, "inn/.crush/crush.db", "ATTACH '"+s.dir+"/copy.db' AS old; CREATE TABLE sessions AS SELECT * FROM old.sessions; CREATE TABLE messages AS SELECT * FROM old.messages")
	s.remove("copy.db")
	c.crushSays(crushA, 20, "user", crushText("and the inn"))
	want.events++
	w.ingestAndCheck("a copy", "crush", s.dir, want)
	b.crushSays(crushA, 21, "user", crushText("and the floor"))
	want.events++
	want.conversations++
	w.ingestAndCheck("both go on", "crush", s.dir, want)
	b.do("PRAGMA foreign_keys = ON; DELETE FROM sessions WHERE id = ?", crushA)
	w.ingestAndCheck("deleted", "crush", s.dir, want, 0, 0, 0)
}

// TestLifeCrushEarly has the database of the program's earlier name, whose sub-agents are called like their calls.
func TestLifeCrushEarly(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	for i, project := range []string{"shop", "inn"} {
		b := newBase(s, project+"/.opencode/opencode.db", crushFirst)
		session := fmt.Sprintf("c0000000-0000-4000-8000-%012d", i)
		b.crushSession(session, nil)
		b.crushSays(session, 10*i+1, "user", crushText("mend the "+project))
		b.crushSession("call_0", session)
		b.crushSays("call_0", 10*i+2, "user", crushText("look at the "+project))
	}
	w.ingestAndCheck("early", "crush", s.dir, counts{runs: 2, conversations: 4, links: 2, events: 4})
}

// TestLifeCrushChanged has values and tables that no version of the program has written: what can be read is archived, and the whole database is kept.
func TestLifeCrushChanged(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	const file, whole = ".crush/crush.db", ".crush/crush.db/crush.db"
	b := newBase(s, file, crushFirst)
	b.crushSession(crushA, nil)
	b.crushSays(crushA, 1, "user", crushText("mend the basket"))
	other := strings.Replace(crushA, "a", "e", 1)
	b.crushSession(other, nil)
	b.crushSays(other, 2, "user", crushText("and the lid"))
	want := counts{runs: 2, conversations: 2, events: 2}
	s.date(file) // all that follows is in the log
	s.date(file + "-wal")
	w.ingestAndCheck("as usual", "crush", s.dir, want, 4, 0, 0)

	// A time that is none is no reason to miss a message.
	b.do("UPDATE sessions SET updated_at = '[]' WHERE id = ?", crushA)
	b.do("UPDATE messages SET updated_at = x'00ff', parts = ? WHERE id = ?", crushText("mend it well"), crushMessage(1))
	w.ingestAndCheck("odd values", "crush", s.dir, want, 0, 0, 2)

	check := func(what, reason string, stored ...int64) {
		t.Helper()
		r := w.ingest("home", s.dir, ".")
		if len(r.Problems) != 1 || !strings.Contains(r.Problems[0].Reason, reason) || !strings.HasSuffix(r.Problems[0].Reason, "is kept as "+whole) {
			t.Errorf("%s: problems %+v", what, r.Problems)
		}
		if got := []int64{r.New, r.Grown, r.Rewritten}; fmt.Sprint(got) != fmt.Sprint(stored) {
			t.Errorf("%s: new, grown, rewritten %v, want %v", what, got, stored)
		}
		if got := countsOf(w.totals().Formats["crush"]); got != want {
			t.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
		}
		w.checkReindex(what)
	}
	b.do("ALTER TABLE sessions RENAME COLUMN parent_session_id TO parent")
	b.crushSays(crushA, 3, "user", crushText("faster"))
	s.date(file + "-wal")
	check("renamed", "no such column: parent_session_id (1) (2 parts)", 1, 0, 0)
	check("the same again", "no such column", 0, 0, 0)
	b.crushSays(crushA, 4, "user", crushText("and neater"))
	check("grown", "no such column", 0, 0, 1)
	all := w.versions(whole)
	if len(all) != 2 || !strings.Contains(all[0], "faster") || strings.Contains(all[0], "neater") || !strings.Contains(all[1], "neater") {
		t.Errorf("%d versions of the whole", len(all))
	}

	b.do("ALTER TABLE sessions RENAME COLUMN parent TO parent_session_id")
	want.events = 4
	w.ingestAndCheck("known again", "crush", s.dir, want, 0, 1, 1)
}
