package ingest_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/index"
)

// Data exports of chat services repeat everything of earlier exports. Each message counts once.

// gptChat returns a ChatGPT conversation of alternating prompts and answers, for which said has an id and a text each.
func gptChat(id, title string, updated int, said ...string) string {
	var nodes []string
	parent := "null"
	for i, s := range said {
		own, text, _ := strings.Cut(s, " ")
		more := ""
		if of, rest, ok := strings.Cut(text, " < "); ok {
			text, more = of, fmt.Sprintf(`"branching_from_conversation_id":%q`, rest)
		}
		nodes = append(nodes, fmt.Sprintf(`%q:{"id":%q,"parent":%s,"message":{"id":%q,"author":{"role":%q},"create_time":%d.5,"content":{"content_type":"text","parts":[%q]},"recipient":"all","metadata":{%s}}}`,
			own, own, parent, own, []string{"user", "assistant"}[i%2], 1772000000+i, text, more))
		parent = fmt.Sprintf("%q", own)
	}
	return fmt.Sprintf(`{"title":%q,"create_time":1772000000.0,"update_time":%d.0,"mapping":{%s},"current_node":%s,"conversation_id":%q}`,
		title, 1772000000+updated, strings.Join(nodes, ","), parent, id)
}

// claudeChat returns a Claude.ai conversation.
func claudeChat(id, name string, updated int, said ...string) string {
	var messages []string
	for i, s := range said {
		own, text, _ := strings.Cut(s, " ")
		messages = append(messages, fmt.Sprintf(`{"uuid":%q,"text":"","content":[{"type":"text","text":%q}],"sender":%q,"created_at":"2026-02-01T10:00:%02dZ"}`,
			own, text, []string{"human", "assistant"}[i%2], i))
	}
	return fmt.Sprintf(`{"uuid":%q,"name":%q,"created_at":"2026-02-01T10:00:00Z","updated_at":"2026-02-01T11:%02d:00Z","chat_messages":[%s]}`,
		id, name, updated/60, strings.Join(messages, ","))
}

// deepChat returns a DeepSeek conversation.
func deepChat(id, title string, updated int, said ...string) string {
	nodes := []string{`"root":{"id":"root","parent":null,"children":[],"message":null}`}
	parent := "root"
	for i, s := range said {
		own, text, _ := strings.Cut(s, " ")
		nodes = append(nodes, fmt.Sprintf(`%q:{"id":%q,"parent":%q,"children":[],"message":{"model":"deepseek-chat","inserted_at":"2026-02-01T18:00:%02d+08:00","fragments":[{"type":%q,"content":%q}]}}`,
			own, own, parent, i, []string{"REQUEST", "RESPONSE"}[i%2], text))
		parent = own
	}
	return fmt.Sprintf(`{"id":%q,"title":%q,"inserted_at":"2026-02-01T18:00:00+08:00","updated_at":"2026-02-01T19:%02d:00+08:00","mapping":{%s}}`,
		id, title, updated/60, strings.Join(nodes, ","))
}

// grokChat returns a Grok conversation.
func grokChat(id, title string, updated int, said ...string) string {
	var responses []string
	parent := "null"
	for i, s := range said {
		own, text, _ := strings.Cut(s, " ")
		responses = append(responses, fmt.Sprintf(`{"response":{"_id":%q,"parent_response_id":%s,"sender":%q,"message":%q,"create_time":{"$date":{"$numberLong":"%d000"}}},"share_link":null}`,
			own, parent, []string{"human", "assistant"}[i%2], text, 1772000000+i))
		parent = fmt.Sprintf("%q", own)
	}
	return fmt.Sprintf(`{"conversation":{"id":%q,"title":%q,"create_time":"2026-02-01T10:00:00Z","modify_time":"2026-02-01T11:%02d:00Z"},"responses":[%s]}`,
		id, title, updated/60, strings.Join(responses, ","))
}

// exportedChats have, by format, what returns a conversation of alternating prompts and answers.
var exportedChats = map[string]func(id, title string, updated int, said ...string) string{
	"chatgpt-export": gptChat, "claude-ai-export": claudeChat, "deepseek-export": deepChat, "grok-export": grokChat,
}

func export(chats ...string) string { return "[" + strings.Join(chats, ",\n") + "]" }

// exportedBy returns the name and the content of a file of an export; of those that have shards, part says which.
func exportedBy(format, part string, chats ...string) (name, content string) {
	if format == "grok-export" {
		return "prod-grok-backend.json", `{"conversations":` + export(chats...) + `,"projects":[]}`
	}
	return "conversations" + part + ".json", export(chats...)
}

func TestLifeExports(t *testing.T) {
	for format, chat := range exportedChats {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			l := newLife(t, format)
			name, first := exportedBy(format, "", chat("c1", "Sails", 60, "m1 mend the sail", "m2 with thraed"), chat("c2", "Ropes", 60, "n1 which knot"))
			l.write("jan/"+name, first)
			l.ingestAndCheck("first", counts{runs: 2, conversations: 2, events: 3})
			l.checkQuery("a title", "SELECT title FROM v_runs WHERE native_id = 'c1'", "Sails")

			// The next one has an answer that was written anew, and lacks what was deleted.
			later, second := exportedBy(format, "-000", chat("c1", "Sails and masts", 600, "m1 mend the sail", "m2 with thread", "m3 and the mast"), chat("c3", "Oars", 600, "o1 how long"))
			l.write("feb/"+later, second)
			l.ingestAndCheck("second", counts{runs: 3, conversations: 3, events: 5})
			const titles = "SELECT r.title || ', ' || c.title FROM v_runs r JOIN v_conversations c USING (run_id) WHERE r.native_id = 'c1' AND c.counted = 1"
			l.checkQuery("the later title", titles, "Sails and masts, Sails and masts")
			l.checkQuery("the later words", "SELECT path FROM v_events WHERE counted = 1 AND attributes ->> 'id' LIKE 'm2%'", "feb/"+later)
			l.checkSearch("thread", 1)
			l.checkSearch("knot", 1)
			l.checkFresh("second")
			numbers := "SELECT event_id FROM v_events WHERE counted = 1 AND substr(attributes ->> 'id', 1, 2) IN ('m1', 'm2', 'm3') ORDER BY attributes ->> 'id'"
			before := l.query(numbers)

			// It is taken over what was there, and the first is thrown away.
			_, third := exportedBy(format, "", chat("c1", "Sails and masts", 1200, "m1 mend the sail", "m2 with thread", "m3 and the mast", "m4 splint it"))
			l.replace("feb/"+later, third)
			l.remove("jan/" + name)
			l.ingestAndCheck("third", counts{runs: 3, conversations: 3, events: 6})
			l.checkQuery("as before", numbers, before...)
			l.checkSearch("knot", 1)
			l.checkSearch("how long", 1)

			// An old one comes late.
			l.write("old/"+name, first)
			l.ingestAndCheck("late", counts{runs: 3, conversations: 3, events: 6})
			l.checkQuery("as before", numbers, before...)
			l.checkQuery("the later title", titles, "Sails and masts, Sails and masts")
			l.checkCopy("laptop", counts{runs: 3, conversations: 3, events: 6})
		})
	}
}

// TestLifeChatGPTBranch has a conversation that continues with the messages of another one.
func TestLifeChatGPTBranch(t *testing.T) {
	t.Parallel()
	l := newLife(t, "chatgpt-export")
	id := func(n int) string { return fmt.Sprintf("0f000000-0000-4000-8000-%012d", n) }
	said := []string{id(1) + " mend the sail", id(2) + " with thread"}
	branch := append(said[:2:2], id(3)+" and the mast < "+id(91), id(4)+" splint it")
	l.write("jan/conversations.json", export(gptChat(id(92), "Masts", 900, branch...)))
	l.ingestAndCheck("branch alone", counts{runs: 1, conversations: 1, events: 4, links: 1})
	l.write("feb/conversations-000.json", export(gptChat(id(91), "Sails", 60, said...)))
	l.write("feb/conversations-001.json", export(gptChat(id(92), "Masts", 1200, append(branch, id(5)+" thanks")...)))
	l.ingestAndCheck("both", counts{runs: 2, conversations: 2, events: 5, links: 1})
	l.checkQuery("where it was said first", "SELECT r.native_id FROM v_events e JOIN v_runs r USING (run_id) WHERE e.counted = 1 AND e.attributes ->> 'id' = '"+id(1)+"'", id(91))
	l.checkFresh("both")
}

// TestPayloadsOfMany drops the attachments of two conversations, far apart among very many, and of no other.
func TestPayloadsOfMany(t *testing.T) {
	t.Parallel()
	const many, first, second = 3000, 5, 2995
	s, w := newTree(t), newWorld(t)
	id := func(i int) string { return fmt.Sprint("c", i) }
	image := strings.Repeat("QUJD", 300)
	chats := make([]string, many)
	for i := range chats {
		said := []string{fmt.Sprint("m", i, strings.Repeat(" bait", 1500))} // 16 MiB of rows are a stretch, with their words
		if i%1000 < 10 || i%1000 >= 990 {
			said = append(said, fmt.Sprint("a", i, " which"), fmt.Sprint("b", i, " ", image))
		}
		chats[i] = gptChat(id(i), "Bait", 60, said...)
	}
	s.write("conversations.json", export(chats...))
	w.ingest("home", s.dir, ".")
	wanted := map[int64]map[string]int64{1: {id(first): 100, id(second): 100}}
	found := index.Payloads{}
	if err := w.Payloads(context.Background(), wanted, func(x index.Payloads) error { found = x; return nil }); err != nil {
		t.Fatal(err)
	}
	for i, line := range bytes.Split(found.Marked, []byte("\n")) {
		if attached := i%1000 < 10 || i%1000 >= 990; bytes.Contains(line, []byte(image)) != (attached && i != first && i != second) {
			t.Fatalf("line %d of %d bytes is wrong", i+1, len(line))
		}
	}
	if len(found.Places) != 2 || found.Left != 0 {
		t.Errorf("%d places, %d are left", len(found.Places), found.Left)
	}
}
