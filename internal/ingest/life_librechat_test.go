package ingest_test

import (
	"fmt"
	"strings"
	"testing"
)

// libreMessage is message n of a conversation, which follows another one, if that is not 0; of the user if nothing was counted.
func libreMessage(conversation string, n, parent, tokens int, text string, children ...string) string {
	id := func(n int) string { return fmt.Sprintf("6c000000-0000-4000-8000-%012d", n) }
	before := "00000000-0000-0000-0000-000000000000"
	if parent > 0 {
		before = id(parent)
	}
	more := ""
	if children != nil {
		more = `,"children":[` + strings.Join(children, ",") + "]"
	}
	return fmt.Sprintf(`{"messageId":%q,"conversationId":%q,"parentMessageId":%q,"createdAt":"2026-11-03T10:%02d:00.001Z","endpoint":"openAI","isCreatedByUser":%t,"model":"gpt-5.4","sender":"x","tokenCount":%d,"text":%q,"updatedAt":"2026-11-03T10:%02d:00.001Z"%s}`,
		id(n), conversation, before, n%100, tokens == 0, tokens, text, n%100, more)
}

func libreExport(conversation, title, member string, messages ...string) string {
	return fmt.Sprintf(`{"conversationId":%q,"endpoint":"openAI","title":%q,"exportAt":"10:30:00 GMT+0000","branches":true,"recursive":%t,%q:[%s]}`,
		conversation, title, member == "messagesTree", member, strings.Join(messages, ","))
}

// TestLifeLibreChat exports a conversation, as it was shown and then with all branches, after a message was edited, and a fork of it.
func TestLifeLibreChat(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	const a, b = "6c000000-0000-4000-8000-00000000000a", "6c000000-0000-4000-8000-00000000000b"
	s.write("downloads/New Chat.json", libreExport(a, "New Chat", "messages", libreMessage(a, 1, 0, 0, "which willow?"), libreMessage(a, 2, 1, 20, "viminalis")))
	want := counts{runs: 1, conversations: 1, events: 2, out: 20}
	w.ingestAndCheck("shown", "librechat-export", s.dir, want, 1, 0, 0)
	s.write("downloads/Willows.json", libreExport(a, "Willows", "messagesTree", libreMessage(a, 1, 0, 0, "which willow?",
		libreMessage(a, 2, 1, 20, "viminalis, then", libreMessage(a, 4, 2, 0, "why?", []string{}...)), libreMessage(a, 3, 1, 30, "purpurea", []string{}...))))
	want.events, want.out = 4, 50
	w.ingestAndCheck("a tree", "librechat-export", s.dir, want, 1, 0, 0)
	if got := w.query("SELECT title FROM v_conversations WHERE verdict = 'counted'"); len(got) != 1 || got[0] != "Willows" {
		t.Errorf("conversations %q", got)
	}
	s.write("downloads/Willows (1).json", libreExport(b, "Willows", "messages", libreMessage(b, 101, 0, 0, "which willow?"), libreMessage(b, 102, 101, 20, "viminalis"), libreMessage(b, 105, 102, 40, "it bends")))
	want.runs, want.conversations, want.events, want.out = 2, 2, 7, 90 // the answer of the fork was paid for once
	w.ingestAndCheck("a fork", "librechat-export", s.dir, want, 1, 0, 0)
	s.remove("downloads/New Chat.json")
	w.ingestAndCheck("tidied up", "librechat-export", s.dir, want)
	late := newWorld(t)
	late.ingest("home", s.dir, ".")
	if got := countsOf(late.totals().Formats["librechat-export"]); got != want {
		t.Errorf("late: %+v", got)
	}
}
