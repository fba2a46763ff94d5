package ingest_test

import (
	"fmt"
	"strings"
	"testing"
)

// chatLine returns a request with the whole conversation before it, alternating prompts and answers, and its usage.
func chatLine(said ...string) string {
	var messages []string
	for i, s := range said {
		messages = append(messages, fmt.Sprintf(`{"role":%q,"content":%q}`, []string{"user", "assistant"}[i%2], s))
	}
	return fmt.Sprintf(`{"model":"gpt-4.1","messages":[%s],"usage":{"prompt_tokens":%d,"completion_tokens":1}}`, strings.Join(messages, ","), 10*len(said)) + "\n"
}

// TestLifeChats has a log in which two chats grow. It is ingested between lines and in the middle of one, rotated and copied.
func TestLifeChats(t *testing.T) {
	t.Parallel()
	l := newLife(t, "chat-jsonl")
	const path = "app/logs/requests.jsonl"
	l.write(path, chatLine("mend the net"))
	l.ingestAndCheck("begun", counts{runs: 1, conversations: 1, events: 1, in: 10, out: 1})
	l.append(path, chatLine("bait the hook"))
	l.ingestAndCheck("another", counts{runs: 2, conversations: 2, events: 2, in: 20, out: 2})
	l.append(path, chatLine("mend the net", "mended", "and dry it"))
	l.ingestAndCheck("the first goes on", counts{runs: 2, conversations: 2, events: 4, in: 50, out: 3})
	next := chatLine("bait the hook", "baited", "cast it")
	l.append(path, next[:40])
	l.ingestAndCheck("torn", counts{runs: 2, conversations: 2, events: 4, in: 50, out: 3, problems: 1})
	l.append(path, next[40:]+chatLine("mend the net", "mended", "and dry it", "dried", "thanks"))
	l.ingestAndCheck("both go on", counts{runs: 2, conversations: 2, events: 8, in: 130, out: 5})
	l.checkQuery("in one conversation each", "SELECT count(*) FROM v_events WHERE counted = 1 GROUP BY conversation_id ORDER BY 1", "3", "5")
	l.checkFresh("both go on")
	l.checkCopy("laptop", counts{runs: 2, conversations: 2, events: 8, in: 130, out: 5})

	// It is moved away, and the next begins like it, but goes on otherwise.
	l.write("app/logs/requests.1.jsonl", chatLine("mend the net")+chatLine("mend the net", "torn again", "oh no"))
	l.ingestAndCheck("the same first words", counts{runs: 2, conversations: 3, events: 10, in: 160, out: 6})
}

// TestLifeChatMessages has a chat with one message per line, of which the first has no id.
func TestLifeChatMessages(t *testing.T) {
	t.Parallel()
	l := newLife(t, "chat-jsonl")
	said := func(role, words string) string { return fmt.Sprintf(`{"role":%q,"content":%q}`, role, words) + "\n" }
	for _, name := range []string{"a.jsonl", "b.jsonl"} {
		l.write(name, said("system", "You fish."))
	}
	l.ingestAndCheck("alike so far", counts{runs: 1, conversations: 1, events: 1})
	l.append("a.jsonl", said("user", "for pike"))
	l.append("b.jsonl", said("user", "for perch")+said("assistant", "caught"))
	l.ingestAndCheck("two", counts{runs: 2, conversations: 2, events: 5})
	l.append("a.jsonl", said("assistant", "gone"))
	l.ingestAndCheck("gone on", counts{runs: 2, conversations: 2, events: 6})
	l.checkFresh("gone on")
}

// manyID returns the id of the n-th chat of TestManyChats.
func manyID(n int) string { return fmt.Sprintf("chat-of-some-years-%06d", n) }

func manyLine(n int, said ...string) string {
	return fmt.Sprintf(`{"conversation_id":%q,"timestamp":"2026-11-01T10:00:00Z",`, manyID(n)) + chatLine(said...)[1:]
}

// TestManyChats has more chats in one log than a parse remembers. Some continue at the end of the log, and after it has grown, and keep
// what the log states about them at the beginning. Only these few are compared with a reindex.
func TestManyChats(t *testing.T) {
	t.Parallel()
	const many, remembered = 830, 410
	s, w := newTree(t), newWorld(t)
	w.Remember = remembered
	var log strings.Builder
	for i := range many {
		log.WriteString(manyLine(i, fmt.Sprint("bait ", i)))
	}
	log.WriteString(manyLine(0, "bait 0", "baited", "cast it"))
	s.write("log.jsonl", log.String())
	w.ingest("home", s.dir, ".")
	log.WriteString(manyLine(7, "bait 7", "baited", "cast it") + manyLine(0, "bait 0", "baited", "cast it", "cast", "reel it in"))
	s.write("log.jsonl", log.String())
	if r := w.ingest("home", s.dir, "."); r.Grown != 1 || r.Events != 4 {
		t.Errorf("went on: %+v", r)
	}
	again := &world{t: t, dir: w.dir}
	again.open("again.db")
	again.Remember = remembered
	if _, err := again.Reindex(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := counts{runs: many, conversations: many, events: many + 6, in: 10*many + 110, out: many + 3}
	for what, w := range map[string]*world{"went on": w, "made again": again} {
		if got := countsOf(w.totals().Formats["chat-jsonl"]); got != want {
			t.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
		}
	}
	for _, run := range []int{0, 7, many - 1} {
		if got := w.query("SELECT title || ' ' || model FROM v_runs WHERE native_id = ?", manyID(run)); fmt.Sprint(got) != fmt.Sprintf("[bait %d gpt-4.1]", run) {
			t.Errorf("of chat %d is known: %q", run, got)
		}
		for _, view := range []string{"v_runs", "v_conversations", "v_events", "v_usage"} {
			query := "SELECT * FROM " + view + " WHERE run_id = (SELECT run_id FROM v_runs WHERE native_id = ?)"
			w.compareDumps(query, strings.Join(again.query(query, manyID(run)), "\n"), strings.Join(w.query(query, manyID(run)), "\n"))
		}
	}
}
