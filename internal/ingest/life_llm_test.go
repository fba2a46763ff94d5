package ingest_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// base is a database with the tables of a program, which writes it while it is read.
type base struct {
	t *testing.T
	*sql.DB
}

func newBase(s *tree, name, schema string) *base {
	s.write(filepath.ToSlash(filepath.Dir(name))+"/notes.txt", "")
	b := baseAt(s.t, filepath.Join(s.dir, name))
	b.do(schema)
	return b
}

func baseAt(t *testing.T, path string) *base {
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	b := &base{t, db}
	b.do("PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 0")
	return b
}

func (b *base) do(query string, args ...any) {
	b.t.Helper()
	if _, err := b.ExecContext(context.Background(), query, args...); err != nil {
		b.t.Fatal(query, err)
	}
}

// ingestAndCheck ingests and expects the totals of a format, the numbers of new, grown and rewritten originals, that a second ingest
// stores nothing, and that a reindex gives the same index.
func (w *world) ingestAndCheck(what, format, dir string, want counts, stored ...int64) {
	w.t.Helper()
	r := w.ingest("home", dir, ".")
	if got := []int64{r.New, r.Grown, r.Rewritten}; len(stored) > 0 && fmt.Sprint(got) != fmt.Sprint(stored) {
		w.t.Errorf("%s: new, grown, rewritten %v, want %v", what, got, stored)
	}
	if len(r.Problems) > 0 {
		w.t.Errorf("%s: %+v", what, r.Problems)
	}
	if got := countsOf(w.totals().Formats[format]); got != want {
		w.t.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
	}
	if r := w.ingest("home", dir, "."); r.New+r.Rewritten+r.Grown != 0 {
		w.t.Errorf("%s: nothing changed, and %+v was stored", what, r)
	}
	w.checkReindex(what)
}

// The tables of llm 0.5, what 0.13 to 0.27 added, and those of 0.32.
const (
	llmFirst = `CREATE TABLE [_llm_migrations] ([name] TEXT PRIMARY KEY, [applied_at] TEXT);
		INSERT INTO _llm_migrations VALUES ('m009_delete_logs_table_if_empty', ''), ('m010_create_new_log_tables', '');
		CREATE TABLE [conversations] ([id] TEXT PRIMARY KEY, [name] TEXT, [model] TEXT);
		CREATE TABLE [responses] ([id] TEXT PRIMARY KEY, [model] TEXT, [prompt] TEXT, [system] TEXT, [prompt_json] TEXT, [options_json] TEXT, [response] TEXT,
			[response_json] TEXT, [conversation_id] TEXT REFERENCES [conversations]([id]), [duration_ms] INTEGER, [datetime_utc] TEXT)`
	llmLater = `ALTER TABLE responses ADD COLUMN input_tokens INTEGER;
		ALTER TABLE responses ADD COLUMN output_tokens INTEGER;
		ALTER TABLE responses ADD COLUMN token_details TEXT;
		ALTER TABLE responses ADD COLUMN resolved_model TEXT;
		CREATE TABLE attachments (id TEXT PRIMARY KEY, type TEXT, path TEXT, url TEXT, content BLOB);
		CREATE TABLE prompt_attachments (response_id TEXT, attachment_id TEXT, "order" INTEGER, PRIMARY KEY (response_id, attachment_id));
		CREATE TABLE fragments (id INTEGER PRIMARY KEY, hash TEXT, content TEXT, datetime_utc TEXT, source TEXT);
		CREATE TABLE prompt_fragments (response_id TEXT, fragment_id INTEGER, "order" INTEGER, PRIMARY KEY (response_id, fragment_id, "order"));
		CREATE TABLE system_fragments (response_id TEXT, fragment_id INTEGER, "order" INTEGER, PRIMARY KEY (response_id, fragment_id, "order"));
		CREATE TABLE tool_calls (id INTEGER PRIMARY KEY, response_id TEXT, tool_id INTEGER, name TEXT, arguments TEXT, tool_call_id TEXT);
		CREATE TABLE tool_results (id INTEGER PRIMARY KEY, response_id TEXT, tool_id INTEGER, name TEXT, output TEXT, tool_call_id TEXT)`
	llmTools = `ALTER TABLE responses ADD COLUMN reasoning TEXT;
		ALTER TABLE tool_results ADD COLUMN instance_id INTEGER;
		ALTER TABLE tool_results ADD COLUMN exception TEXT;
		CREATE TABLE tool_results_attachments (tool_result_id INTEGER, attachment_id TEXT, "order" INTEGER, PRIMARY KEY (tool_result_id, attachment_id))`
	llmStore = `CREATE TABLE messages (hash TEXT PRIMARY KEY, parent_hash TEXT, role TEXT, provider_metadata TEXT);
		CREATE INDEX by_parent ON messages (parent_hash);
		CREATE TABLE parts (id INTEGER PRIMARY KEY, message_hash TEXT, position INTEGER, type TEXT, tool_name TEXT, text TEXT, payload TEXT);
		CREATE UNIQUE INDEX by_message ON parts (message_hash, position);
		CREATE TABLE part_attachments (part_id INTEGER, attachment_id TEXT, "order" INTEGER, PRIMARY KEY (part_id, attachment_id, "order"));
		CREATE TABLE part_fragments (part_id INTEGER, fragment_id INTEGER, "order" INTEGER, PRIMARY KEY (part_id, fragment_id, "order"));
		CREATE TABLE threads (id TEXT PRIMARY KEY, name TEXT, tip_message_hash TEXT, forked_from TEXT, datetime_utc TEXT);
		CREATE TABLE turns (id TEXT PRIMARY KEY, thread_id TEXT, parent_message_hash TEXT, tip_message_hash TEXT, model TEXT, resolved_model TEXT, options_json TEXT,
			schema_id TEXT, input_tokens INTEGER, output_tokens INTEGER, token_details TEXT, duration_ms INTEGER, datetime_utc TEXT);
		CREATE INDEX by_thread ON turns (thread_id)`
)

const llmDir = ".config/io.datasette.llm/"

// response writes one as versions before 0.32 did, with the columns that there are.
func (b *base) response(id, conversation, prompt, answer string) {
	b.do("INSERT OR IGNORE INTO conversations VALUES (?, 'Baskets', 'gpt-5')", conversation)
	b.do("INSERT INTO responses (id, model, prompt, response, conversation_id, duration_ms, datetime_utc) VALUES (?, 'gpt-5', ?, ?, ?, 800, ?)",
		id, prompt, answer, conversation, "2026-05-01T10:00:0"+id[len(id)-1:]+".000000+00:00")
}

// messages writes a chain below a message, as "role:text" and so on, and gives its end. The text is the hash.
func (b *base) messages(parent string, chain ...string) string {
	for _, m := range chain {
		role, text, _ := strings.Cut(m, ":")
		hash := strings.TrimPrefix(parent+"/"+text, "/")
		b.do("INSERT OR IGNORE INTO messages VALUES (?, nullif(?, ''), ?, NULL)", hash, parent, role)
		b.do("INSERT OR IGNORE INTO parts (message_hash, position, type, text) VALUES (?, 0, 'text', ?)", hash, text)
		parent = hash
	}
	return parent
}

// turn writes a turn of a thread, which moves the thread to its end.
func (b *base) turn(id, thread, parent, tip string) {
	b.do("INSERT OR IGNORE INTO threads VALUES (?, 'Baskets', NULL, NULL, '2026-08-01 10:00:00.000000+00:00')", thread)
	b.do("INSERT INTO turns (id, thread_id, parent_message_hash, tip_message_hash, model, input_tokens, output_tokens, token_details, datetime_utc) VALUES (?, ?, ?, ?, 'gpt-5', 10, 3, ?, ?)",
		id, thread, parent, tip, `{"prompt_tokens_details": {"cached_tokens": 4}}`, "2026-08-01T10:00:0"+id[len(id)-1:]+".000000+00:00")
	b.do("UPDATE threads SET tip_message_hash = ? WHERE id = ?", tip, thread)
}

// TestLifeLLM has a database that its program moves from version to version, a conversation that goes on in the new tables, and forks.
func TestLifeLLM(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	s.write(llmDir+"keys.json", `{"openai": "sk-of-ada"}`)
	b := newBase(s, llmDir+"logs.db", llmFirst)
	b.response("r1", "c1", "mend the basket", "mended")
	want := counts{runs: 1, conversations: 1, events: 2}
	w.ingestAndCheck("0.5", "llm-logs", s.dir, want, 1, 0, 0)
	b.do(llmLater)
	b.response("r2", "c1", "and the shelf?", "")
	b.do("UPDATE responses SET input_tokens = 20, output_tokens = 5 WHERE id = 'r2'")
	b.do(`INSERT INTO tool_calls VALUES (1, 'r2', NULL, 'look', '{"path": "shelf.go"}', 'k1')`)
	b.response("r3", "c1", "", "dusty")
	b.do("INSERT INTO tool_results VALUES (1, 'r3', NULL, 'look', 'a heron', 'k1')")
	b.do("INSERT INTO attachments VALUES ('sha1', 'image/png', NULL, 'https://example.net/shelf.png', x'00ff')")
	b.do("INSERT INTO prompt_attachments VALUES ('r2', 'sha1', 0)")
	b.do("INSERT INTO fragments VALUES (7, 'sha2', 'Of the walrus, a novel.', NULL, 'walrus.txt')")
	b.do("INSERT INTO prompt_fragments VALUES ('r2', 7, 0)")
	want.events, want.calls, want.results, want.in, want.out = 6, 1, 1, 20, 5
	w.ingestAndCheck("tools", "llm-logs", s.dir, want, 2, 0, 1)
	b.do(llmTools)
	b.response("r4", "c2", "fly", "")
	b.response("r5", "c2", "", "it fell")
	b.do("INSERT INTO tool_calls VALUES (2, 'r4', NULL, 'fly', '{}', 'k2')")
	b.do("INSERT INTO tool_results VALUES (2, 'r5', NULL, 'fly', '', 'k2', NULL, 'TypeError: no wings')")
	b.do("INSERT INTO responses (id, model, prompt, response, datetime_utc) VALUES ('r6', 'gpt-5', 'of no conversation', 'yes', '2026-05-01T10:00:06+00:00')")
	want.runs, want.conversations, want.events, want.calls, want.results = 3, 3, 12, 2, 2
	w.ingestAndCheck("exceptions", "llm-logs", s.dir, want, 2, 0, 0)
	for query, answer := range map[string]string{
		"SELECT count(*) FROM v_tool_calls WHERE failed": "1", "SELECT count(*) FROM v_events WHERE path LIKE '%fragment-0.ndjson' AND NOT counted": "1",
	} {
		if got := w.query(query); len(got) != 1 || got[0] != answer {
			t.Errorf("%s: %q, want %q", query, got, answer)
		}
	}

	// The new tables come, and a conversation of before goes on in them: what was said is there again, under other names.
	b.do(llmStore)
	asked := b.messages("", "user:mend the basket", "assistant:mended", "user:well done")
	tip := b.messages(asked, "assistant:thanks")
	b.turn("t1", "c1", asked, tip)
	want.events, want.in, want.out = 14, 26, 8
	w.ingestAndCheck("0.32", "llm-logs", s.dir, want, 1, 0, 0)
	asked = b.messages(tip, "user:once more")
	b.turn("t2", "c1", asked, b.messages(asked, "assistant:and again"))
	want.events, want.in, want.out = 16, 32, 11
	w.ingestAndCheck("grown", "llm-logs", s.dir, want, 0, 1, 0)

	// A fork shares what was said before; another conversation that begins alike does, too, and asked for it again.
	b.do("INSERT INTO threads VALUES ('c3', 'fork', ?, 'c1', '2026-08-01 10:00:03+00:00')", tip)
	asked = b.messages(tip, "user:otherwise")
	b.turn("t3", "c3", asked, b.messages(asked, "assistant:so"))
	want.runs, want.conversations, want.links, want.events, want.in, want.out = 4, 4, 1, 18, 38, 14
	w.ingestAndCheck("forked", "llm-logs", s.dir, want, 1, 0, 0)
	hi := b.messages("", "user:hi")
	ho := b.messages(hi, "assistant:ho")
	b.turn("t4", "c4", hi, ho)
	b.turn("t5", "c5", hi, ho)
	want.runs, want.conversations, want.links, want.events, want.in, want.out = 6, 6, 2, 20, 50, 20
	w.ingestAndCheck("alike", "llm-logs", s.dir, want, 2, 0, 0)

	// A prompt is asked again, and the first answer is left: it was paid for, and is found.
	other := b.messages(hi, "assistant:hm")
	b.turn("t6", "c5", hi, other)
	want.events, want.in, want.out = 21, 56, 23
	w.ingestAndCheck("asked again", "llm-logs", s.dir, want, 0, 0, 1)
	b.do("INSERT INTO turns (id, model, input_tokens, output_tokens, datetime_utc) VALUES ('t7', 'gpt-5', 1, 1, '2026-08-01T10:00:07+00:00')")
	want.in, want.out = 57, 24
	want.runs++
	want.conversations++
	w.ingestAndCheck("of no thread", "llm-logs", s.dir, want, 1, 0, 0)

	for path, all := range w.allVersions() {
		for _, content := range all {
			if strings.Contains(content, "sk-of-ada") || strings.Contains(content, "SQLite format 3") {
				t.Errorf("%s should not be stored", path)
			}
		}
	}
	late := newWorld(t)
	late.ingestAndCheck("late", "llm-logs", s.dir, want)
}

// TestLifeLLMTwice has responses that were written to both kinds of tables, as some versions did, and a copy that the program made.
func TestLifeLLMTwice(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	b := newBase(s, llmDir+"logs.db", llmFirst+";"+llmLater+";"+llmTools+";"+llmStore)
	b.response("r1", "c1", "mend the basket", "mended")
	b.response("t2", "c1", "and the shelf", "dusty")
	b.do("UPDATE responses SET input_tokens = 10, output_tokens = 3")
	first := b.messages("", "user:mend the basket", "assistant:mended")
	asked := b.messages(first, "user:and the shelf")
	tip := b.messages(asked, "assistant:dusty")
	b.turn("t2", "c1", asked, tip)
	want := counts{runs: 1, conversations: 1, events: 4, in: 20, out: 6}
	w.ingestAndCheck("both", "llm-logs", s.dir, want, 2, 0, 0)
	asked = b.messages(tip, "user:thanks")
	b.turn("t3", "c1", asked, b.messages(asked, "assistant:welcome"))
	want.events, want.in, want.out = 6, 26, 9
	w.ingestAndCheck("only the new", "llm-logs", s.dir, want, 0, 1, 0)
	b.do("VACUUM INTO ?", filepath.Join(s.dir, "backup.db"))
	if r := w.ingest("home", s.dir, "."); r.Copies != 2 {
		t.Errorf("a backup has %d copies, want 2", r.Copies)
	}
	w.ingestAndCheck("a copy", "llm-logs", s.dir, want)
}

// TestLifeLLMFew has a database with the new tables alone, and no more columns than the format needs.
func TestLifeLLMFew(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	b := newBase(s, llmDir+"logs.db", `CREATE TABLE threads (id TEXT PRIMARY KEY, name TEXT, tip_message_hash TEXT, forked_from TEXT);
		CREATE TABLE turns (id TEXT PRIMARY KEY, thread_id TEXT, parent_message_hash TEXT, tip_message_hash TEXT, model TEXT, resolved_model TEXT, input_tokens INTEGER,
			output_tokens INTEGER, token_details TEXT, datetime_utc TEXT);
		CREATE TABLE messages (hash TEXT PRIMARY KEY, parent_hash TEXT, role TEXT);
		CREATE TABLE parts (message_hash TEXT, position INTEGER, type TEXT, tool_name TEXT, text TEXT, payload TEXT)`)
	b.do("INSERT INTO threads VALUES ('c1', 'Baskets', 'b', NULL), ('c2', 'fork', 'b', 'c1')")
	b.do("INSERT INTO messages VALUES ('a', NULL, 'user'), ('b', 'a', 'assistant')")
	b.do("INSERT INTO parts VALUES ('a', 0, 'text', NULL, 'mend the basket', NULL), ('b', 0, 'text', NULL, 'mended', NULL)")
	b.do("INSERT INTO turns VALUES ('t1', 'c1', 'a', 'b', 'gpt-5', NULL, 10, 3, NULL, '2026-08-01T10:00:00+00:00')")
	w.ingestAndCheck("few columns", "llm-logs", s.dir, counts{runs: 2, conversations: 2, events: 2, in: 10, out: 3, links: 1}, 2, 0, 0)
}

// TestLifeLLMLongIDs has conversations whose ids no file system takes for a name.
func TestLifeLLMLongIDs(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	b := newBase(s, llmDir+"logs.db", llmFirst)
	for _, id := range []string{strings.Repeat("x", 100_000), strings.Repeat("x", 99_999), strings.Repeat("y/", 3000) + "y", strings.Repeat("[", 250)} {
		b.do("INSERT INTO conversations VALUES (?, 'Baskets', 'gpt-5')", id)
		b.do("INSERT INTO responses (id, model, prompt, response, conversation_id, datetime_utc) VALUES (?, 'gpt-5', 'mend the basket', 'mended', ?, '2026-08-01T10:00:00')", id, id)
	}
	w.ingestAndCheck("long ids", "llm-logs", s.dir, counts{runs: 4, conversations: 4, events: 8}, 4, 0, 0)
	for _, path := range w.query("SELECT path FROM v_files") {
		for _, step := range strings.Split(path, "/") {
			if len(step) > 255 || len(path) > 2000 {
				t.Errorf("a path of %d bytes with a step of %d: %.60s", len(path), len(step), path)
			}
		}
	}
}

// TestLifeLLMRehashed has a database in which a new version of the program gives all messages new hashes.
func TestLifeLLMRehashed(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	b := newBase(s, llmDir+"logs.db", llmFirst)
	b.do(llmStore)
	asked := b.messages("", "user:mend the basket")
	tip := b.messages(asked, "assistant:mended")
	b.turn("t1", "h1", asked, tip)
	asked2 := b.messages(tip, "user:and the shelf")
	tip2 := b.messages(asked2, "assistant:dusty")
	b.turn("t2", "h1", asked2, tip2)
	want := counts{runs: 1, conversations: 1, events: 4, in: 12, out: 6}
	w.ingestAndCheck("told", "llm-logs", s.dir, want)
	for _, stmt := range []string{
		"UPDATE messages SET hash = 'new ' || hash, parent_hash = 'new ' || parent_hash", "UPDATE parts SET message_hash = 'new ' || message_hash",
		"UPDATE turns SET parent_message_hash = 'new ' || parent_message_hash, tip_message_hash = 'new ' || tip_message_hash",
		"UPDATE threads SET tip_message_hash = 'new ' || tip_message_hash",
	} {
		b.do(stmt)
	}
	w.ingestAndCheck("rehashed", "llm-logs", s.dir, want)
	b.turn("t3", "h1", b.messages("new "+tip2, "user:thanks"), b.messages("new "+tip2, "user:thanks", "assistant:welcome"))
	want.events, want.in, want.out = 6, 18, 9
	w.ingestAndCheck("gone on", "llm-logs", s.dir, want)
}
