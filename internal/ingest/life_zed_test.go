package ingest_test

import (
	"fmt"
	"strings"
	"testing"
)

// The table of Zed's first database, and what later versions added.
const (
	zedFirst = `CREATE TABLE threads (
			id TEXT PRIMARY KEY,
			summary TEXT NOT NULL,
			updated_at TEXT NOT NULL,
			data_type TEXT NOT NULL,
			data BLOB NOT NULL
		)`
	zedLater = `ALTER TABLE threads ADD COLUMN parent_id TEXT;
		ALTER TABLE threads ADD COLUMN folder_paths TEXT;
		ALTER TABLE threads ADD COLUMN folder_paths_order TEXT;
		ALTER TABLE threads ADD COLUMN created_at TEXT;
		UPDATE threads SET created_at = updated_at`
)

func zedThread(n int) string { return fmt.Sprintf("a0000000-0000-4000-8000-%012d", n) }
func zedPrompt(n int) string { return fmt.Sprintf("b0000000-0000-4000-8000-%012d", n) }

// zedSays is a prompt with the number n and its answer.
func zedSays(n int, prompt, answer string) string {
	return fmt.Sprintf(`{"User":{"id":%q,"content":[{"Text":%q}]}},{"Agent":{"content":[{"Text":%q}],"tool_results":{},"reasoning_details":null}}`, zedPrompt(n), prompt, answer)
}

// zedData is a thread with a sum of output tokens, and those of the last requests of prompts as number=tokens.
func zedData(sum int, last string, messages ...string) string {
	var requests []string
	for one := range strings.FieldsSeq(last) {
		var n, tokens int
		fmt.Sscanf(one, "%d=%d", &n, &tokens)
		requests = append(requests, fmt.Sprintf(`%q:{"output_tokens":%d}`, zedPrompt(n), tokens))
	}
	total := "{}"
	if sum > 0 {
		total = fmt.Sprintf(`{"output_tokens":%d}`, sum)
	}
	return fmt.Sprintf(`{"title":"Mend the basket","messages":[%s],"updated_at":"2026-07-01T09:30:00Z","cumulative_token_usage":%s,"request_token_usage":{%s},"model":{"provider":"anthropic","model":"claude-sonnet-4-5"},"version":"0.3.0"}`,
		strings.Join(messages, ","), total, strings.Join(requests, ","))
}

// zedSaves writes a thread at a minute, as a version that compresses threads.
func (b *base) zedSaves(n, minute int, data string) {
	b.do(`INSERT INTO threads (id, summary, updated_at, data_type, data) VALUES (?, 'Mend the basket', ?, 'zstd', ?)
		ON CONFLICT (id) DO UPDATE SET updated_at = excluded.updated_at, data_type = excluded.data_type, data = excluded.data`,
		zedThread(n), fmt.Sprintf("2026-07-01T09:%02d:00.123456789+00:00", minute), zstdFrame(data))
}

// TestLifeZed has a database whose program changes its payload and its table, answers, forgets what came after a prompt that is edited, begins to
// add up tokens, starts a sub-agent, and deletes a thread.
func TestLifeZed(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	const file = "zed/threads/threads.db"
	b := newBase(s, file, zedFirst)
	early := `{"version":"0.2.0","summary":"Mend the basket","updated_at":"2026-07-01T09:00:00Z","cumulative_token_usage":{"output_tokens":50},"request_token_usage":[{},{"output_tokens":30}],
		"messages":[{"id":0,"role":"user","segments":[{"type":"text","text":"mend"}]},{"id":1,"role":"assistant","segments":[{"type":"text","text":"mended"}]}]}`
	b.do("INSERT INTO threads VALUES (?, 'Mend the basket', '2026-07-01T09:00:00+00:00', 'json', ?)", zedThread(1), early)
	want := counts{runs: 1, conversations: 1, events: 2, out: 50}
	w.ingestAndCheck("early", "zed", s.dir, want, 1, 0, 0)

	// The thread is saved in the new form. It goes on, which its sum does not say, and no more than the last request of a prompt is known.
	b.do(zedLater)
	b.zedSaves(1, 1, zedData(50, "1=30 2=40", zedSays(1, "mend", "mended"), zedSays(2, "and the rim", "that, too")))
	b.zedSaves(2, 1, zedData(0, "3=5 4=6", zedSays(3, "shelf", "up"), zedSays(4, "door", "open")))
	want = counts{runs: 2, conversations: 2, events: 8, out: 50 + 5 + 6} // 30 or 40 may be part of the 50
	w.ingestAndCheck("later", "zed", s.dir, want, 1, 0, 1)

	// The second prompt is edited: what was after it is forgotten, and was spent. A sub-agent does it, of a version that adds up.
	b.zedSaves(2, 2, zedData(0, "3=5 5=7", zedSays(3, "shelf", "up"), zedSays(5, "gate", "shut")))
	b.zedSaves(3, 2, zedData(90, "6=20", zedSays(6, "count", "41")))
	b.do("UPDATE threads SET parent_id = ?, folder_paths = '/home/ada/shop' WHERE id = ?", zedThread(2), zedThread(3))
	// The first thread goes on with that version: its sum may now include what counted for itself.
	b.zedSaves(1, 3, zedData(190, "1=30 2=40 7=60", zedSays(1, "mend", "mended"), zedSays(2, "and the rim", "that, too"), zedSays(7, "lid?", "on")))
	want.conversations, want.links, want.events, want.out = 3, 1, 12, 190+5+6+7+90
	w.ingestAndCheck("edited", "zed", s.dir, want, 1, 0, 2)
	if got := w.query("SELECT project || ' ' || model FROM v_conversations WHERE verdict = 'counted' AND project <> ''"); strings.Join(got, ",") != "/home/ada/shop claude-sonnet-4-5" {
		t.Errorf("conversations %q", got)
	}

	// A row is damaged, one is moved to other folders, and a thread is deleted.
	b.do("INSERT INTO threads (id, summary, updated_at, data_type, data) VALUES (?, 'torn', 'some day', 'zstd', ?)", zedThread(4), zstdFrame("{\xff")[:11])
	b.do("INSERT INTO threads (id, summary, updated_at, data_type, data) VALUES (?, 'odd', '', 'json', ?)", zedThread(5), []byte("{\"messages\":\"\xff"))
	b.do("UPDATE threads SET folder_paths = '/home/ada/inn' WHERE id = ?", zedThread(3))
	b.do("DELETE FROM threads WHERE id = ?", zedThread(2))
	want.problems = 2
	w.ingestAndCheck("deleted", "zed", s.dir, want, 2, 0, 1)
}

// TestLifeZedTexts has a text thread whose first half is edited and that gets another name with its title.
func TestLifeZedTexts(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	thread := func(texts ...string) string {
		var messages []string
		text := ""
		for i, one := range texts {
			messages = append(messages, fmt.Sprintf(`{"id":{"replica_id":0,"value":%d},"start":%d,"metadata":{"role":%q,"status":"Done"}}`, i, len(text), []string{"user", "assistant"}[i%2]))
			text += one + "\n"
		}
		return fmt.Sprintf(`{"id":"c0000000-0000-4000-8000-000000000001","zed":"context","version":"0.4.0","text":%q,"messages":[%s],"summary":"Baskets"}`, text, strings.Join(messages, ","))
	}
	s.write("zed/conversations/New - 1.zed.json", thread("mend the basket", "mended", ""))
	want := counts{runs: 1, conversations: 1, events: 2}
	w.ingestAndCheck("begun", "zed", s.dir, want, 1, 0, 0)
	s.remove("zed/conversations/New - 1.zed.json")
	s.write("zed/conversations/Baskets - 1.zed.json", thread("mend the old basket", "mended", "thanks", ""))
	want.events = 3
	w.ingestAndCheck("renamed", "zed", s.dir, want, 1, 0, 0)
}
