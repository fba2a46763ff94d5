package ingest_test

import (
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

const (
	cursorA     = "0e000000-0000-4000-8000-00000000000a"
	cursorState = "Cursor/User/globalStorage/state.vscdb"
	cursorChat  = ".cursor/chats/0123456789abcdef0123456789abcdef/" + cursorA + "/store.db"
	cursorKey   = "c2VjcmV0IGtleSBvZiBhIGNpcGhlcg"
	cursorToken = "eyJhbGciOiJIUzI1NiJ9.tokenofaperson"
)

func cursorFile(project, session string) string {
	return ".cursor/projects/" + project + "/agent-transcripts/" + session + "/" + session + ".jsonl"
}

func cursorTurn(n int) string {
	return fmt.Sprintf(`{"role":"user","message":{"content":[{"type":"text","text":"<timestamp>Monday, Sep 14, 2026, 8:%02d AM (UTC+2)</timestamp>\n<user_query>\nmend basket %d\n</user_query>"}]}}
{"role":"assistant","message":{"content":[{"type":"text","text":"mended %d"},{"type":"tool_use","name":"Read","input":{"path":"/home/ada/shop/basket.go"}}]}}
{"type":"turn_ended","status":"success"}
`, n, n, n)
}

// TestLifeCursor has a transcript that grows, is in the directories of two workspaces, moves, and exists as text, too.
func TestLifeCursor(t *testing.T) {
	t.Parallel()
	l := newLife(t, "cursor")
	file := cursorFile("home-ada-shop", cursorA)
	l.write(file, cursorTurn(1))
	l.ingestAndCheck("said", counts{runs: 1, conversations: 1, events: 3, calls: 1})
	l.write(cursorFile("empty-window", cursorA), cursorTurn(1))
	l.ingestAndCheck("also of another window", counts{runs: 1, conversations: 1, events: 3, calls: 1})
	l.append(file, cursorTurn(2)+`{"role":"assistant","mess`)
	l.ingestAndCheck("grown and torn", counts{runs: 1, conversations: 1, events: 6, calls: 2, problems: 1})
	l.append(file, `age":{"content":[{"type":"text","text":"done"}]}}`+"\n")
	l.ingestAndCheck("complete", counts{runs: 1, conversations: 1, events: 7, calls: 2})
	l.write(strings.TrimSuffix(file, "l")[:len(file)-len(".jsonl")]+".txt", "user:\n<timestamp>Monday, Sep 14, 2026, 8:01 AM (UTC+2)</timestamp>\n<user_query>\nmend basket 1\n</user_query>\n\nassistant:\nmended 1\n")
	l.ingestAndCheck("as text", counts{runs: 1, conversations: 1, events: 7, calls: 2})
	l.write(strings.Replace(file, cursorA+".jsonl", "subagents/child.jsonl", 1), cursorTurn(3))
	l.ingestAndCheck("a child", counts{runs: 1, conversations: 2, events: 10, calls: 3, links: 1})
	l.checkFresh("as it is now")
	l.checkQuery("its place", "SELECT project FROM v_runs WHERE NOT child AND counted", "/home/ada/shop")
	l.checkQuery("its name", "SELECT title FROM v_conversations WHERE verdict = 'counted' AND NOT child", "mend basket 1")
	l.checkQuery("its time", "SELECT min(time) FROM v_events WHERE counted", "2026-09-14T06:01:00.000000Z")
	l.checkCopy("laptop", counts{runs: 1, conversations: 2, events: 10, calls: 3, links: 1})
	l.move(file, cursorFile("home-ada-barn", cursorA))
	l.ingestAndCheck("moved", counts{runs: 1, conversations: 2, events: 10, calls: 3, links: 1})
}

// cursorBase is the editor's database.
type cursorBase struct {
	*base
	now   int64
	heads []string
}

func newCursorBase(s *tree, name string) *cursorBase {
	s.write(filepath.ToSlash(filepath.Dir(name))+"/storage.json", "{}")
	return &cursorBase{base: baseAt(s.t, filepath.Join(s.dir, name)), now: 1780000000000}
}

func (b *cursorBase) tables() {
	b.do("CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
	b.do("CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
	b.do("INSERT INTO ItemTable VALUES ('cursorAuth/accessToken', ?), ('secret://x', ?)", cursorToken, cursorToken)
	b.put("agentKv:blob:00", cursorToken)
	b.put("composerDatabase:x", cursorToken)
}

func (b *cursorBase) put(key, value string) {
	b.do("INSERT INTO cursorDiskKV VALUES (?, ?)", key, value)
}

// composer writes the record of a conversation, as the program does after every message.
func (b *cursorBase) composer(id string) {
	b.now += 1000
	b.do("INSERT INTO cursorDiskKV VALUES (?, CAST(? AS BLOB))", "composerData:"+id, fmt.Sprintf(
		`{"_v":17,"composerId":%q,"name":"Mend the basket","createdAt":1780000000000,"lastUpdatedAt":%d,"modelConfig":{"modelName":"claude-4.5-sonnet"},"blobEncryptionKey":%q,"speculativeSummarizationEncryptionKey":%q,"fullConversationHeadersOnly":[%s]}`,
		id, b.now, cursorKey, cursorKey, strings.Join(b.heads, ",")))
}

// bubble writes a message, and adds it to the conversation's list unless it is there.
func (b *cursorBase) bubble(composer, id, body string) {
	head := fmt.Sprintf(`{"bubbleId":%q}`, id)
	if !strings.Contains(strings.Join(b.heads, ","), head) {
		b.heads = append(b.heads, head)
	}
	b.put("bubbleId:"+composer+":"+id, fmt.Sprintf(`{"_v":3,"bubbleId":%q,%s}`, id, body))
}

// checkNoSecrets fails if a stored version has a token, or is the database itself.
func (w *world) checkNoSecrets() {
	w.t.Helper()
	for path, all := range w.allVersions() {
		for _, content := range all {
			if strings.Contains(content, cursorToken) || strings.Contains(content, cursorKey) || strings.Contains(content, "SQLite format 3") {
				w.t.Errorf("%s has a secret in it", path)
			}
		}
	}
}

// TestLifeCursorDatabase has a conversation in the editor's database, with or without a transcript of it: it counts once, and one more
// message stores only its own row.
func TestLifeCursorDatabase(t *testing.T) {
	for _, beside := range []bool{false, true} {
		t.Run(fmt.Sprintf("transcript %v", beside), func(t *testing.T) {
			s, w := newTree(t), newWorld(t)
			if beside {
				s.write(cursorFile("home-ada-shop", cursorA), cursorTurn(1))
				w.ingest("home", s.dir, ".")
			}
			b := newCursorBase(s, cursorState)
			b.tables()
			b.bubble(cursorA, "u1", `"type":1,"text":"mend basket 1","createdAt":"2026-05-28T20:26:40.000Z","workspaceUris":["file:///home/ada/shop"]`)
			b.bubble(cursorA, "a1", `"type":2,"text":"mended 1","tokenCount":{"inputTokens":100,"outputTokens":7}`)
			b.bubble(cursorA, "a2", `"type":2,"text":"","toolFormerData":{"toolCallId":"t1","name":"read_file_v2","status":"completed","rawArgs":"{\"path\":\"basket.go\"}","result":"{\"contents\":\"wicker\"}"}`)
			b.composer(cursorA)
			b.put("bubbleId:"+cursorA+":null", "null")
			w.ingest("home", s.dir, ".")
			want := counts{runs: 1, conversations: 1, events: 4, calls: 1, results: 1, in: 100, out: 7}
			meet := func(what string) {
				t.Helper()
				if got := countsOf(w.totals().Formats["cursor"]); got != want {
					t.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
				}
				w.checkNoSecrets()
				w.checkReindex(what)
			}
			meet("said")
			if r := w.ingest("home", s.dir, "."); r.New+r.Rewritten+r.Grown != 0 {
				t.Errorf("nothing changed, and %+v was stored", r)
			}
			for _, c := range [][2]string{{"SELECT title FROM v_conversations WHERE verdict = 'counted'", "Mend the basket"},
				{"SELECT model FROM v_conversations WHERE verdict = 'counted'", "claude-4.5-sonnet"}, {"SELECT project FROM v_runs WHERE counted", "/home/ada/shop"},
				{"SELECT model FROM v_usage WHERE counted", "claude-4.5-sonnet"}} {
				if got := w.query(c[0]); len(got) != 1 || got[0] != c[1] {
					t.Errorf("%s: %q, want %q", c[0], got, c[1])
				}
			}

			// Other conversations and other rows change: nothing of this one does.
			b.put("agentKv:blob:01", cursorToken)
			if r := w.ingest("home", s.dir, "."); r.New+r.Rewritten+r.Grown != 0 {
				t.Errorf("other rows changed, and %+v was stored", r)
			}

			// One message more: the messages have grown, and the record of the conversation is another.
			b.bubble(cursorA, "u2", `"type":1,"text":"and the shelf"`)
			b.composer(cursorA)
			if r := w.ingest("home", s.dir, "."); r.New != 0 || r.Rewritten > 2 {
				t.Errorf("one message more: %+v", r)
			}
			want.events++
			meet("one more")
			b.bubble(cursorA, "u3", `"type":1,"text":"and the floor"`)
			b.put("bubbleId:"+cursorA+":null", `{"type":2,"text":"it has come back"}`)
			b.composer(cursorA)
			w.ingest("home", s.dir, ".")
			want.events += 2
			meet("two more")

			// The last prompt is taken back, and an update of the program empties a row: what was there stays.
			b.heads = b.heads[:3]
			b.composer(cursorA)
			b.put("bubbleId:"+cursorA+":a1", "null")
			w.ingest("home", s.dir, ".")
			meet("taken back")
			b.do("DELETE FROM cursorDiskKV WHERE key LIKE 'bubbleId:%'")
			b.do("DELETE FROM cursorDiskKV WHERE key LIKE 'composerData:%'")
			w.ingest("home", s.dir, ".")
			meet("deleted")
			b.do("PRAGMA wal_checkpoint(TRUNCATE)")
			if r := w.ingest("home", s.dir, "."); r.New+r.Rewritten+r.Grown != 0 {
				t.Errorf("a checkpoint changed nothing, and %+v was stored", r)
			}
		})
	}
}

// TestLifeCursorBroken damages the database: unlike others it is not stored as a file, since it has access tokens in it. It is reported.
func TestLifeCursorBroken(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	b := newCursorBase(s, cursorState)
	b.tables()
	b.bubble(cursorA, "u1", `"type":1,"text":"mend basket 1"`)
	b.composer(cursorA)
	b.do("PRAGMA wal_checkpoint(TRUNCATE)")
	w.All = true // also what nobody knows
	w.ingest("home", s.dir, ".")
	s.write(cursorState+".backup", s.read(cursorState))
	bad := []byte(s.read(cursorState))
	for i := 4096; i < len(bad); i++ {
		bad[i] = 0xff
	}
	s.write(cursorState, string(bad))
	if r := w.ingest("home", s.dir, "."); len(r.Problems) != 1 {
		t.Errorf("a broken database: problems %+v", r.Problems)
	}
	w.checkNoSecrets()
	if got := countsOf(w.totals().Formats["cursor"]); got != (counts{runs: 1, conversations: 1, events: 1}) {
		t.Errorf("%+v", got)
	}
	if n := len(w.versions("Cursor/User/globalStorage/storage.json")); n != 1 {
		t.Errorf("what nobody knows is stored %d times", n)
	}
}

// cursorStore is the database of a session of the command-line program.
type cursorStore struct {
	*cursorBase
	list []byte // ids of its messages
	said int
}

func newCursorChat(s *tree) *cursorStore {
	b := &cursorStore{cursorBase: newCursorBase(s, cursorChat)}
	b.do("CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB)")
	b.do("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)")
	return b
}

// say adds a message, or the one before once more if it is "".
func (b *cursorStore) say(message string) {
	b.said++
	id := make([]byte, 32)
	id[0], id[31] = 0x0a, byte(b.said)
	if message == "" {
		id[31]--
	} else {
		b.do("INSERT INTO blobs VALUES (?, CAST(? AS BLOB))", hex.EncodeToString(id), message)
	}
	b.list = append(append(b.list, 0x0a, 0x20), id...)
	root := append([]byte{}, b.list...)
	root = append(root, 0x4a, 3, 'u', 'r', 'i')
	id[0] = 0xff
	id[31] = byte(b.said)
	b.do("INSERT INTO blobs VALUES (?, ?)", hex.EncodeToString(id), root)
	b.do("INSERT OR REPLACE INTO meta VALUES ('0', ?)", hex.EncodeToString(fmt.Appendf(nil,
		`{"agentId":%q,"latestRootBlobId":"%x","name":"Mend","createdAt":1780000000000,"lastUsedModel":"composer-2.5","blobEncryptionKey":%q}`, cursorA, id, cursorKey)))
}

// TestLifeCursorChat has a session of the command-line program, whose transcript has the same id.
func TestLifeCursorChat(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	s.write(cursorFile("home-ada-shop", cursorA), cursorTurn(1))
	say := newCursorChat(s).say
	say(`{"role":"user","content":[{"type":"text","text":"<user_query>\nmend basket 1\n</user_query>"}]}`)
	say(`{"role":"assistant","id":"1","content":[{"type":"text","text":"mended 1"},{"type":"tool-call","toolCallId":"t1","toolName":"Read","args":{"path":"/home/ada/shop/basket.go"}}]}`)
	say(`{"role":"tool","content":[{"type":"tool-result","toolCallId":"t1","toolName":"Read","result":"wicker"}]}`)
	w.ingest("home", s.dir, ".")
	want := counts{runs: 1, conversations: 1, events: 4, calls: 1, results: 1}
	meet := func(what string) {
		t.Helper()
		if got := countsOf(w.totals().Formats["cursor"]); got != want {
			t.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
		}
		w.checkNoSecrets()
	}
	meet("said")
	if r := w.ingest("home", s.dir, "."); r.New+r.Rewritten+r.Grown != 0 {
		t.Errorf("nothing changed, and %+v was stored", r)
	}
	say(`{"role":"user","content":"again"}`)
	say("")
	if r := w.ingest("home", s.dir, "."); r.New != 0 || r.Grown != 1 || r.Rewritten != 1 {
		t.Errorf("two more: %+v", r)
	}
	want.events += 2
	meet("two more")
	if got := w.query("SELECT title || ', ' || model FROM v_conversations WHERE verdict = 'counted'"); len(got) != 1 || got[0] != "Mend, composer-2.5" {
		t.Errorf("%q", got)
	}
}

// TestLifeCursorSaidAgain has a transcript that the database has, too, start again and come to the same end. Whether both versions are
// parsed in one commit or in two, which is chance, the same rows are kept.
func TestLifeCursorSaidAgain(t *testing.T) {
	t.Parallel()
	s, w := newTree(t), newWorld(t)
	both := tree{t: t, dir: "format/cursor/testdata/both/in"}
	transcript := ""
	for name, content := range both.files() {
		s.write(name, content)
		if strings.HasSuffix(name, "0a.jsonl") {
			transcript = name
		}
	}
	whole := s.read(transcript)
	begin, _, _ := strings.Cut(whole, "\n")
	for _, content := range []string{"x\n", whole, begin + "\n", whole} {
		s.write(transcript, content)
		w.ingest("home", s.dir, ".")
	}
	for range 5 {
		w.reindexed("said again")
	}
}

// TestLifeCursorRenamed has a transcript that is longer than what the editor's database has of the conversation, which gets another name and model
// there: they come before the first ones in the alphabet.
func TestLifeCursorRenamed(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	s.write(cursorFile("home-ada-shop", cursorA), cursorTurn(1)+cursorTurn(2)+cursorTurn(3))
	b := newCursorBase(s, cursorState)
	b.tables()
	b.bubble(cursorA, "a1", `"type":2,"text":"mended 1","tokenCount":{"inputTokens":100,"outputTokens":7}`)
	for _, said := range [][2]string{{"Mend the basket", "claude-4.5-sonnet"}, {"A basket", "claude-4-opus"}} {
		b.composer(cursorA)
		b.do("UPDATE cursorDiskKV SET value = CAST(replace(replace(value, 'Mend the basket', ?), 'claude-4.5-sonnet', ?) AS BLOB) WHERE key LIKE 'composerData:%'", said[0], said[1])
		w.ingest("home", s.dir, ".")
		for query, want := range map[string]string{"SELECT title FROM v_conversations WHERE verdict = 'counted'": said[0], "SELECT model FROM v_usage WHERE counted": said[1], "SELECT title FROM v_runs": said[0]} {
			if got := w.query(query); len(got) != 1 || got[0] != want {
				t.Errorf("%s: %q, want %q", query, got, want)
			}
		}
	}
}
