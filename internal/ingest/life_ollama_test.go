package ingest_test

import (
	"fmt"
	"testing"
)

// The tables of the app's first released schema, and what later ones added.
const (
	ollamaFirst = `CREATE TABLE settings (id INTEGER PRIMARY KEY CHECK (id = 1), device_id TEXT NOT NULL DEFAULT '', schema_version INTEGER NOT NULL DEFAULT 2);
		INSERT INTO settings (id, device_id) VALUES (1, 'device-of-ada');
		CREATE TABLE chats (id TEXT PRIMARY KEY, title TEXT NOT NULL DEFAULT '', created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP);
		CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, chat_id TEXT NOT NULL, role TEXT NOT NULL, content TEXT NOT NULL DEFAULT '', thinking TEXT NOT NULL DEFAULT '',
			stream BOOLEAN NOT NULL DEFAULT 0, model_name TEXT, model_cloud BOOLEAN, model_ollama_host BOOLEAN, created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
			updated_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, thinking_time_start TIMESTAMP, thinking_time_end TIMESTAMP,
			FOREIGN KEY (chat_id) REFERENCES chats(id) ON DELETE CASCADE);
		CREATE INDEX idx_messages_chat_id ON messages(chat_id);
		CREATE TABLE tool_calls (id INTEGER PRIMARY KEY AUTOINCREMENT, message_id INTEGER NOT NULL, type TEXT NOT NULL, function_name TEXT NOT NULL, function_arguments TEXT NOT NULL,
			function_result TEXT, FOREIGN KEY (message_id) REFERENCES messages(id) ON DELETE CASCADE)`
	ollamaLater = `CREATE TABLE attachments (id INTEGER PRIMARY KEY AUTOINCREMENT, message_id INTEGER NOT NULL, filename TEXT NOT NULL, data BLOB NOT NULL,
			FOREIGN KEY (message_id) REFERENCES messages(id) ON DELETE CASCADE);
		ALTER TABLE messages ADD COLUMN tool_result TEXT;
		ALTER TABLE chats ADD COLUMN browser_state TEXT;
		CREATE TABLE users (name TEXT NOT NULL DEFAULT '', email TEXT NOT NULL DEFAULT '', plan TEXT NOT NULL DEFAULT '', cached_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP);
		INSERT INTO users (name, email) VALUES ('ada', 'ada@example.org')`
)

const ollamaA = "0199a000-0000-7000-8000-00000000000a"

// ollamaMessage is a message as the app holds it; at is its creation time in seconds.
type ollamaMessage struct {
	at                   int
	role, text, thinking string
	tool, input, file    string
	returned             bool
}

// ollamaSave writes a chat as the app does: all messages are deleted, and written again.
func (b *base) ollamaSave(chat string, all ...ollamaMessage) {
	b.do("PRAGMA foreign_keys = ON")
	b.do("INSERT INTO chats (id, created_at) VALUES (?, '2026-11-03 10:00:00.1+01:00') ON CONFLICT DO NOTHING", chat)
	b.do("DELETE FROM messages WHERE chat_id = ?", chat)
	for _, m := range all {
		b.ollamaAppend(chat, m)
	}
}

func (b *base) ollamaAppend(chat string, m ollamaMessage) {
	at := fmt.Sprintf("2026-11-03 10:00:%02d.123456789+01:00", m.at)
	model := any(nil)
	if m.role == "assistant" {
		model = "qwen3:8b"
	}
	b.do("INSERT INTO messages (chat_id, role, content, thinking, model_name, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?)", chat, m.role, m.text, m.thinking, model, at, at)
	if m.returned {
		b.do("UPDATE messages SET tool_result = 'null' WHERE id = (SELECT max(id) FROM messages)")
	}
	if m.tool != "" {
		b.do("INSERT INTO tool_calls (message_id, type, function_name, function_arguments) SELECT max(id), 'function', ?, ? FROM messages", m.tool, m.input)
	}
	if m.file != "" {
		b.do("INSERT INTO attachments (message_id, filename, data) SELECT max(id), 'notes.md', ? FROM messages", []byte(m.file))
	}
}

// TestLifeOllama has a database whose app receives an answer, adds columns, calls a tool, renames a chat, replaces an edited prompt and deletes
// the chat; and the history of the command line.
func TestLifeOllama(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	b := newBase(s, "Library/Application Support/Ollama/db.sqlite", ollamaFirst)
	s.write(".ollama/id_ed25519", "a key")
	asked := ollamaMessage{at: 1, role: "user", text: "best willow"}
	b.ollamaSave(ollamaA, asked)
	want := counts{runs: 1, conversations: 1, events: 1}
	w.ingestAndCheck("asked", "ollama", s.dir, want, 2, 0, 0)

	b.ollamaAppend(ollamaA, ollamaMessage{at: 2, role: "assistant", thinking: "hm"})
	want.events = 2
	w.ingestAndCheck("thinking", "ollama", s.dir, want, 0, 0, 1)
	b.do("UPDATE messages SET content = 'vimi' WHERE role = 'assistant'")
	want.events = 3
	w.ingestAndCheck("answering", "ollama", s.dir, want, 0, 0, 1)
	answered := ollamaMessage{at: 2, role: "assistant", thinking: "hm", text: "viminalis"}
	b.ollamaSave(ollamaA, asked, answered)
	w.ingestAndCheck("answered", "ollama", s.dir, want, 0, 0, 1)

	b.do(ollamaLater)
	attached := ollamaMessage{at: 3, role: "user", text: "why, see the notes", file: "cut in winter"}
	calls := ollamaMessage{at: 4, role: "assistant", tool: "web_search", input: `{"query":"willow"}`}
	result := ollamaMessage{at: 5, role: "tool", text: "it bends", returned: true}
	b.ollamaSave(ollamaA, asked, answered, attached)
	b.ollamaAppend(ollamaA, calls)
	b.ollamaAppend(ollamaA, result)
	want.events, want.calls, want.results = 6, 1, 1
	w.ingestAndCheck("a tool", "ollama", s.dir, want, 1, 0, 2)
	if got := w.query("SELECT tool || ' ' || failed FROM v_tool_calls"); len(got) != 1 || got[0] != "web_search 0" {
		t.Errorf("calls %q", got)
	}

	// Renamed, with the loss of the attachment that some versions had.
	attached.file = " "
	b.ollamaSave(ollamaA, asked, answered, attached, calls, result)
	b.do("UPDATE chats SET title = 'Willows' WHERE id = ?", ollamaA)
	w.ingestAndCheck("renamed", "ollama", s.dir, want)
	if got := w.query("SELECT title || ' ' || model FROM v_conversations WHERE verdict = 'counted'"); len(got) != 1 || got[0] != "Willows qwen3:8b" {
		t.Errorf("conversations %q", got)
	}

	edited := ollamaMessage{at: 9, role: "user", text: "which basket"}
	b.ollamaSave(ollamaA, asked, answered, edited)
	want.events, want.calls, want.results = 4, 0, 0
	w.ingestAndCheck("edited", "ollama", s.dir, want)

	s.write(".ollama/history", "why is the sky blue?\n/bye\n")
	w.ingestAndCheck("typed", "ollama", s.dir, want, 1, 0, 0)
	s.write(".ollama/history", "/bye\nand the sea?\n")
	w.ingestAndCheck("more than it keeps", "ollama", s.dir, want, 0, 0, 1)

	// A copy goes on, and then the original does.
	b.do("VACUUM INTO ?", s.dir+"/copy.db")
	c := newBase(s, "copies/Ollama/db.sqlite", `ATTACH '`+s.dir+`/copy.db' AS old; `+ollamaFirst+`; ALTER TABLE messages ADD COLUMN tool_result TEXT;
		INSERT INTO chats SELECT id, title, created_at FROM old.chats; INSERT INTO messages SELECT * FROM old.messages`)
	s.remove("copy.db")
	c.ollamaAppend(ollamaA, ollamaMessage{at: 20, role: "assistant", text: "a round one"})
	want.events++
	w.ingestAndCheck("a copy", "ollama", s.dir, want)
	b.ollamaAppend(ollamaA, ollamaMessage{at: 21, role: "assistant", text: "an oval one"})
	want.events++
	want.conversations++
	w.ingestAndCheck("both go on", "ollama", s.dir, want)
	b.do("DELETE FROM chats WHERE id = ?", ollamaA)
	w.ingestAndCheck("deleted", "ollama", s.dir, want, 0, 0, 0)
	if got := w.query("SELECT path FROM v_files WHERE path LIKE '%id_ed25519%' OR path LIKE '%settings%' OR path LIKE '%users%'"); len(got) != 0 {
		t.Errorf("archived: %q", got)
	}
}
