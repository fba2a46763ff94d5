package ingest_test

import (
	"fmt"
	"strings"
	"testing"
)

// The tables of the first schema that the program's migrations make, and what later ones added.
const (
	anythingFirst = `CREATE TABLE "api_keys" ("id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, "secret" TEXT);
		INSERT INTO api_keys (secret) VALUES ('key-of-ada');
		CREATE TABLE "users" ("id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, "username" TEXT, "password" TEXT NOT NULL);
		INSERT INTO users (username, password) VALUES ('name-of-ada', 'hash-of-ada');
		CREATE TABLE "workspaces" ("id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, "name" TEXT NOT NULL, "slug" TEXT NOT NULL, "vectorTag" TEXT,
			"createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP, "openAiPrompt" TEXT, "lastUpdatedAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP);
		INSERT INTO workspaces (name, slug, createdAt) VALUES ('Baskets', 'baskets', 1793700000000);
		CREATE TABLE "workspace_chats" ("id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, "workspaceId" INTEGER NOT NULL, "prompt" TEXT NOT NULL, "response" TEXT NOT NULL,
			"include" BOOLEAN NOT NULL DEFAULT true, "user_id" INTEGER, "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP,
			"lastUpdatedAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP)`
	anythingLater = `ALTER TABLE "workspace_chats" ADD COLUMN "thread_id" INTEGER;
		CREATE TABLE "workspace_threads" ("id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, "name" TEXT NOT NULL, "slug" TEXT NOT NULL, "workspace_id" INTEGER NOT NULL,
			"user_id" INTEGER, "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP, "lastUpdatedAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP);
		ALTER TABLE "workspace_chats" ADD COLUMN "feedbackScore" BOOLEAN;
		CREATE TABLE "embed_configs" ("id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, "uuid" TEXT NOT NULL, "workspace_id" INTEGER NOT NULL);
		CREATE TABLE "embed_chats" ("id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, "prompt" TEXT NOT NULL, "response" TEXT NOT NULL, "session_id" TEXT NOT NULL,
			"include" BOOLEAN NOT NULL DEFAULT true, "connection_information" TEXT, "embed_id" INTEGER NOT NULL, "usersId" INTEGER,
			"createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP);
		ALTER TABLE "workspace_chats" ADD COLUMN "api_session_id" TEXT`
)

func anythingID(n int) string { return fmt.Sprintf("7a000000-0000-4000-8000-%012d", n) }

// anythingSays adds an exchange in second n, of a thread or, if that is 0, of the workspace. Until metrics are measured, in is 0.
func (b *base) anythingSays(thread, n, in, out int, text string) {
	metrics := ""
	if in > 0 {
		metrics = fmt.Sprintf(`,"metrics":{"prompt_tokens":%d,"completion_tokens":%d,"duration":0.5,"model":"gpt-5.4","timestamp":"2026-11-03T10:%02d:%02d.000Z"}`, in, out, n/60, n%60)
	}
	response := fmt.Sprintf(`{"text":%q,"sources":[],"type":"chat","attachments":[]%s}`, text, metrics)
	at := 1793700000000 + int64(n)*1000
	b.do("INSERT INTO workspace_chats (workspaceId, prompt, response, createdAt, lastUpdatedAt) VALUES (1, ?, ?, ?, ?)", fmt.Sprint("prompt ", n), response, at, at)
	if thread > 0 {
		b.do("UPDATE workspace_chats SET thread_id = ? WHERE id = (SELECT max(id) FROM workspace_chats)", thread)
	}
}

func (b *base) anythingThread(n int) {
	b.do("INSERT INTO workspace_threads (id, name, slug, workspace_id, createdAt) VALUES (?, 'Thread', ?, 1, ?)", n, anythingID(n), 1793700000000+int64(n)*100000)
}

// TestLifeAnythingLLM has a database whose program answers, adds columns, opens threads, forks one, loses what follows an edited prompt, answers
// visitors of a web page and deletes a thread.
func TestLifeAnythingLLM(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	b := newBase(s, ".config/anythingllm-desktop/storage/anythingllm.db", anythingFirst)
	s.write(".config/anythingllm-desktop/storage/.env", "OPEN_AI_KEY='key-of-ada'")
	b.anythingSays(0, 1, 0, 0, "osier")
	want := counts{runs: 1, conversations: 1, events: 2}
	w.ingestAndCheck("answered", "anythingllm", s.dir, want, 1, 0, 0)

	b.do(anythingLater)
	b.anythingThread(1)
	b.anythingSays(1, 101, 10, 5, "in winter")
	b.anythingSays(1, 120, 20, 6, "with a knife")
	want.runs, want.conversations, want.events, want.in, want.out = 2, 2, 6, 30, 11
	w.ingestAndCheck("a thread", "anythingllm", s.dir, want, 1, 0, 0)
	b.do("UPDATE workspace_threads SET name = 'Cutting' WHERE id = 1")
	b.do("UPDATE workspace_chats SET response = replace(response, 'with a knife', 'with a very sharp knife') WHERE id = 3")
	w.ingestAndCheck("an answer is edited", "anythingllm", s.dir, want, 0, 0, 1)
	if got := w.query("SELECT title || ' ' || model FROM v_conversations WHERE verdict = 'counted' AND model NOT NULL"); len(got) != 1 || got[0] != "Cutting gpt-5.4" {
		t.Errorf("conversations %q", got)
	}

	b.anythingThread(2)
	b.do(`INSERT INTO workspace_chats (workspaceId, prompt, response, thread_id, createdAt, lastUpdatedAt)
		SELECT workspaceId, prompt, response, 2, 1793700200000 + id, 1793700200000 + id FROM workspace_chats WHERE thread_id = 1`)
	want.runs, want.conversations, want.links = 3, 3, 1
	w.ingestAndCheck("forked", "anythingllm", s.dir, want, 1, 0, 0)
	b.anythingSays(2, 260, 40, 7, "with an axe")
	want.events, want.in, want.out = 8, 70, 18
	w.ingestAndCheck("the fork goes on", "anythingllm", s.dir, want, 0, 1, 0)

	b.do("DELETE FROM workspace_chats WHERE id = 3") // its prompt is edited
	b.anythingSays(1, 300, 21, 8, "with scissors")
	want.events, want.in, want.out = 10, 91, 26
	w.ingestAndCheck("edited", "anythingllm", s.dir, want, 0, 0, 1)
	b.do("UPDATE workspace_chats SET include = 0 WHERE thread_id IS NULL")
	b.anythingSays(0, 310, 0, 0, "willow")
	want.events += 2
	w.ingestAndCheck("reset", "anythingllm", s.dir, want, 0, 0, 1)

	b.do("INSERT INTO embed_configs (uuid, workspace_id) VALUES (?, 1)", anythingID(90))
	b.do(`INSERT INTO embed_chats (prompt, response, session_id, connection_information, embed_id, createdAt)
		VALUES ('do you sell it?', '{"text":"we do","type":"chat","sources":[]}', ?, '{"ip":"address-of-ada"}', 1, 1793700400000)`, anythingID(91))
	want.runs, want.conversations, want.events = 4, 4, 14
	w.ingestAndCheck("a visitor", "anythingllm", s.dir, want, 1, 0, 0)

	b.anythingSays(0, 320, 0, 0, "by a program")
	b.do("UPDATE workspace_chats SET api_session_id = 'bot/1', user_id = 2 WHERE id = (SELECT max(id) FROM workspace_chats)")
	want.runs, want.conversations, want.events = 5, 5, 16
	w.ingestAndCheck("a program", "anythingllm", s.dir, want, 1, 0, 0)
	b.do("UPDATE workspace_chats SET feedbackScore = 0 WHERE api_session_id NOT NULL")
	w.ingestAndCheck("judged", "anythingllm", s.dir, want, 0, 0, 1)
	if got := w.query("SELECT DISTINCT path FROM v_files WHERE path LIKE '%-user-2-api-%'"); len(got) != 1 || !strings.HasSuffix(got[0], "anythingllm.db/workspace-1-user-2-api-bot/1.ndjson") {
		t.Errorf("files %q", got)
	}

	b.do("VACUUM INTO ?", s.dir+"/anythingllm.db")
	w.ingestAndCheck("a copy", "anythingllm", s.dir, want)
	b.do("DELETE FROM workspace_threads WHERE id = 1") // its chats stay
	w.ingestAndCheck("deleted", "anythingllm", s.dir, want, 0, 0, 0)
	for _, path := range w.query("SELECT path FROM v_files") {
		for _, content := range w.versions(path) {
			if strings.Contains(content, "-of-ada") {
				t.Errorf("%s has a secret: %s", path, content)
			}
		}
	}

	late := newWorld(t) // of the thread there is only the fork
	s.remove("anythingllm.db")
	late.ingest("home", s.dir, ".")
	if got := countsOf(late.totals().Formats["anythingllm"]); got != (counts{runs: 4, conversations: 4, events: 14, in: 70, out: 18}) {
		t.Errorf("late: %+v", got)
	}
}
