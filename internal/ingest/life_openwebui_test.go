package ingest_test

import (
	"fmt"
	"strings"
	"testing"
)

// The tables of Open WebUI: of its first migrations, of those with folders, and of 2026 with messages and shared chats of their own.
const (
	webuiFirst = `CREATE TABLE "migratehistory" ("id" INTEGER NOT NULL PRIMARY KEY, "name" VARCHAR(255) NOT NULL, "migrated_at" DATETIME NOT NULL);
		INSERT INTO migratehistory VALUES (1, '001_initial_schema', '2024-01-01'), (2, '002_add_local_sharing', '2024-01-01');
		CREATE TABLE "auth" ("id" VARCHAR(255) NOT NULL, "email" VARCHAR(255) NOT NULL, "password" TEXT NOT NULL, "active" INTEGER NOT NULL);
		CREATE TABLE "user" ("id" VARCHAR(255) NOT NULL, "name" VARCHAR(255) NOT NULL, "email" VARCHAR(255) NOT NULL, "api_key" VARCHAR(255));
		CREATE TABLE "chat" ("id" VARCHAR(255) NOT NULL, "user_id" VARCHAR(255) NOT NULL, "title" TEXT NOT NULL, "chat" TEXT NOT NULL,
			"share_id" VARCHAR(255), "archived" INTEGER NOT NULL DEFAULT 0, "created_at" DATETIME NOT NULL, "updated_at" DATETIME NOT NULL)`
	webuiFolders = `CREATE TABLE config (id INTEGER PRIMARY KEY, data JSON NOT NULL);
		CREATE TABLE folder (id TEXT PRIMARY KEY, parent_id TEXT, user_id TEXT, name TEXT NOT NULL);
		ALTER TABLE chat ADD COLUMN pinned BOOLEAN;
		ALTER TABLE chat ADD COLUMN meta JSON DEFAULT '{}' NOT NULL;
		ALTER TABLE chat ADD COLUMN folder_id TEXT`
	webuiMessages = `CREATE TABLE chat_message (id TEXT PRIMARY KEY, chat_id TEXT NOT NULL, user_id TEXT, role TEXT NOT NULL, parent_id TEXT, content JSON, output JSON, model_id TEXT,
			files JSON, sources JSON, embeds JSON, done BOOLEAN, status_history JSON, error JSON, usage JSON, created_at BIGINT, updated_at BIGINT, FOREIGN KEY (chat_id) REFERENCES chat (id) ON DELETE CASCADE);
		CREATE TABLE shared_chat (id TEXT PRIMARY KEY, chat_id TEXT NOT NULL, user_id TEXT NOT NULL, title TEXT, chat JSON, created_at BIGINT, updated_at BIGINT);
		ALTER TABLE chat ADD COLUMN variables JSON;
		ALTER TABLE chat ADD COLUMN tasks JSON;
		ALTER TABLE chat ADD COLUMN summary TEXT;
		ALTER TABLE chat ADD COLUMN current_message_id TEXT;
		ALTER TABLE chat ADD COLUMN last_read_at BIGINT`
	webuiSummaries = `ALTER TABLE chat_message ADD COLUMN context_summary TEXT`
)

func webuiChat(n int) string    { return fmt.Sprintf("a0000000-0000-4000-8000-%012d", n) }
func webuiMessage(n int) string { return fmt.Sprintf("b0000000-0000-4000-8000-%012d", n) }

// webuiSaid is a chat's content: messages that follow one another, each "number text", of the user and the model in turn. An answer may be
// followed by " < " and what its request used.
func webuiSaid(members string, said ...string) string {
	var messages []string
	parent, last := "null", ""
	for i, s := range said {
		number, text, _ := strings.Cut(s, " ")
		n, more := 0, ""
		fmt.Sscan(number, &n)
		if before, used, ok := strings.Cut(text, " < "); ok {
			text, more = before, `,"usage":`+used
		}
		last = webuiMessage(n)
		messages = append(messages, fmt.Sprintf(`%q:{"id":%q,"parentId":%s,"childrenIds":[],"role":%q,"content":%q,"model":"gpt-5.2","timestamp":%d%s}`,
			last, last, parent, []string{"user", "assistant"}[i%2], text, 1790000000+n, more))
		parent = fmt.Sprintf("%q", last)
	}
	return fmt.Sprintf(`{"title":"x","models":["gpt-5.2"],"history":{"messages":{%s},"currentId":%q}%s}`, strings.Join(messages, ","), last, members)
}

// webuiSays writes a chat, as of the time n, like the program does with each message.
func (b *base) webuiSays(chat, n int, content string) {
	b.do("INSERT OR IGNORE INTO chat (rowid, id, user_id, title, chat, created_at, updated_at) VALUES (?, ?, 'u1', 'Lids', '', ?, 0)", chat, webuiChat(chat), 1790000000+n)
	b.do("UPDATE chat SET chat = ?, updated_at = ? WHERE rowid = ?", content, 1790000000+n, chat)
}

// webuiExport is a chat in an export.
func webuiExport(chat, n int, content string) string {
	return fmt.Sprintf(`{"id":%q,"user_id":"u1","title":"Lids","chat":%s,"updated_at":%d,"created_at":1790000000,"share_id":null,"archived":false,"pinned":false,"meta":{},"folder_id":null}`,
		webuiChat(chat), content, 1790000000+n)
}

// TestLifeOpenWebUI has a database whose program answers, gets other tables, clones and shares a chat and deletes messages, and exports of it.
func TestLifeOpenWebUI(t *testing.T) {
	t.Parallel()
	s, w := newTree(t), newWorld(t)
	const file = "home/.open-webui/webui.db"
	b := newBase(s, file, webuiFirst)
	b.do("INSERT INTO auth VALUES ('u1', 'ada@example.org', ?1, 1); INSERT INTO user VALUES ('u1', 'Ada', 'ada@example.org', ?1)", cursorToken)
	s.write("home/.open-webui/.webui_secret_key", cursorToken)
	ingest := func(what string, want counts, stored ...int64) {
		t.Helper()
		w.ingestAndCheck(what, "open-webui", s.dir, want, stored...)
		w.checkNoSecrets()
	}
	check := func(query, want string) {
		t.Helper()
		if got := w.query(query); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	b.webuiSays(1, 1, webuiSaid("", "1 how many lids", `2 thre < {"prompt_eval_count":10,"eval_count":2}`))
	want := counts{runs: 1, conversations: 1, events: 2, in: 10, out: 2}
	ingest("first", want, 1, 0, 0)
	b.webuiSays(1, 4, webuiSaid("", "1 how many lids", `2 three < {"prompt_eval_count":10,"eval_count":2}`, "3 and handles", `4 nine < {"prompt_eval_count":20,"eval_count":1}`))
	want.events, want.in, want.out = 4, 30, 3
	ingest("went on", want, 0, 0, 1)

	// A shared state of the chat is one of the chats; it keeps what the chat has no more.
	b.do("INSERT INTO chat (rowid, id, user_id, title, chat, created_at, updated_at) SELECT 9, ?, 'shared-' || id, title, chat, created_at, updated_at FROM chat", webuiChat(9))
	b.webuiSays(1, 5, webuiSaid("", "1 how many lids", `2 three < {"prompt_eval_count":10,"eval_count":2}`))
	ingest("shared", want, 1, 0, 1)
	check("SELECT count(*) FROM v_events WHERE counted AND path LIKE '%"+webuiChat(9)+"%'", "2")

	// An export has the same chat, and one that the database has not.
	s.write("downloads/chat-export-1790000006000.json", "["+webuiExport(1, 4, webuiSaid("", "1 how many lids", "2 three", "3 and handles", "4 nine"))+","+webuiExport(3, 6, webuiSaid("", "30 which knot", `31 a bowline < {"prompt_tokens":5,"completion_tokens":4,"cost":0.001}`))+"]")
	want.runs, want.conversations, want.events, want.in, want.out = 2, 2, 6, 35, 7
	want.cost = 1000
	ingest("exported", want, 1, 0, 0)

	b.do(webuiFolders)
	b.do("INSERT INTO config VALUES (1, ?)", `{"openai":{"api_keys":["`+cursorToken+`"]}}`)
	b.do("INSERT INTO folder VALUES ('d1', NULL, 'u1', 'Baskets')")
	b.do("UPDATE chat SET folder_id = 'd1', meta = '{\"tags\":[\"lids\"]}' WHERE rowid = 1")
	ingest("folders", want, 0, 0, 2)
	check("SELECT group_id || ' ' || (attributes ->> 'folder') || ' ' || (attributes ->> 'tags') FROM v_runs WHERE native_id = '"+webuiChat(1)+"'", "d1 Baskets lids")

	// The tables of 2026: a clone goes on with the messages of the chat, whose rows the table of messages repeats, but for one.
	b.do(webuiMessages)
	clone := webuiSaid(`,"originalChatId":"`+webuiChat(1)+`","branchPointMessageId":"`+webuiMessage(2)+`"`,
		"1 how many lids", `2 three < {"prompt_eval_count":10,"eval_count":2}`, "20 ten more", `21 ordered < {"input_tokens":40,"output_tokens":1,"cost":0.002}`)
	b.webuiSays(2, 21, clone)
	b.do("UPDATE chat SET created_at = 1790000015 WHERE rowid = 2")
	row := func(chat, n int, role, text string) {
		b.do("INSERT INTO chat_message (id, chat_id, role, content, usage, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?)", webuiChat(chat)+"-"+webuiMessage(n), webuiChat(chat),
			role, fmt.Sprintf("%q", text), `{"input_tokens":900,"output_tokens":900}`, 1790000000+n, 1790000000+n)
	}
	row(2, 21, "assistant", "ordered") // with more than was used, as the program adds up
	row(2, 22, "user", "only here")
	b.do("INSERT INTO shared_chat SELECT 'e1', id, 'u1', title, chat, 1790000030, 1790000030 FROM chat WHERE rowid = 2")
	want.runs, want.conversations, want.links, want.events, want.in, want.out, want.cost = 3, 3, 1, 9, 975, 908, 3000
	ingest("cloned", want, 2, 0, 0)
	check("SELECT r.native_id FROM v_events e JOIN v_runs r USING (run_id) WHERE e.counted AND e.attributes ->> 'id' = '"+webuiMessage(2)+"'", webuiChat(1))
	b.do(webuiSummaries)
	b.do("UPDATE chat_message SET context_summary = 'lids were counted' WHERE id LIKE '%" + webuiMessage(21) + "'")
	ingest("summarized", want, 0, 0, 1)

	// A chat that is deleted stays, and a file of another name is the same database.
	b.do("DELETE FROM chat WHERE rowid = 1")
	ingest("deleted", want, 0, 0, 0)
	b.do("PRAGMA wal_checkpoint(TRUNCATE)")
	s.write("backup/monday.db", s.read(file))
	ingest("backed up", want)
}

// TestLifeOpenWebUIOdd has a database of the first schema, and one of 2026 with rows of wrong types.
func TestLifeOpenWebUIOdd(t *testing.T) {
	t.Parallel()
	s, w := newTree(t), newWorld(t)
	first := newBase(s, "old/open-webui/data/webui.db", `CREATE TABLE chat (id TEXT, user_id TEXT, title TEXT, chat TEXT, timestamp INTEGER); CREATE TABLE auth (password TEXT)`)
	first.do("INSERT INTO chat VALUES (?, 'u1', 'Lids', ?, 1790000000)", webuiChat(1), webuiSaid("", "1 how many lids"))
	w.ingestAndCheck("first", "open-webui", s.dir, counts{runs: 1, conversations: 1, events: 1}, 1, 0, 0)

	b := newBase(s, "new/open-webui/data/webui.db", webuiFirst)
	b.do(webuiFolders)
	b.do(webuiMessages)
	b.webuiSays(2, 2, `{"history":{"messages":`)
	b.webuiSays(3, 3, `[1,2]`)
	b.webuiSays(4, 4, webuiSaid("", "4 and handles"))
	b.do("UPDATE chat SET updated_at = 'soon', title = x'ff00', archived = 'maybe' WHERE rowid = 4")
	b.do("INSERT INTO chat_message (id, chat_id, role, content) VALUES ('x', ?, 'user', 'no json')", webuiChat(2))
	if r := w.ingest("home", s.dir, "."); len(r.Problems) != 0 {
		t.Errorf("problems %+v", r.Problems)
	}
	want := counts{runs: 3, conversations: 3, events: 3, problems: 2}
	if got := countsOf(w.totals().Formats["open-webui"]); got != want {
		t.Errorf("odd: got %+v, want %+v", got, want)
	}
	w.checkReindex("odd")
}
